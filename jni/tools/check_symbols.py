#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Checks that the native library loads on the oldest supported system, exports nothing else, and is
hardened.

Usage: check_symbols.py FILE. Fails, naming each symbol, when FILE requires a symbol newer than
glibc 2.34, exports one that is not a JNI entry point, has no JNI_OnLoad, or needs a shared library
that a user may not have. Also fails when its relocations are writable after loading, when its stack
is executable, or when the engine's own functions were compiled without stack protector or without
FORTIFY.
"""

import re
import subprocess
import sys

NEWEST_GLIBC = (2, 34)
# Libraries that exist on every glibc system with a JVM.
SYSTEM_LIBRARIES = {
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "libpthread.so.0",
    "ld-linux-x86-64.so.2",
}
JNI_ENTRY = re.compile(r"^(JNI_OnLoad|JNI_OnUnload|Java_org_lavakv_\w+)$")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def too_new(symbols):
    for line in symbols.splitlines():
        match = re.search(r"\(?GLIBC_([0-9.]+)\)?\s+(\S+)$", line)
        if match:
            version = tuple(int(part) for part in match.group(1).split("."))
            if version > NEWEST_GLIBC:
                yield f"needs {match.group(2)} of GLIBC_{match.group(1)}, newest allowed is 2.34"


def exports(names):
    found = []
    for line in names.splitlines():
        fields = line.split()
        if len(fields) >= 3 and fields[1] != "A":
            found.append(fields[2].split("@")[0])
    return found


# Several hundred of the engine's functions have buffers on their stacks.
PROTECTED_FUNCTIONS_MIN = 100


def checked_functions(path):
    """Numbers of the engine's functions that call the stack protector, and FORTIFY's checks.

    Linked libraries do not count, because others compiled them.
    """
    protected, fortified = set(), set()
    function = ""
    command = ["objdump", "-d", "--no-show-raw-insn", path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as listing:
        for line in listing.stdout:
            begins = re.match(r"^[0-9a-f]+ <(\S+)>:$", line)
            if begins:
                function = begins.group(1)
            elif "4lava" in function and "_chk" in line:
                called = re.search(r"<(__\w+_chk\w*)@plt>", line)
                if called:
                    is_stack = called.group(1) == "__stack_chk_fail"
                    (protected if is_stack else fortified).add(function)
    if listing.returncode != 0:
        raise subprocess.CalledProcessError(listing.returncode, command)
    return len(protected), len(fortified)


def weaknesses(path):
    segments = run("readelf", "-lW", path)
    if not re.search(r"^\s*GNU_RELRO\s", segments, re.MULTILINE):
        yield "has no segment that is read-only after relocation (RELRO)"
    if not re.search(r"\bNOW\b", run("readelf", "-dW", path)):
        yield "resolves symbols late, so that RELRO is only partial"
    stack = re.search(r"^\s*GNU_STACK(?:\s+0x[0-9a-f]+){5}\s+([RWE ]+?)\s+0x", segments, re.MULTILINE)
    if stack is None or "E" in stack.group(1):
        yield "asks for a stack that can be executed"
    protected, fortified = checked_functions(path)
    if protected < PROTECTED_FUNCTIONS_MIN:
        yield f"has the stack protector in only {protected} of the engine's functions"
    if fortified == 0:
        yield "has FORTIFY's checks in none of the engine's functions"


def problems(path):
    yield from weaknesses(path)
    yield from too_new(run("objdump", "-T", path))
    exported = exports(run("nm", "-D", "--defined-only", path))
    for name in exported:
        if not JNI_ENTRY.match(name):
            yield f"exports {name}, which is no JNI entry point"
    if "JNI_OnLoad" not in exported:
        yield "has no JNI_OnLoad"
    for library in re.findall(r"^\s*NEEDED\s+(\S+)", run("objdump", "-p", path), re.MULTILINE):
        if library not in SYSTEM_LIBRARIES:
            yield f"needs {library}, which a user may not have"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    path = sys.argv[1]
    found = list(problems(path))
    for problem in found:
        print(f"{path} {problem}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()

# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""For checks of all sources with a compiler's analysis: the sources, and one process for each."""

import concurrent.futures
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(command, directory=ROOT):
    """Returns the exit code and the output."""
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def compile_commands(build, options):
    """CMake's entries for each source of the bindings' library: the engine's and theirs."""
    configure = ["cmake", "-S", "jni/src/main/cpp", "-B", str(build), "-G", "Ninja", "-Wno-dev"]
    configure += ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    code, output = run(configure + options)
    if code != 0:
        sys.exit(output)
    commands = json.loads((build / "compile_commands.json").read_text())
    return [entry for entry in commands if "/bench/" not in entry["file"]]


def check_all(jobs, items, check):
    """Ends the program. check(item) returns a name, an exit code and an output, which is printed
    unless the code is 0. Non-zero if there is a finding, or nothing to check."""
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for name, code, output in pool.map(check, items):
            if code != 0:
                failed += 1
                print(f"{name}:\n{output}")
    print(f"{len(items)} checked, {failed} with findings")
    sys.exit(1 if failed or not items else 0)

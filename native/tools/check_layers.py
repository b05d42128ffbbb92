#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Checks the engine's layers and a few related rules.

Fails when a folder includes a header that its layer must not include, when two folders include each
other, when a system call occurs outside the folders that may make it, when a file is too long, when
an unfinished mark is found, or when the build does not name a source file exactly once. Prints one
line per finding: path:line: what.
"""

import argparse
import pathlib
import re
import sys

# Folder of native/src -> folders that it may include besides itself and the public headers.
LAYERS = {
    "base": set(),
    "os": {"base"},
    "policy": {"base"},
    "memory": {"base", "os"},
    "cache": {"base", "os", "memory", "policy"},
    "fs": {"base", "os", "memory"},
    "lavafs": {"base", "os", "memory", "fs"},
    "log": {"base", "os", "memory", "fs"},
    "table": {"base", "memory", "cache", "fs"},
    "value": {"base", "memory", "cache", "fs"},
    "memtable": {"base", "memory"},
    "manifest": {"base", "fs"},
    # Segments of the value log and of the changelog, before they become value files.
    "value_log": {"base", "memory", "fs", "value", "manifest"},
    # The records of an instance's write-ahead log. No Flink job has one.
    "wal": {"base", "fs", "value", "manifest", "host"},
    # Shared by reads and jobs: runs, lookups, merging, values, expiry.
    "read": {
        "base", "os", "policy", "memory", "cache", "fs", "table", "value", "memtable", "manifest",
    },
    # Shared by jobs: what they need of their instance, and what they write.
    "job": {
        "base", "os", "policy", "memory", "cache", "fs", "table", "value", "memtable", "manifest",
        "value_log", "read",
    },
    "host": {"base", "os", "memory", "policy", "cache", "fs"},
}
LAYERS["compaction"] = LAYERS["job"] | {"job"}
LAYERS["collection"] = LAYERS["job"] | {"job"}
# The core: without LavaFS and LavaLog, which it gets by the interfaces in host/process_parts.h.
LAYERS["db"] = set(LAYERS) - {"lavafs", "log"}
# The host of a process with both. A program links it beside db.
LAYERS["process"] = {"base", "os", "memory", "fs", "lavafs", "log", "wal", "host"}
# Folders of native/tools that access the engine's internals, like tests; the engine includes
# nothing of them.
TOOLS = {"inspect", "thread_safety", "tidy", "volume"}
# Locks are used everywhere, so code that may only include public headers may also include these.
LOCKS = {"base/mutex.h", "base/thread_annotations.h"}
# A job returns an edit; only the database writes it.
FORBIDDEN_HEADERS = {
    folder: {"manifest/manifest.h"} for folder in ("read", "job", "compaction", "collection")
}

# A system call: not a method, not the end of another name, and with arguments.
CALL = r"(?<![\w.>])(?:{})\s*\(\s*[^)\s]"
RULES = [
    # (what, pattern, folders that may use it, whether tests may)
    ("mapped memory", re.compile(CALL.format("mmap|mmap64|mremap|munmap")), {"memory"}, False),
    ("a signal handler", re.compile(CALL.format("signal|sigaction")), set(), False),
    (
        "a thread",
        re.compile(r"\bstd::(?:thread\b(?!::id)|jthread\b|async\b)|" + CALL.format("pthread_create")),
        {"os"},
        True,
    ),
    (
        "a file call",
        re.compile(
            CALL.format("open|openat|pread|pread64|pwrite|pwrite64|fsync|fdatasync|fopen")
            + r"|\bstd::(?:fopen|[io]?fstream)\b"
        ),
        {"os", "fs"},
        True,
    ),
]
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME)\b")
# The folders whose sources CMake compiles, and files there that it does not compile.
BUILT = ("native/src", "native/testing", "native/tests", "native/tools", "native/bench", "native/fuzz",
         "jni/src/main/cpp")
NOT_BUILT = {"native/tools/thread_safety/canary.cc", "native/tools/tidy/canary.cc"}
CMAKE_FILE = "CMakeLists.txt"
# A path of a source in a CMakeLists.txt, relative to it.
CMAKE_SOURCE = re.compile(
    r"(?<![\w./${}-])(?:\$\{CMAKE_CURRENT_(?:FUNCTION_LIST|SOURCE)_DIR\}/)?([\w./-]+\.cc)(?![\w.])"
)
LINES_MAX = 800
TEST_LINES_MAX = 1200
SUFFIXES = {".h", ".cc", ".cpp", ".c"}


def strip(text):
    """The text with comments and literals blanked, and with unchanged line numbers."""

    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))

    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, blank, text, flags=re.DOTALL)


class Checker:
    def __init__(self, root):
        self.root = root
        self.findings = []
        self.uses = {}  # (folder, folder) -> place

    def report(self, path, line, what):
        self.findings.append(f"{path.relative_to(self.root)}:{line}: {what}")

    def files(self, folder):
        base = self.root / folder
        if not base.is_dir():
            return []
        return sorted(p for p in base.rglob("*") if p.suffix in SUFFIXES and p.is_file())

    def run(self):
        for path in self.files("native/src"):
            parts = path.relative_to(self.root / "native/src").parts
            folder = parts[0] if len(parts) > 1 else ""
            is_test = path.stem.endswith(("_test", "_test_util"))
            if folder not in LAYERS:
                self.report(path, 1, f"folder '{folder}' has no layer")
                continue
            self.check(path, folder, is_test)
            self.check_src_includes(path, folder, is_test)
        for path in self.files("native/include"):
            self.check(path, "include", False)
            self.check_public_only(path)
        for path in self.files("native/tools") + self.files("jni/src/main/cpp"):
            if path.relative_to(self.root).parts[2] in TOOLS:
                is_test = path.stem.endswith(("_test", "_test_util"))
                self.check(path, "tools", is_test)
                self.check_tool_includes(path, is_test)
                continue
            self.check(path, "tools", False)
            self.check_public_only(path)
        for folder in ("testing", "tests", "fuzz", "bench"):
            for path in self.files(f"native/{folder}"):
                self.check(path, folder, True)
        self.check_java_lengths()
        self.check_built()
        for (a, b), place in sorted(self.uses.items()):
            if a < b and (b, a) in self.uses:
                self.findings.append(f"{place}: {a} and {b} include each other ({self.uses[b, a]})")
        return self.findings

    def check_length(self, path, lines, is_test):
        limit = TEST_LINES_MAX if is_test else LINES_MAX
        if len(lines) - 1 > limit:
            self.report(path, limit, f"{len(lines) - 1} lines, at most {limit}")

    def check_java_lengths(self):
        for kind in ("main", "test"):
            for path in sorted(self.root.glob(f"*/src/{kind}/java/**/*.java")):
                lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
                self.check_length(path, lines, kind == "test")

    def check_built(self):
        """Each source is named exactly once, in the nearest CMakeLists.txt at or above its folder."""
        sources = {}  # CMakeLists.txt -> the sources that it must name
        for folder in BUILT:
            for path in self.files(folder):
                if path.suffix == ".cc" and str(path.relative_to(self.root)) not in NOT_BUILT:
                    sources.setdefault(self.cmake_file(path), set()).add(path)
            for path in (self.root / folder).rglob(CMAKE_FILE):
                sources.setdefault(path, set())
        for cmake, expected in sorted(sources.items()):
            named = {}  # path -> line
            text = cmake.read_text(encoding="utf-8") if cmake.exists() else ""
            for number, line in enumerate(text.split("\n"), 1):
                line = line.split("#")[0]
                if re.search(r"\bGLOB", line):
                    self.report(cmake, number, "GLOB: name the sources")
                for name in CMAKE_SOURCE.findall(line):
                    path = cmake.parent / name
                    if path in named:
                        self.report(cmake, number, f"{name}: named in line {named[path]}, too")
                    elif path not in expected:
                        self.report(cmake, number, f"{name}: no such source of this folder")
                    named.setdefault(path, number)
            for path in sorted(expected - named.keys()):
                self.report(path, 1, f"{cmake.relative_to(self.root)} does not name it")

    def cmake_file(self, path):
        """The nearest CMakeLists.txt above a source, or the missing one beside it."""
        for folder in path.parents:
            if (folder / CMAKE_FILE).exists():
                return folder / CMAKE_FILE
            if str(folder.relative_to(self.root)) in BUILT:
                return path.parent / CMAKE_FILE

    def check(self, path, folder, is_test):
        text = path.read_text(encoding="utf-8", errors="replace")
        lines = text.split("\n")
        self.check_length(path, lines, is_test)
        for number, line in enumerate(lines, 1):
            if UNFINISHED.search(line):
                self.report(path, number, "an unfinished mark")
        for number, line in enumerate(strip(text).split("\n"), 1):
            if line.lstrip().startswith("#"):
                continue
            for what, pattern, folders, tests_may in RULES:
                if pattern.search(line) and folder not in folders and not (is_test and tests_may):
                    self.report(path, number, f"{what} outside {sorted(folders) or 'any folder'}")

    def includes(self, path):
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            match = INCLUDE.match(line)
            if match:
                yield number, match.group(1), match.group(2)

    def check_src_includes(self, path, folder, is_test):
        for number, quote, header in self.includes(path):
            top = header.split("/")[0]
            if quote != '"':
                if top in LAYERS and "/" in header and (self.root / "native/src" / header).exists():
                    self.report(path, number, f"own header in angle brackets: {header}")
                continue
            if top == "lava":
                continue
            if top == "testing":
                if not is_test:
                    self.report(path, number, f"{header}: only tests may include testing")
                continue
            if top not in LAYERS:
                self.report(path, number, f"{header}: include by path from src")
                continue
            # A test may build what it needs with the helpers of a higher folder's tests.
            helps = is_test and header.endswith("_for_test.h")
            if top != folder and top not in LAYERS[folder] and not helps:
                self.report(path, number, f"{folder} may not include {header}")
            if header in FORBIDDEN_HEADERS.get(folder, ()):
                self.report(path, number, f"{folder} may not include {header}")
            if top != folder and not is_test:
                place = f"{path.relative_to(self.root)}:{number}"
                self.uses.setdefault((folder, top), place)

    def check_tool_includes(self, path, is_test):
        for number, quote, header in self.includes(path):
            top = header.split("/")[0]
            if quote != '"' or top == "lava" or top in LAYERS or top in TOOLS:
                continue
            if top in ("testing", "tests", "fuzz") and is_test:
                continue
            self.report(path, number, f"{header}: a tool may not include it")

    def check_public_only(self, path):
        for number, quote, header in self.includes(path):
            if quote != '"' or header.startswith("lava/") or header in LOCKS:
                continue
            if not (path.parent / header).exists():
                self.report(path, number, f"{header}: only include/lava may be included here")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--root",
        type=pathlib.Path,
        default=pathlib.Path(__file__).resolve().parents[2],
        help="the repository (default: where this script is)",
    )
    findings = Checker(parser.parse_args().root.resolve()).run()
    for finding in findings:
        print(finding)
    print(f"check_layers: {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

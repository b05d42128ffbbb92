#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Plants each violation that check_layers.py must find into a separate tree."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import check_layers  # noqa: E402


class CheckLayersTest(unittest.TestCase):
    def findings(self, files):
        """The findings in a tree of these files and of the necessary CMakeLists.txt, if none is given."""
        if not any(name.endswith("CMakeLists.txt") for name in files):
            files = {**self.cmake_files(files), **files}
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory).resolve()
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_layers.Checker(root).run()

    def cmake_files(self, files):
        lists = {}
        for name in files:
            path = pathlib.PurePath(name)
            if path.suffix == ".cc":
                lists.setdefault(str(path.parent / "CMakeLists.txt"), []).append(path.name)
        return {name: f"add_library(a {' '.join(sources)})\n" for name, sources in lists.items()}

    def assert_found(self, files, *parts):
        findings = self.findings(files)
        self.assertEqual(len(findings), len(parts), findings)
        for finding, part in zip(findings, parts):
            self.assertIn(part, finding)

    def test_a_sound_tree_has_no_findings(self):
        self.assert_found({
            "native/src/base/a.h": '#include "lava/slice.h"\n// open(path) in a comment\n',
            "native/src/os/a.cc": '#include "base/a.h"\nstd::thread t;\n',
            "native/src/fs/a.cc": '#include "os/a.h"\nint f = open(path, 0);\n',
            "native/src/fs/a_test.cc": '#include "testing/random.h"\nstd::thread t;\n',
            "native/src/db/a.cc": 'auto s = file->open(path); auto t = "signal(1)"; x.open();\n',
            "native/include/lava/a.h": '#include "lava/b.h"\n',
            "jni/src/main/cpp/a.cc": '#include <jni.h>\n#include "lava/a.h"\n#include "a.h"\n',
            "jni/src/main/cpp/a.h": "",
        })

    def test_a_layer_above(self):
        self.assert_found(
            {"native/src/memtable/a.cc": '#include "fs/a.h"\n'}, "a.cc:1: memtable may not include")
        self.assert_found(
            {"native/src/job/a.cc": '#include "manifest/manifest.h"\n'}, "job may not include")
        self.assert_found({"native/src/db/a.cc": '#include "testing/a.h"\n'}, "only tests")
        self.assert_found({"native/src/db/a.cc": '#include "a.h"\n'}, "by path from src")
        self.assert_found({"native/src/odd/a.cc": ""}, "has no layer")

    def test_two_folders_that_include_each_other(self):
        found = self.findings({
            "native/src/os/a.h": '#include "base/a.h"\n',
            "native/src/base/a.h": '#include "os/a.h"\n',
        })
        self.assertTrue(any("include each other" in f for f in found), found)

    def test_public_headers_only(self):
        self.assert_found(
            {"jni/src/main/cpp/a.cc": '#include "base/coding.h"\n'}, "only include/lava")
        self.assert_found(
            {"native/include/lava/a.h": '#include "base/coding.h"\n'}, "only include/lava")

    def test_tools_that_look_into_the_engine(self):
        self.assert_found({
            "native/tools/inspect/a.cc": '#include "inspect/a.h"\n#include "db/a.h"\n',
            "native/tools/inspect/a_test.cc":
                '#include "testing/a.h"\n#include "fuzz/a.h"\nstd::thread t;\n',
        })
        for text in ('#include "testing/a.h"\n', '#include "fuzz/a.h"\n', '#include "a.h"\n',
                     "open(path, 0);\n"):
            self.assert_found({"native/tools/inspect/a.cc": text}, "a.cc:1: ")
        self.assert_found({"native/tools/a.cc": '#include "db/a.h"\n'}, "only include/lava")
        self.assert_found(
            {"native/src/db/a.cc": '#include "inspect/a.h"\n'}, "include by path from src")

    def test_calls(self):
        for call in ("mmap(nullptr, 1)", "::sigaction(1, a, b)", "std::signal(SIGINT, f)",
                     "std::thread t", "pread(fd, to, 1, 0)", "::fsync(fd)", "std::ofstream out"):
            self.assert_found({"native/src/db/a.cc": f"\n  {call};\n"}, "a.cc:2: ")
        self.assert_found({"native/src/memory/a.cc": "mmap(nullptr, 1);\n"})

    def test_sources_that_the_build_does_not_name_once(self):
        cmake = "native/src/db/CMakeLists.txt"
        two = {"native/src/db/a.cc": "", "native/src/db/a_test.cc": ""}
        # Names in parentheses, by a variable for the folder, and below the folder are names, too.
        self.assert_found({**two, cmake: "lava_library(db SOURCES a.cc)\nlava_test(a_test.cc)\n"})
        self.assert_found({**two, cmake: "f(a.cc\n ${CMAKE_CURRENT_SOURCE_DIR}/a_test.cc)\n"})
        self.assert_found({"native/bench/kv/a.cc": "", "native/bench/CMakeLists.txt": "f(kv/a.cc)\n"})
        # The file is not named, only a comment or another name has its name.
        self.assert_found({**two, cmake: "f(a.cc)\n"}, "db/a_test.cc:1: native/src/db/CMake")
        self.assert_found({**two, cmake: "f(a_test.cc) # a.cc\n"}, "db/a.cc:1: native/src/db/CMake")
        self.assert_found({"native/src/db/a.cc": "", "native/src/CMakeLists.txt": ""},
                          "a.cc:1: native/src/CMakeLists.txt does not name it")
        self.assert_found({"jni/src/main/cpp/a.cc": "", "native/CMakeLists.txt": "f(a.cc)\n"},
                          "a.cc:1: jni/src/main/cpp/CMakeLists.txt does not name it")
        # It is named twice, or does not exist, or belongs to the list of another folder.
        self.assert_found({**two, cmake: "f(a.cc\na_test.cc\na.cc)\n"}, "txt:3: a.cc: named in line 1")
        self.assert_found({**two, cmake: "f(a.cc a_test.cc)\nf(b.cc)\n"}, "txt:2: b.cc: no such")
        self.assert_found({cmake: "f(b.cc)\n"}, "txt:1: b.cc: no such")
        self.assert_found(
            {**two, cmake: "f(a.cc a_test.cc)\n", "native/tests/CMakeLists.txt": "f(db/a.cc)\n"},
            "txt:1: db/a.cc: no such")
        self.assert_found({**two, cmake: "file(GLOB s *.cc)\nf(a.cc a_test.cc)\n"}, "txt:1: GLOB")

    def test_long_files_and_unfinished_marks(self):
        self.assert_found({"native/src/db/a.cc": "\n" * 801}, "801 lines")
        self.assert_found({"jni/src/main/java/org/A.java": "\n" * 801}, "A.java:800: 801 lines")
        self.assert_found({"jni/src/test/java/org/A.java": "\n" * 801})
        self.assert_found({"native/src/db/a_test.cc": "\n" * 801})
        self.assert_found({"native/src/db/a.cc": "// TO" + "DO: later\n"}, "unfinished mark")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Checks the lock annotations of the engine and its bindings with Clang's thread safety analysis.

First, Clang must refuse each kind of broken code in canary.cc, so that the check cannot pass
without being effective. Then it compiles all sources, without writing objects, and any finding is
an error.
"""

import argparse
import os
import pathlib
import shlex
import shutil
import sys

from compiled_sources import ROOT, check_all, compile_commands, run

CANARY = ROOT / "native/tools/thread_safety/canary.cc"
BREAKS = 6  # kinds of broken code in the canary
FLAGS = ["-Wthread-safety", "-Wthread-safety-beta", "-Werror"]


def check_canary(clang):
    """Whether Clang accepts the sound code and refuses each broken variant because of its locks."""
    for breaks in range(BREAKS + 1):
        command = [clang, "-std=c++20", "-fsyntax-only", f"-DBREAKS={breaks}", "-Inative/src"]
        code, output = run([*command, *FLAGS, str(CANARY)])
        refused = code != 0 and "-Wthread-safety" in output
        if refused != (breaks != 0) or (breaks == 0 and code != 0):
            sys.exit(f"Clang does not judge {CANARY.name} with BREAKS={breaks} as it must:\n{output}")
    print(f"Clang refuses {BREAKS} kinds of broken code.")


def analyse(entry):
    words = shlex.split(entry["command"])
    if pathlib.Path(words[0]).name == "ccache":
        words = words[1:]
    at = words.index("-o")
    del words[at : at + 2]
    code, output = run([*words, "-fsyntax-only"], entry["directory"])
    return entry["file"], code, output


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compilers at a time")
    jobs = parser.parse_args().jobs
    clang = shutil.which("clang++-14") or shutil.which("clang++")
    if clang is None:
        sys.exit("The check needs Clang: apt-get install clang-14")
    check_canary(clang)
    options = [f"-DCMAKE_CXX_COMPILER={clang}"]
    check_all(jobs, compile_commands(ROOT / "native/target/thread-safety", options), analyse)


if __name__ == "__main__":
    main()

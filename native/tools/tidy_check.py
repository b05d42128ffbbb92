#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Checks the sources of the engine and its bindings with clang-tidy; native/.clang-tidy has the
checks.

First, clang-tidy must refuse each kind of broken code in canary.cc, so that the step cannot pass
without being effective. Then it checks all sources, or the given ones. Any finding is an error.
Headers are checked with the sources that include them.
"""

import argparse
import os
import pathlib
import sys

from compiled_sources import ROOT, check_all, compile_commands, run

CANARY = ROOT / "native/tools/tidy/canary.cc"
BREAKS = [  # the check that must find each kind of broken code in the canary
    "misc-include-cleaner",
    "modernize-use-override",
    "modernize-use-nullptr",
    "bugprone-use-after-move",
    "performance-unnecessary-value-param",
    "misc-include-cleaner",
]
CONFIG = f"--config-file={ROOT / 'native/.clang-tidy'}"
# GCC 12's std::stable_sort calls a function that its own headers call deprecated.
QUIET = "--extra-arg=-Wno-deprecated-declarations"


def check_canary(tidy):
    """Whether clang-tidy accepts the sound code and refuses each broken variant for its reason."""
    for breaks, check in enumerate(["", *BREAKS]):
        flags = ["-std=c++20", "-msse4.2", f"-DBREAKS={breaks}", "-Inative/include", "-Inative/src"]
        code, output = run([tidy, "--quiet", CONFIG, str(CANARY), "--", *flags])
        sound = code == 0 if breaks == 0 else code != 0 and f"[{check}," in output
        if not sound:
            sys.exit(f"clang-tidy judges {CANARY.name} wrongly with BREAKS={breaks}:\n{output}")
    print(f"clang-tidy refuses {len(BREAKS)} kinds of broken code.")


def sources(build, asked):
    """The sources of the bindings' library, or those of them that are asked for."""
    entries = compile_commands(build, ["-DLAVA_UNITY=OFF"])
    files = sorted({pathlib.Path(entry["file"]).resolve() for entry in entries})
    if not asked:
        return files
    wanted = {pathlib.Path(name).resolve() for name in asked}
    for file in sorted(wanted - set(files)):
        print(f"{file} is not compiled into the bindings' library, and not checked.")
    return [file for file in files if file in wanted]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("files", nargs="*", help="only these sources")
    arguments = parser.parse_args()
    tidy = str(ROOT / "target/clang-tidy/bin/clang-tidy")
    check_canary(tidy)
    build = ROOT / "native/target/tidy"
    files = sources(build, arguments.files)

    def check(file):
        command = [tidy, "--quiet", CONFIG, QUIET, "-p", str(build), str(file)]
        return file.relative_to(ROOT), *run(command)

    check_all(arguments.jobs, files, check)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Checks the sources of the engine and its bindings with clang-tidy; native/.clang-tidy has the
checks.

First, clang-tidy must refuse each kind of broken code in canary.cc, so that the step cannot pass
without being effective. Then it checks all sources, or the given ones. Any finding is an error.
Headers are checked with the sources that include them.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CANARY = HERE / "canary.cc"
BREAKS = [  # the check that must find each kind of broken code in the canary
    "misc-include-cleaner",
    "modernize-use-override",
    "modernize-use-nullptr",
    "bugprone-use-after-move",
    "performance-unnecessary-value-param",
]
CONFIG = f"--config-file={ROOT / 'native/.clang-tidy'}"
# GCC 12's std::stable_sort calls a function that its own headers call deprecated.
QUIET = "--extra-arg=-Wno-deprecated-declarations"


def run(command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


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
    """The sources that CMake would compile for the bindings' library: the engine's and theirs."""
    configure = ["cmake", "-S", "jni/src/main/cpp", "-B", str(build), "-G", "Ninja", "-Wno-dev"]
    options = ["-DCMAKE_BUILD_TYPE=Debug", "-DLAVA_UNITY=OFF", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    code, output = run(configure + options)
    if code != 0:
        sys.exit(output)
    commands = json.loads((build / "compile_commands.json").read_text())
    files = sorted({pathlib.Path(entry["file"]).resolve() for entry in commands})
    files = [file for file in files if "bench" not in file.parts]
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
        return file, *run([tidy, "--quiet", CONFIG, QUIET, "-p", str(build), str(file)])

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for file, code, output in pool.map(check, files):
            if code != 0:
                failed += 1
                print(f"{file.relative_to(ROOT)}:\n{output}")
    print(f"{len(files)} sources, {failed} with findings")
    sys.exit(1 if failed or not files else 0)


if __name__ == "__main__":
    main()

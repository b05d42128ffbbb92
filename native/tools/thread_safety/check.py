#!/usr/bin/env python3
"""Checks the lock annotations of the engine and its bindings with Clang's thread safety analysis.

First Clang must refuse each kind of broken code in canary.cc, so that the check cannot
pass without looking. Then it compiles all sources, without writing objects, and refuses any finding.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys

CANARY = pathlib.Path(__file__).resolve().parent / "canary.cc"
ROOT = CANARY.parents[3]
BREAKS = 6  # kinds of broken code in the canary
FLAGS = ["-Wthread-safety", "-Wthread-safety-beta", "-Werror"]


def run(command, directory):
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def check_canary(clang):
    """Whether Clang takes the sound code and refuses each broken one for its locks."""
    for breaks in range(BREAKS + 1):
        command = [clang, "-std=c++20", "-fsyntax-only", f"-DBREAKS={breaks}", "-Inative/src"]
        code, output = run([*command, *FLAGS, str(CANARY)], ROOT)
        refused = code != 0 and "-Wthread-safety" in output
        if refused != (breaks != 0) or (breaks == 0 and code != 0):
            sys.exit(f"Clang does not judge {CANARY.name} with BREAKS={breaks} as it must:\n{output}")
    print(f"Clang refuses {BREAKS} kinds of broken code.")


def compile_commands(clang, build):
    """The commands that would compile each source but benchmarks, as CMake writes them."""
    configure = ["cmake", "-S", "jni/src/main/cpp", "-B", str(build), "-G", "Ninja", "-Wno-dev"]
    options = [f"-DCMAKE_CXX_COMPILER={clang}", "-DCMAKE_BUILD_TYPE=Debug"]
    options.append("-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    code, output = run(configure + options, ROOT)
    if code != 0:
        sys.exit(output)
    commands = json.loads((build / "compile_commands.json").read_text())
    return [entry for entry in commands if "/bench/" not in entry["file"]]


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
    commands = compile_commands(clang, ROOT / "native/target/thread-safety")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for file, code, output in pool.map(analyse, commands):
            if code != 0:
                failed += 1
                print(f"{file}:\n{output}")
    print(f"{len(commands)} compilations, {failed} with findings")
    sys.exit(1 if failed or not commands else 0)


if __name__ == "__main__":
    main()

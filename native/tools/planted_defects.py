#!/usr/bin/env python3
"""Plants defects in copies of the engine, one at a time, and shows that its tests catch each.

Without a defect the same tests must pass. Prints a line per defect: who caught it, or MISSED, or
BROKEN when the engine has changed where it was to be planted. Exits non-zero unless all were
caught. Takes some seconds of compilation a defect.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

from defects import DEFECTS

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "defects"
COPIED = ["CMakeLists.txt", "include", "src", "testing", "tests", "bench", "fuzz", "tools"]
# Name -> program and how much of it.
TESTS = {
    "metamorphic": ("metamorphic_test", {"LAVA_TEST_HISTORIES": "40"}),
    "crash": ("db_crash_test", {"LAVA_TEST_SEEDS": "12"}),
    "corruption": ("corruption_test", {}),
    "fault": ("db_fault_test", {"LAVA_TEST_STEP": "4"}),
    "job": ("job_test", {}),
    "manifest": ("manifest_test", {}),
    "scenario": ("db_value_scenario_test", {}),
    "space": ("db_space_test", {}),
    "stress": ("db_stress_test", {"LAVA_TEST_RUNS": "300"}),
    "ttl": ("db_value_ttl_test", {}),
    "value": ("value_test", {}),
}
SECONDS_MAX = 300


class Failed(Exception):
    """What the user is told before a non-zero exit."""


class Copy:
    """A copy of the engine's sources, built with one sanitizer or none."""

    def __init__(self, flavour, jobs):
        self._flavour = flavour
        self._jobs = jobs
        self.source = WORK / (flavour or "plain") / "source"
        self._build = WORK / (flavour or "plain") / "build"

    def prepare(self):
        shutil.rmtree(self.source, ignore_errors=True)
        self.source.mkdir(parents=True)
        for name in COPIED:
            path = ROOT / name
            # New times: an object of an earlier run's defect must not pass for up to date.
            if path.is_dir():
                shutil.copytree(path, self.source / name, copy_function=shutil.copy)
            else:
                shutil.copy(path, self.source / name)
        kind = "Debug" if self._flavour else "RelWithDebInfo"
        self._run(["cmake", "-S", self.source, "-B", self._build, "-G", "Ninja", "-Wno-dev",
                   f"-DCMAKE_BUILD_TYPE={kind}", f"-DLAVA_SANITIZE={self._flavour}"])

    def build(self, names):
        programs = sorted({TESTS[name][0] for name in names})
        self._run(["cmake", "--build", self._build, "-j", str(self._jobs), "--target", *programs])

    def _run(self, command):
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise Failed(" ".join(map(str, command)) + ":\n" + done.stdout[-3000:])

    def fails(self, name):
        """What the test said when it failed, or None."""
        program, variables = TESTS[name]
        command = [str(self._build / program)]
        if self._flavour and shutil.which("setarch"):
            command = ["setarch", "-R", *command]
        environment = {**os.environ, **variables, "TSAN_OPTIONS": "halt_on_error=1"}
        try:
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, errors="replace",
                                  timeout=SECONDS_MAX, check=False)
        except subprocess.TimeoutExpired:
            return "did not end"
        return None if done.returncode == 0 else done.stdout


def text_of(defect, source):
    """What its file holds, in which its text stands once."""
    path = source / defect.file
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    if text.count(defect.old) != 1:
        raise Failed(f"{defect.name}: {defect.file} has its text {text.count(defect.old)} times")
    return text


def plant(defect, source):
    text = text_of(defect, source)
    (source / defect.file).write_text(text.replace(defect.old, defect.new), encoding="utf-8")
    return text


def check_texts(defects):
    """Whether each can be planted, which takes no build."""
    broken = 0
    for defect in defects:
        try:
            text_of(defect, ROOT)
        except Failed as failure:
            broken += 1
            print(failure)
    print(f"{len(defects) - broken} of {len(defects)} defects can be planted")
    return broken == 0


def catcher(defect, copy):
    """The name of the test that catches it, or None."""
    original = plant(defect, copy.source)
    try:
        copy.build(defect.tests)
        for name in defect.tests:
            if copy.fails(name) is not None:
                return name
        return None
    finally:
        (copy.source / defect.file).write_text(original, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="defects whose name contains this")
    parser.add_argument("--texts", action="store_true",
                        help="only look whether each can be planted")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    defects = [d for d in DEFECTS if options.only in d.name]
    if options.texts:
        return 0 if check_texts(defects) else 1
    caught = 0
    for flavour in sorted({d.flavour for d in defects}):
        copy = Copy(flavour, options.jobs)
        copy.prepare()
        mine = [d for d in defects if d.flavour == flavour]
        tests = sorted({name for d in mine for name in d.tests})
        copy.build(tests)
        for name in tests:
            if (said := copy.fails(name)) is not None:
                raise Failed(f"{name} fails without a defect:\n{said[-3000:]}")
        for defect in mine:
            began = time.monotonic()
            try:
                by = catcher(defect, copy)
                verdict = f"caught by {by}" if by else "MISSED"
                caught += by is not None
            except Failed as failure:
                # The others are tried all the same.
                print(failure, file=sys.stderr)
                verdict = "BROKEN"
            print(f"{verdict:24} {defect.name} ({time.monotonic() - began:.0f} s)", flush=True)
    print(f"COUNT {len(defects)} planted defects\nCOUNT {caught} planted defects caught")
    return 0 if caught == len(defects) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        print(failure, file=sys.stderr)
        sys.exit(1)

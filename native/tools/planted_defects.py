#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Plants defects in copies of the engine or of the plugin, one at a time, and verifies that tests
catch each.

Without a defect the same tests must pass. Prints a line per defect: the test that caught it, or
MISSED, or BROKEN when the engine's code at the planting position has changed. Exits non-zero unless
all were caught. Uses as many copies concurrently as there are processors.
"""

import argparse
import concurrent.futures
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import time

from defects import DEFECTS
from java_defects import JAVA_DEFECTS

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORK = ROOT / "target" / "defects"
COPIED = ["CMakeLists.txt", "cmake", "include", "src", "testing", "tests", "bench", "fuzz", "tools"]
# Name -> program and amount of work.
TESTS = {
    "metamorphic": ("metamorphic_test", {"LAVA_TEST_HISTORIES": "40"}),
    "crash": ("db_crash_test", {"LAVA_TEST_SEEDS": "12"}),
    "allocation": ("allocation_failure_test", {}),
    "checkpoint": ("db_checkpoint_test", {}),
    "damage": ("db_damage_test", {}),
    "events": ("db_events_test", {}),
    "concurrency": ("db_concurrency_test", {}),
    "cache": ("cache_test", {}),
    "corruption": ("corruption_test", {}),
    "db": ("db_test", {}),
    "dead ranges": ("db_dead_ranges_test", {}),
    "scan of tables": ("db_scan_tables_test", {}),
    "fault": ("db_fault_test", {"LAVA_TEST_STEP": "4"}),
    "interrupted": ("interrupted_calls_test", {}),
    "interrupted on LavaFS": ("interrupted_calls_test", {"LAVA_TEST_FILE_SYSTEM": "lavafs"}),
    "files": ("fs_test", {}),
    "host": ("host_test", {}),
    "entries": ("db_entries_test", {}),
    "entries of lists": ("db_entries_list_test", {}),
    "entries crash": ("db_entries_crash_test", {}),
    "job": ("job_test", {}),
    "read": ("read_test", {}),
    "compaction": ("compaction_test", {}),
    "collection": ("collection_test", {}),
    "lifecycle": ("db_lifecycle_test", {}),
    "log": ("log_test", {}),
    "log crash": ("log_crash_test", {"LAVA_TEST_SEEDS": "25"}),
    "log fault": ("log_fault_test", {"LAVA_TEST_SEEDS": "2"}),
    "log corruption": ("log_corruption_test", {}),
    "log stress": ("log_stress_test", {"LAVA_TEST_RUNS": "100"}),
    "manifest": ("manifest_test", {}),
    "memory": ("memory_test", {}),
    "missing": ("db_missing_files_test", {}),
    "policy": ("policy_test", {}),
    "process": ("process_test", {}),
    "promises": ("host_promises_test", {"LAVA_TEST_CYCLES": "100"}),
    "refusals": ("memory_refusal_test", {}),
    "scenario": ("db_value_scenario_test", {}),
    "quota": ("db_quota_test", {}),
    "segments": ("value_log_test", {}),
    "space": ("db_space_test", {}),
    "stress": ("db_stress_test", {"LAVA_TEST_RUNS": "300"}),
    "ttl": ("db_value_ttl_test", {}),
    "ttl clock": ("db_ttl_clock_test", {}),
    "value": ("value_test", {}),
    "values": ("db_value_test", {}),
    "values merged": ("db_value_merge_test", {}),
    "level 0": ("db_level0_test", {}),
    "lists": ("db_list_values_test", {}),
    "table": ("table_test", {}),
    "volume": ("volume_crash_test", {}),
    "volumes": ("lavafs_test", {}),
    "wal": ("db_wal_test", {}),
    "value log": ("db_value_log_test", {}),
    "working sets": ("working_sets_test", {}),
    "oversize": ("db_oversize_test", {}),
    "pieces": ("db_pieces_test", {}),
    "on a volume": ("db_volume_test", {}),
}
# The same for the plugin's tests: class and amount of work.
JAVA_TESTS = {
    "answers": ("BackendAnswersTest", {}),
    "iterators": ("IteratorViewsTest", {}),
    "large": ("LargeStateTest", {}),
    "programs": ("RandomProgramsTest", {"LAVA_TEST_PROGRAMS": "150"}),
}
JAVA = "java"
JAVA_MODULES = "jni,flink-statebackend-lava,integration-tests"
SECONDS_MAX = 600
DID_NOT_END = "did not end"


class Failed(Exception):
    """A message for the user before a non-zero exit."""


class Copy:
    """One of several copies of the engine's sources, built with one sanitizer or none."""

    def __init__(self, flavour, number):
        self._flavour = flavour
        place = WORK / f"{flavour or 'plain'}-{number}"
        self.source = place / "source"
        self._build = place / "build"
        # Compiler output of one copy is reused by the others, and by the next run.
        self._environment = {**os.environ, "CCACHE_BASEDIR": str(place), "CCACHE_NOHASHDIR": "1"}

    def prepare(self):
        shutil.rmtree(self.source, ignore_errors=True)
        self.source.mkdir(parents=True)
        for name in COPIED:
            path = ROOT / name
            # New modification times: an object with an earlier run's defect must not count as up to
            # date.
            if path.is_dir():
                shutil.copytree(path, self.source / name, copy_function=shutil.copy)
            else:
                shutil.copy(path, self.source / name)
        kind = "Debug" if self._flavour else "RelWithDebInfo"
        # One object for each file: a defect requires one compilation, which also shows that each
        # file compiles by itself, unlike in unity builds.
        self._run(["cmake", "-S", self.source, "-B", self._build, "-G", "Ninja", "-Wno-dev",
                   "-DLAVA_UNITY=OFF",
                   f"-DCMAKE_BUILD_TYPE={kind}", f"-DLAVA_SANITIZE={self._flavour}"])

    def build(self, names, jobs=1):
        programs = sorted({TESTS[name][0] for name in names})
        self._run(["cmake", "--build", self._build, "-j", str(jobs), "--target", *programs])

    def _run(self, command):
        done = subprocess.run([str(part) for part in command], env=self._environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        if done.returncode != 0:
            raise Failed(" ".join(map(str, command)) + ":\n" + done.stdout[-3000:])

    def fails(self, name):
        """The output of the test if it failed, or None."""
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
            return DID_NOT_END
        return None if done.returncode == 0 else done.stdout


class JavaCopy:
    """One of several copies of the whole project, in which Maven builds the plugin."""

    def __init__(self, number):
        place = WORK / f"{JAVA}-{number}"
        self._project = place / "source"
        # The directory to which the paths of defects are relative.
        self.source = self._project / ROOT.name
        self._environment = {name: value for name, value in os.environ.items()
                             if not name.startswith("LAVA_TEST_")}
        self._environment.update(CCACHE_BASEDIR=str(place), CCACHE_NOHASHDIR="1")

    def prepare(self):
        shutil.rmtree(self._project, ignore_errors=True)
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT.parent, stdout=subprocess.PIPE, text=True, check=True).stdout
        for name in filter(None, listed.split("\0")):
            path = ROOT.parent / name
            if path.is_file():
                (self._project / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, self._project / name)

    def build(self, _, jobs=1):
        done = self._maven(["package", "-DskipTests", f"-Dnative.jobs={jobs}"], {}, None)
        if done.returncode != 0:
            raise Failed("The project does not build:\n" + done.stdout[-3000:])

    def _maven(self, arguments, variables, seconds_max):
        command = ["mvn", "-B", "-ntp", "-q", *arguments, "-Dnative.skip",
                   "-Dspotless.check.skip", "-pl", JAVA_MODULES]
        return subprocess.run(command, cwd=self._project, env={**self._environment, **variables},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=seconds_max, check=False)

    def fails(self, name):
        """The output of the test if it failed, or None."""
        test, variables = JAVA_TESTS[name]
        try:
            done = self._maven(["verify", f"-Dtest={test}"], variables, SECONDS_MAX)
        except subprocess.TimeoutExpired:
            return DID_NOT_END
        return None if done.returncode == 0 else done.stdout


def copy_of(flavour, number):
    """A copy for defects of this flavour."""
    return JavaCopy(number) if flavour == JAVA else Copy(flavour, number)


def text_of(defect, source):
    """The content of its file, in which its text occurs once."""
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
    """Whether each can be planted, without a build."""
    broken = 0
    for defect in defects:
        try:
            text_of(defect, ROOT)
        except Failed as failure:
            broken += 1
            print(failure)
    print(f"{len(defects) - broken} of {len(defects)} defects can be planted")
    return broken == 0


def verdict(defect, copy):
    """The test that catches it, or MISSED."""
    original = plant(defect, copy.source)
    try:
        copy.build(defect.tests)
        for name in defect.tests:
            if (said := copy.fails(name)) is not None:
                return f"caught by {name}" + (f", which {said}" if said == DID_NOT_END else "")
        return "MISSED"
    finally:
        (copy.source / defect.file).write_text(original, encoding="utf-8")


def try_one(defect, copies):
    """Tries it in a free copy and prints the result; returns whether it was caught."""
    copy = copies.get()
    began = time.monotonic()
    try:
        said = verdict(defect, copy)
    except Failed as failure:
        # The other defects are tried nevertheless.
        print(failure, file=sys.stderr)
        said = "BROKEN"
    finally:
        copies.put(copy)
    print(f"{said:24} {defect.name} ({time.monotonic() - began:.0f} s)", flush=True)
    return said.startswith("caught")


def try_all(defects, flavour, jobs):
    """Tries the defects of one flavour; returns the number of caught ones."""
    tests = sorted({name for defect in defects for name in defect.tests})
    copies = queue.SimpleQueue()
    for number in range(min(jobs, len(defects))):
        copy = copy_of(flavour, number)
        copy.prepare()
        copy.build(tests, jobs)
        if number == 0:
            for name in tests:
                if (said := copy.fails(name)) is not None:
                    raise Failed(f"{name} fails without a defect:\n{said[-3000:]}")
        copies.put(copy)
    with concurrent.futures.ThreadPoolExecutor(copies.qsize()) as pool:
        return sum(pool.map(lambda defect: try_one(defect, copies), defects))


def part(text):
    """I/N as two numbers."""
    number, _, parts = text.partition("/")
    if not (number.isdecimal() and parts.isdecimal() and 1 <= int(number) <= int(parts)):
        raise argparse.ArgumentTypeError(f"{text} is not I/N with I from 1 to N")
    return int(number), int(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="TEXT",
                        help="defects whose name contains this; may be repeated")
    parser.add_argument("--part", type=part, default=(1, 1), metavar="I/N",
                        help="the I-th of N parts of them, since all take hours on a small machine")
    parser.add_argument("--texts", action="store_true",
                        help="only look whether each can be planted")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    options = parser.parse_args()
    defects = [d for d in DEFECTS + JAVA_DEFECTS
               if not options.only or any(text in d.name for text in options.only)]
    number, parts = options.part
    defects = defects[number - 1::parts]
    if not defects:
        parser.error("there is no such defect")
    if options.texts:
        return 0 if check_texts(defects) else 1
    caught = 0
    for flavour in sorted({d.flavour for d in defects}):
        caught += try_all([d for d in defects if d.flavour == flavour], flavour, options.jobs)
    print(f"COUNT {len(defects)} planted defects\nCOUNT {caught} planted defects caught")
    return 0 if caught == len(defects) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        print(failure, file=sys.stderr)
        sys.exit(1)

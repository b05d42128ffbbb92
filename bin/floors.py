#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""floors.py [--long] LOGS: fails when a step of bin/test did less work than required.

Programs print "COUNT n what" to their step's log, LOGS/<step>.log or, for a step with several
processes, LOGS/<step>-<number>.log. A missing count is an error, even if another flavour reached
it: floors apply to each step separately.
"""

import argparse
import pathlib
import re
import sys

COUNT = re.compile(r"(?:\d+: )?COUNT (\d+) (.*)")

# Parser -> number of runs in the engine's tests.
EXECUTIONS = {"blocks": 1_000_000, "entries": 300_000, "framing": 400_000, "inspect": 20_000,
              "ksst": 140_000, "list": 400_000, "log": 100_000, "manifest": 150_000, "metadata": 300_000,
              "vblocks": 1_000_000, "volume": 150_000, "vsst": 60_000}
SANITIZED_SHARE = 5

# Work that the engine's tests must repeat on LavaFS.
ON_LAVAFS = {"crash states": 50_000, "crash states within a recovery": 10_000,
             "crash states that were worked with on": 1_000, "I/O calls failed once": 1_000,
             "I/O calls failed from then on": 200,
             "collections of value files beside faults": 1_000,
             "flips of files of all formats that compactions and collections met": 500,
             "flips detected": 5_000, "truncations detected": 1_000,
             "flips of an instance's value files detected": 1_000,
             "truncations of an instance's value files detected": 1_000,
             "flips of files that name value files detected": 200,
             "crash states of a log": 20_000, "I/O calls of a log failed": 2_000,
             "interleaved runs of a log": 60,
             "interleaved runs with a close at random": 300, "calls broken off": 2_000,
             "reads and writes done in part": 2_000}

HISTORIES = "metamorphic histories, each under two option sets"

# Step, kind of work, and minimum. A name instead of a number: at least as much as that kind.
FLOORS = [
    ("native-release", "crash states", 100_000),
    ("native-release", "crash states within a recovery", 10_000),
    ("native-release", "crash states that were worked with on", 1_000),
    ("native-release", "calls that failed in interleaved runs", 1),
    ("native-release", "flips of files of all formats that compactions and collections met", 1),
    ("native-release", "flips of files that name value files detected", 1),
    ("native-release", "I/O calls failed once", 5_000),
    ("native-release", "charges refused once", 100),
    ("native-release", "charges refused from then on", 500),
    ("native-release", "jobs put off for want of memory", 20),
    ("native-release", "I/O calls failed from then on", 1_000),
    ("native-release", "collections of value files beside faults", 5_000),
    ("native-release", "flips detected", 40_000),
    ("native-release", "truncations detected", 10_000),
    ("native-release", "flips of an instance's value files detected", 5_000),
    ("native-release", "truncations of an instance's value files detected", 5_000),
    ("native-release", "flips of value files detected", 5_000),
    ("native-release", "truncations of value files detected", 5_000),
    ("native-release", "damaged files inspected", 20_000),
    ("native-release", "cut files inspected", 10_000),
    ("native-release", "damaged pages on a host inspected", 2_000),
    ("native-release", "interleaved runs with a close at random", 1_000),
    ("native-release", "collections of value files in interleaved runs", 100),
    ("native-release", "histories answered as RocksDB answers them", 100),
    ("native-release", "calls broken off", 5_000),
    ("native-release", "open, use, close cycles", 1_000),
    ("native-release", "crash states of a volume", 100_000),
    ("native-release", "crash states of a volume that were worked with on", 1_000),
    ("native-release", "reads and writes done in part", 5_000),
    ("native-release", "crash states of a log", 100_000),
    ("native-release", "crash states within a recovery of a log", 30_000),
    ("native-release", "crash states of a log that were worked with on", 10_000),
    ("native-release", "I/O calls of a log failed", 10_000),
    ("native-release", "flips of a log's files detected", 8_000),
    ("native-release", "truncations of a log's files detected", 15_000),
    ("native-release", "interleaved runs of a log", 200),
    *(("native-release", f"{what}, on LavaFS", ON_LAVAFS[what]) for what in ON_LAVAFS),
    ("native-release", "metamorphic histories, each under two option sets, on LavaFS", 16),
    *(("native-release", f"fuzzer executions of {parser}", EXECUTIONS[parser])
      for parser in EXECUTIONS),
    ("metamorphic", HISTORIES, 1_000),
    ("metamorphic", "operations of metamorphic histories", 1_000_000),
    ("metamorphic", "collections of value files in histories", 10_000),
    ("metamorphic", "values that collections in histories left behind", 10_000),
    ("metamorphic", "values read from value files in histories", 100_000),
    ("metamorphic", "values of histories logged as they were put", 3_000),
    ("metamorphic", "missing files in histories", 20_000),
    ("metamorphic", "reads in histories that needed a file first", 5_000),
    ("metamorphic", "files of checkpoints in histories that had not come", 200),
    ("native-address", "crash states", 1_000),
    ("native-address", "I/O calls failed once", 100),
    ("native-address", "flips detected", 1_000),
    ("native-address", HISTORIES, 20),
    *(("native-address", f"fuzzer executions of {parser}", EXECUTIONS[parser] // SANITIZED_SHARE)
      for parser in EXECUTIONS),
    ("native-thread", HISTORIES, 10),
    ("native-thread", "interleaved runs of a log", 40),
    ("native-thread", "interleaved runs with a close at random", 100),
    ("native-thread", "interleaved runs with a close at random, on LavaFS", 60),
    ("java", "random histories of jobs", 2_000),
    ("java", "checkpoints and savepoints completed in random histories", 3_000),
    ("java", "checkpoints that overlapped others in random histories", 2_500),
    ("java", "checkpoints that storage failed in random histories", 700),
    ("java", "checkpoints aborted in random histories", 500),
    ("java", "uploads that hung in random histories", 1_000),
    ("java", "notifications lost in random histories", 1_500),
    ("java", "notifications late in random histories", 1_500),
    ("java", "restores in random histories", 2_500),
    ("java", "restores with another parallelism in random histories", 1_500),
    ("java", "restores from local copies in random histories", 250),
    ("java", "restores that storage failed in random histories", 350),
    ("java", "programs compared on hashmap and Lava", 500),
    ("java", "programs compared on RocksDB, too", 120),
    ("java", "steps of programs", 12_000),
    ("java", "values compared when clocks of programs went back", 200_000),
    ("java", "values compared that only clocks which were never accepted called expired", 3_000),
    ("java", "values of programs that Lava had rightly dropped", 10_000),
    ("kills-5", "kills", 5),
    ("kills-5", "different checkpoints restored", 1),
    ("kills-5", "kills of two processes at once", 1),
    ("kills-5", "kills while another process stood still", 1),
    ("kills-5", "restores from local copies that a killed process had left", 1),
    ("kills-5", "storage faults struck", 3),
    ("kills-5", "records checked exactly once", 10_000),
    ("jni-address", "tests of the bindings under both sanitizers", 60),
]

LONG = [
    ("metamorphic-long", HISTORIES, 10_000),
    ("crashes-long", "crash states", 500_000),
    ("volume-crashes-long", "crash states of a volume", 10_000_000),
    ("logs-long", "crash states of a log", 2_000_000),
    ("logs-long", "I/O calls of a log failed", 100_000),
    ("logs-long", "interleaved runs of a log", 5_000),
    ("faults-long", "I/O calls failed once", 10_000),
    ("faults-long", "I/O calls failed from then on", 1_000),
    ("faults-long", "collections of value files beside faults", 1_000),
    ("stress-long", "interleaved runs with a close at random", 5_000),
    ("rocksdb-long", "histories answered as RocksDB answers them", 2_000),
    ("planted-defects", "planted defects caught", 20),
    ("planted-defects", "planted defects caught", "planted defects"),
    *(("fuzz", f"fuzzer executions of {parser}", 10_000_000) for parser in EXECUTIONS),
    ("java-long", "random histories of jobs", 10_000),
    ("java-long", "restores in random histories", 20_000),
    ("java-long", "programs compared on hashmap and Lava", 5_000),
    ("java-long", "programs compared on RocksDB, too", 1_200),
    ("java-long", "values compared when clocks of programs went back", 2_000_000),
    ("java-long", "values compared that only clocks which were never accepted called expired", 30_000),
    ("java-long", "values of programs that Lava had rightly dropped", 100_000),
    ("kills-changelog", "kills", 10),
    ("kills-changelog", "different checkpoints restored", 3),
    ("kills-changelog", "storage faults struck", 5),
    ("kills-changelog", "records checked exactly once", 10_000),
    ("kills-long", "kills", 50),
    ("kills-long", "different checkpoints restored", 20),
    ("kills-long", "kills of two processes at once", 10),
    ("kills-long", "kills while another process stood still", 10),
    ("kills-long", "restores from local copies that a killed process had left", 2),
    ("kills-long", "storage faults struck", 30),
    ("kills-long", "records checked exactly once", 100_000),
]


def counts_of(logs, step):
    """The sums over the step's logs."""
    counts = {}
    for path in sorted(logs.glob(f"{step}*.log")):
        if not re.fullmatch(re.escape(step) + r"(-\d+)?\.log", path.name):
            continue
        with open(path, encoding="utf-8", errors="replace") as lines:
            for found in filter(None, map(COUNT.fullmatch, map(str.rstrip, lines))):
                counts[found[2]] = counts.get(found[2], 0) + int(found[1])
    return counts


def too_low(logs, floors):
    """A line for each floor that was not reached."""
    steps = {step: counts_of(logs, step) for step, _, _ in floors}
    findings = []
    for step, what, least in floors:
        counts = steps[step]
        wanted = counts.get(least) if isinstance(least, str) else least
        if what not in counts:
            findings.append(f"{step}: no COUNT of {what}; at least {least} are due")
        elif wanted is None or counts[what] < wanted:
            findings.append(f"{step}: {counts[what]} {what}; at least {least} are due")
    return findings


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="also what --long adds")
    parser.add_argument("logs", type=pathlib.Path)
    options = parser.parse_args(arguments)
    floors = FLOORS + (LONG if options.long else [])
    findings = too_low(options.logs, floors)
    print("\n".join(findings + [f"{len(floors) - len(findings)} of {len(floors)} floors reached"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""bin/bench log: compares LavaLog on LavaFS and on the machine's own file system with RocksDB's
synchronous writes with its log, with the same records, in interleaved rounds.

Prints medians of ratios over the rounds (above 1: Lava is better) and writes
benchmarks/results/log.jsonl. Each writer has its own logical log and waits for each record. Device
bytes are the block layer's own count and include writes of other processes, so the machine should
be idle. RocksDB flushes and compacts nothing meanwhile.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from bench_build import ROOT, build

KINDS = ("lava-lavafs", "lava-posix", "rocksdb")
PEER = "rocksdb 7.8.3"
UNITS = {"average": "us", "p99": "us", "device bytes": "per byte", "own bytes": "per byte", "average, share the goal": "of 1",
         "index": "per byte", "throughput": "bytes/s", "time": "s", "read": "of the file"}
# Relative to RocksDB's average latency, by number of writers.
AVERAGE_GOAL = {1: 0.8, 16: 0.5}


class Suite:
    def __init__(self, options, directory, out):
        self._options, self._directory, self._out = options, pathlib.Path(directory), out
        self._program = build("log_bench") / "bench" / "log_bench"

    def run(self, kind, case, **flags):
        place = self._directory / kind
        shutil.rmtree(place, ignore_errors=True)
        done = subprocess.run(
            [str(self._program), kind, str(place), case]
            + [f"--{name.replace('_', '-')}={value}" for name, value in flags.items()],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        shutil.rmtree(place, ignore_errors=True)
        if done.returncode != 0:
            sys.exit(f"bin/bench log: {kind} {case} failed: {done.stderr[-2000:]}")
        return json.loads(done.stdout)

    def rounds(self, kinds, case, **flags):
        found = []
        for n in range(self._options.rounds):
            turn = n % len(kinds)
            found.append({kind: self.run(kind, case, **flags)
                          for kind in kinds[turn:] + kinds[:turn]})
        return found

    def write(self, case, metric, lava, peer, peer_value, ratio):
        self._out.write(json.dumps(
            {"suite": "log", "case": case, "metric": metric, "unit": UNITS[metric],
             "lava": round(lava, 5), "peer": peer, "peer_value": round(peer_value, 5),
             "ratio": round(ratio, 3)}) + "\n")
        print(f"{case:40}{metric:>24}{lava:>14.4g}{peer_value:>14.4g}{ratio:>8.2f}", flush=True)

    def compare(self, case, metric, rounds, kind, value):
        pairs = [(value(r[kind]), value(r["rocksdb"])) for r in rounds]
        if any(a <= 0 or b <= 0 for a, b in pairs):
            return None  # the block layer does not tell
        share = statistics.median(a / b for a, b in pairs)
        self.write(case, metric, statistics.median(a for a, _ in pairs), PEER,
                   statistics.median(b for _, b in pairs),
                   statistics.median(b / a for a, b in pairs))
        return share

    def appends(self):
        for record in (1024, 4096):
            for writers in (1, 4, 16, 64):
                rounds = self.rounds(KINDS, "append", record=record, writers=writers,
                                     records=max(200, self._options.records // writers))
                for kind, where in (("lava-lavafs", ""), ("lava-posix", " on posix")):
                    case = f"append {record >> 10} KiB, {writers} writers{where}"
                    share = self.compare(case, "average", rounds, kind,
                                         lambda row: row["average_us"])
                    if not where and writers in AVERAGE_GOAL:
                        goal = AVERAGE_GOAL[writers]
                        self.write(case, "average, share the goal", share, "the goal", goal,
                                   goal / share)
                    self.compare(case, "p99", rounds, kind, lambda row: row["p99_us"])
                    self.compare(case, "device bytes", rounds, kind,
                                 lambda row: row["device_bytes_per_byte"])
        case = "append 16 KiB, 64 writers"
        rounds = self.rounds(KINDS, "append", record=16384, writers=64,
                             records=max(200, self._options.records // 64))
        self.compare(case, "average", rounds, "lava-lavafs", lambda row: row["average_us"])
        self.compare(case, "device bytes", rounds, "lava-lavafs",
                     lambda row: row["device_bytes_per_byte"])
        own = statistics.median(r["lava-lavafs"]["device_bytes_per_byte"] for r in rounds)
        if own > 0:
            self.write(case, "device bytes", own, "the goal", 1.03, 1.03 / own)

    def puts(self):
        """One instance: its values in the write-ahead log, or large ones directly in the value log.
        """
        for record, records in ((1024, 4), (70_000, 1)):
            rounds = self.rounds(KINDS, "put", record=record,
                                 records=max(200, self._options.records * records // 20))
            name = f"put {record:,} bytes, wal_sync"
            for kind, where in (("lava-lavafs", ""), ("lava-posix", " on posix")):
                for metric in ("average", "p99"):
                    self.compare(f"{name}{where}", metric, rounds, kind,
                                 lambda row, metric=metric: row[f"{metric}_us"])
                for metric in ("own bytes", "device bytes"):
                    key = metric.replace(" ", "_") + "_per_byte"
                    self.compare(f"{name}{where}", metric, rounds, kind,
                                 lambda row, key=key: row[key])
                own = statistics.median(r[kind]["own_bytes_per_byte"] for r in rounds)
                if record == 70_000 and own > 0:
                    self.write(f"{name}{where}", "own bytes", own, "the goal", 1.05, 1.05 / own)

    def late(self):
        flags = {"record": 1000, "logs": 16, "mib": self._options.mib}
        pairs = []
        for _ in range(self._options.rounds):
            pairs.append((self.run("lava-posix", "throughput", late_percent=5, **flags),
                          self.run("lava-posix", "throughput", **flags)))
        speeds = [(a["bytes"] / a["seconds"], b["bytes"] / b["seconds"]) for a, b in pairs]
        self.write("5 % of records late by up to 1,000", "throughput",
                   statistics.median(a for a, _ in speeds), "in order, 0.9 is the goal",
                   statistics.median(b for _, b in speeds),
                   statistics.median(a / b for a, b in speeds))
        index = pairs[0][1]["index_bytes_per_byte"]
        self.write("records of 1,000 bytes", "index", index, "the goal", 0.01, 0.01 / index)

    def reads(self):
        for case in ("read", "scan"):
            rounds = self.rounds(KINDS[1:], case, record=1000, logs=16, mib=self._options.mib,
                                 records=self._options.records)
            name = "read by LSN" if case == "read" else "scan of 100"
            for metric in ("average", "p99"):
                self.compare(f"{name}, 16 logs, on posix", metric, rounds, "lava-posix",
                             lambda row, metric=metric: row[f"{metric}_us"])

    def recovery(self):
        mib = self._options.recovery_mib
        seconds = self.run("lava-posix", "recovery", record=1000, logs=1000, mib=mib)["seconds"]
        self.write(f"recovery of {mib >> 10} GiB, 1,000 logs, killed", "time", seconds, "the goal",
                   2, 2 / seconds)

    def collection(self):
        row = self.run("lava-posix", "collection", record=1000, logs=1000, mib=600)
        share = row["read_bytes"] / row["file_bytes"]
        self.write("collection of a file, 1 % lives", "read", share, "the goal", 0.02,
                   0.02 / share)


def main():
    parser = argparse.ArgumentParser(prog="bin/bench log", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", type=int, default=20_000, help="appends or reads of a case")
    parser.add_argument("--mib", type=int, default=512, help="that other cases fill")
    parser.add_argument("--recovery-mib", type=int, default=10 << 10)
    parser.add_argument("--only", default="", help="appends, puts, late, reads, recovery or collection")
    parser.add_argument("--directory", default=None, help="where data goes; default: the system's")
    options = parser.parse_args()
    build("log_bench")
    results = ROOT / "benchmarks" / "results"
    results.mkdir(parents=True, exist_ok=True)
    print(f"{'case':40}{'metric':>24}{'Lava':>14}{'peer':>14}{'ratio':>8}")
    with tempfile.TemporaryDirectory(prefix="lava-log-", dir=options.directory) as directory, \
            open(results / "log.jsonl", "w", encoding="utf-8") as out:
        suite = Suite(options, directory, out)
        for name in ("appends", "puts", "late", "reads", "recovery", "collection"):
            if options.only in name:
                getattr(suite, name)()


if __name__ == "__main__":
    os.umask(0o077)
    main()

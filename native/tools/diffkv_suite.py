#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""bin/bench diffkv: the workloads of DiffKV's paper (5.2, 5.3, 5.5). Compares LavaKV with RocksDB,
RocksDB with blob files, and Lava with each of its value policies forced, with the same memory and
threads, in interleaved rounds.

Keys of 24 bytes, values with a generalized Pareto distribution (1 KB on average, up to 128 KB):
load, insert a tenth more, update three times the data, get, scan, and YCSB's core workloads, with a
Zipf distribution with an exponent of 0.9 and uniformly. Prints medians of ratios over the rounds
(above 1: Lava is better) and writes benchmarks/results/diffkv.jsonl. Rows whose peer is the goal
compare Lava's ratio with the goals of this suite.
"""

import argparse
import json
import math
import os
import statistics
import sys
import tempfile

from bench_build import ROOT, build
from kv_process import play

MEAN_BYTES = 1190  # of a value
KEY_BYTES = 24
SCANS = (20, 100, 1000, 10000)
# Name in reports -> the program's engine, and its additional options.
ENGINES = {
    "lava": ("lava", {"separation": "automatic"}),
    "rocksdb": ("rocksdb", {}),
    "rocksdb-blob": ("rocksdb-blob", {}),
    "lava inline": ("lava", {"separation": "0"}),
    "lava collect": ("lava", {"policy": "collect"}),
    "lava merge": ("lava", {"policy": "merge"}),
    "lava greedy": ("lava", {"policy": "greedy"}),
}
FORCED = [name for name in ENGINES if name.startswith("lava ")]
# Relative to RocksDB's, minimum (throughput) or maximum (p99, space).
THROUGHPUT_GOALS = {"insert": 4, "update": 4, "get": 2.6, "ycsb a": 2, "ycsb b": 2, "ycsb d": 2,
                    "ycsb e": 1, "ycsb f": 2} | {f"scan {n}": 0.95 for n in SCANS}
P99_GOALS = {"insert": 0.3, "update": 0.3, "get": 0.3} | {f"scan {n}": 1 for n in SCANS}
SPACE_GOAL = 1.15
BEST_GOAL = 0.9  # of the best forced policy's throughput


def phases_of(distribution):
    """Name in reports -> kv_bench's phase, in the order of execution."""
    phases = {"load": "load", "insert": "insert", "get": f"get-{distribution}",
              "update": f"update-{distribution}", "get after": f"get-{distribution}"}
    phases |= {f"scan {n}": f"scan-{n}-{distribution}" for n in SCANS}
    return phases | {f"ycsb {w}": f"ycsb-{w}-{distribution}" for w in "abcdef"}


def throughput(row):
    return row["operations"] / row["seconds"]


class Report:
    """Prints and writes the ratios of one distribution as they become known."""

    def __init__(self, distribution, rounds, versions, out):
        self.distribution, self.rounds, self.versions, self.out = distribution, rounds, versions, out

    def median_of(self, engine, phase, value):
        return statistics.median(value(rows[engine][phase]) for rows in self.rounds)

    def ratio(self, peer, phase, value, more):
        ratios = []
        for rows in self.rounds:
            lava, other = value(rows["lava"][phase]), value(rows[peer][phase])
            if lava > 0 and other > 0:
                ratios.append(lava / other if more else other / lava)
        return statistics.median(ratios) if ratios else None

    def write(self, phase, metric, unit, lava, peer, peer_value, ratio):
        self.out.write(json.dumps({
            "suite": "diffkv", "case": f"{self.distribution} {phase}", "metric": metric,
            "unit": unit, "lava": round(lava, 4), "peer": peer, "peer_value": round(peer_value, 4),
            "ratio": round(ratio, 3)}) + "\n")

    def compare(self, peer, phase, metric, unit, value, more):
        """Writes and returns the median ratio; None without one."""
        ratio = self.ratio(peer, phase, value, more)
        if ratio is not None:
            self.write(phase, metric, unit, self.median_of("lava", phase, value),
                       f"{peer} {self.versions[peer]}" if peer.startswith("rocksdb") else peer,
                       self.median_of(peer, phase, value), ratio)
        return ratio

    def goal(self, phase, metric, ratio, goal):
        """By how much a ratio exceeds its goal."""
        if ratio is None:
            return ""
        self.write(phase, metric, "ratio to RocksDB", ratio, "the goal", goal, ratio / goal)
        return f"{ratio:.2f}" + ("" if ratio >= goal else f" (<{goal:.2g})")

    def speed(self, peers):
        """A row for each phase: throughput compared with each peer, latencies compared with
        RocksDB.
        """
        print(f"{'throughput':12}" + "".join(f"{peer:>16}" for peer in peers) + f"{'p99':>16}")
        for phase in self.rounds[0]["lava"]:
            cells, p99 = [], ""
            for peer in peers:
                ratio = self.compare(peer, phase, "throughput", "ops/s", throughput, True)
                cell = f"{ratio:.2f}"
                if peer == "rocksdb" and phase in THROUGHPUT_GOALS:
                    cell = self.goal(phase, "throughput", ratio, THROUGHPUT_GOALS[phase])
                cells.append(cell)
                if peer in FORCED:
                    continue
                for kind in ("write", "read", "scan"):
                    latency = self.compare(peer, phase, f"p99 of a {kind}", "us",
                                           lambda row, k=kind: row[f"{k}_p99_us"], False)
                    if peer == "rocksdb" and phase in P99_GOALS and latency is not None:
                        p99 = self.goal(phase, f"p99 of a {kind}", latency, 1 / P99_GOALS[phase])
            print(f"{phase:12}" + "".join(f"{cell:>16}" for cell in cells) + f"{p99:>16}")

    def costs(self, peers):
        """Bytes written by writing phases, and space after them."""
        per_byte = "per user byte"
        for phase in ("load", "insert", "update"):
            for peer in peers:
                ratio = self.compare(peer, phase, "bytes written", per_byte,
                                     lambda row: row["bytes_written"] / row["bytes_put"], False)
                print(f"{phase}: bytes written, beside {peer}: {ratio:.2f} times fewer")
        for peer in peers:
            ratio = self.compare(peer, "update", "space", "per live byte",
                                 lambda row: row["space_bytes"] / row["live_bytes"], False)
            told = f"{ratio:.2f}"
            if peer == "rocksdb":
                told = self.goal("update", "space", ratio, 1 / SPACE_GOAL)
            print(f"update: space, beside {peer}: {told} times less")

    def scans(self):
        ratios = [self.ratio("rocksdb", f"scan {n}", throughput, True) for n in SCANS]
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print("scans of all lengths: geometric mean", self.goal("scans", "throughput", mean, 1))

    def choice(self, forced):
        """Compares the automatic choice with the best forced one, and with each over all phases."""
        products = {name: [] for name in forced}
        for phase in self.rounds[0]["lava"]:
            beside = {name: self.ratio(name, phase, throughput, True) for name in forced}
            for name, ratio in beside.items():
                products[name].append(ratio)
            best = min(beside, key=beside.get)
            self.write(phase, "throughput", "of the best forced policy's", beside[best],
                       "the goal", BEST_GOAL, beside[best] / BEST_GOAL)
            if beside[best] < BEST_GOAL:
                print(f"{phase}: {best} is better: {beside[best]:.2f}")
        for name, ratios in products.items():
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            self.write("all", "throughput", "geometric mean", mean, name, 1, mean)
            print(f"over all workloads, beside {name}: {mean:.2f}")

    def print_all(self):
        peers = [name for name in self.versions if name != "lava"]
        self.speed(peers)
        self.costs(peers)
        if "rocksdb" in peers:
            self.scans()
        forced = [name for name in peers if name in FORCED]
        if forced:
            self.choice(forced)
        print(flush=True)
        self.out.flush()


def main():
    parser = argparse.ArgumentParser(prog="bin/bench diffkv", description=__doc__)
    parser.add_argument("--distributions", default="zipf,uniform")
    parser.add_argument("--io", choices=("direct", "buffered"), default="direct",
                        help="past the page cache, or through it")
    parser.add_argument("--data-mib", type=int, default=512, help="raw data of a case")
    parser.add_argument("--memory-mib", type=int, default=64, help="of each engine")
    parser.add_argument("--separation", type=int, default=512,
                        help="values of so many bytes are separated, where that is not Lava's choice")
    parser.add_argument("--peers", default=",".join(list(ENGINES)[1:]), help="of these")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", default=None, help="where data goes; default: the system's")
    options = parser.parse_args()
    peers = options.peers.split(",")
    if not set(peers) <= set(list(ENGINES)[1:]):
        parser.error(f"--peers: of {', '.join(list(ENGINES)[1:])}")
    distributions = options.distributions.split(",")
    if not set(distributions) <= {"zipf", "uniform"}:
        parser.error("--distributions: zipf, uniform or both")
    engines = ["lava", *peers]
    common = {"values": "pareto", "key-bytes": KEY_BYTES, "io": options.io,
              "keys": max(1000, options.data_mib * (1 << 20) // (MEAN_BYTES + KEY_BYTES)),
              "memory-mib": options.memory_mib, "separation": options.separation}
    build("kv_bench")
    results = ROOT / "benchmarks" / "results"
    results.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="lava-diffkv-", dir=options.directory) as directory, \
            open(results / "diffkv.jsonl", "w", encoding="utf-8") as out:
        for distribution in distributions:
            rounds, versions = [], {}
            for n in range(options.rounds):
                rows = {}
                first = n % len(engines)
                for engine in engines[first:] + engines[:first]:
                    program, flags = ENGINES[engine]
                    rows[engine], versions[engine] = play(
                        "diffkv", program, common | flags, phases_of(distribution), directory)
                    print(f"{distribution}: round {n + 1}, {engine} done", file=sys.stderr,
                          flush=True)
                rounds.append(rows)
            print(f"\n{distribution}, {options.data_mib} MiB raw, memory {options.memory_mib} MiB, "
                  f"{options.io} I/O, {options.rounds} rounds: how many times better Lava is\n")
            Report(distribution, rounds, {name: versions[name] for name in engines},
                   out).print_all()


if __name__ == "__main__":
    os.umask(0o077)
    main()

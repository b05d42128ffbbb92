#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""bin/bench host: many instances in one process under one budget. Compares Lava with RocksDB in
Flink's configuration for a slot (one cache, a WriteBufferManager charged to it), in interleaved
rounds.

Prints medians of ratios over the rounds (above 1: Lava is better) and writes
benchmarks/results/host.jsonl. Rows whose peer is the goal compare Lava with the goals of this
suite; "share of 1" is throughput relative to that of one instance with the same load. Settled
throughput includes the time until background work is idle. Times in the engine exclude the time
that reads waited behind each other; waiting is the part during which a read neither ran nor was
runnable. Creating files is slow on ext4 without a journal when many were recently deleted, and many
instances create many files: --fs lavafs, or --directory on tmpfs, avoid this.
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

ENGINES = ("lava", "rocksdb")
SHARE_MIN = 0.8  # of the throughput of one instance
IDLE_BYTES_MAX = 64 << 10
IDLE_NS_MAX = 1e6
GROWTH_MAX = 2
CYCLE_BYTES_MAX = 1024  # that resident memory may seem to grow by: what a page's granularity makes
WAIT_NS = 1000  # added to waits, which may be 0
MORE_IS_BETTER = ("load", "mix", "share")


def run(engine, case, flags, directory):
    """Rows of one case by phase; None when a peer does not support it."""
    place = pathlib.Path(directory) / engine
    shutil.rmtree(place, ignore_errors=True)
    program = build("host_bench") / "bench" / "host_bench"
    done = subprocess.run([str(program), engine, str(place), case]
                          + [f"--{name}={value}" for name, value in flags.items()],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    shutil.rmtree(place, ignore_errors=True)
    if done.returncode != 0:
        told = f"bin/bench host: {engine} {case} failed: {done.stderr[-2000:]}"
        if engine == "lava":
            sys.exit(told)
        print(told, file=sys.stderr, flush=True)
        return None
    return {row["phase"]: row for row in map(json.loads, done.stdout.splitlines())}


class Report:
    """Writes rows and prints them as a table."""

    def __init__(self, out, fs, directory):
        self.out = out
        self.suffix = ", on LavaFS" if fs == "lavafs" else ""
        kind = subprocess.run(["stat", "-f", "-c", "%T", directory], stdout=subprocess.PIPE,
                              text=True, check=True).stdout.strip()
        if kind == "tmpfs":
            self.suffix += ", tmpfs"
        print(f"{'case':42}{'metric':>26}{'Lava':>14}{'peer':>14}{'ratio':>8}")

    def write(self, case, metric, unit, peer, pairs):
        """pairs: Lava's and the peer's value for each round."""
        more = metric.startswith(MORE_IS_BETTER)
        ratios = [a / b if more else b / a for a, b in pairs if a > 0 and b > 0]
        # Zero has no ratio: two zeros are equal, and a zero is better than a larger value.
        ratios += [1 if a == b else float((b > a) != more) for a, b in pairs if a <= 0 or b <= 0]
        lava, other = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
        ratio = statistics.median(ratios)
        case += self.suffix
        self.out.write(json.dumps({
            "suite": "host", "case": case, "metric": metric, "unit": unit, "lava": round(lava, 4),
            "peer": peer, "peer_value": round(other, 4), "ratio": round(ratio, 3)}) + "\n")
        self.out.flush()
        print(f"{case:42}{metric:>26}{lava:>14.5g}{other:>14.5g}{ratio:>8.2f}  {peer}", flush=True)

    def compare(self, case, metric, unit, rounds, value, goal=None):
        """value: a function of an engine's rows of a round. goal: a limit for Lava's ratio, or a
        number.
        """
        if all("rocksdb" in engines for engines in rounds):
            self.write(case, metric, unit, "rocksdb",
                       [(value(r["lava"]), value(r["rocksdb"])) for r in rounds])
        if goal is not None:
            wanted = goal if callable(goal) else lambda _: goal
            self.write(case, metric, unit, "the goal",
                       [(value(r["lava"]), wanted(r["lava"])) for r in rounds])


def throughput(phase, seconds):
    return lambda rows: rows[phase]["operations"] / rows[phase][seconds]


THROUGHPUTS = {"load": throughput("load", "seconds"), "mix": throughput("mix", "seconds"),
               "load settled": throughput("load", "settled_seconds"),
               "mix settled": throughput("mix", "settled_seconds")}


def play_rounds(options, case, flags, name, directory):
    """For each round, rows of each engine."""
    rounds = []
    for n in range(options.rounds):
        engines = options.engines[n % len(options.engines):] \
            + options.engines[:n % len(options.engines)]
        rows = {}
        for engine in engines:
            own = {"fs": options.fs} if engine == "lava" else {}
            played = run(engine, case, flags | own, directory)
            if played is not None:
                rows[engine] = played
            print(f"{name}: round {n + 1}, {engine} done", file=sys.stderr, flush=True)
        rounds.append(rows)
    return rounds


def compare_memory(report, name, rounds):
    report.compare(name, "peak tracked", "bytes", rounds,
                   lambda rows: rows["memory"]["tracked_bytes_peak"],
                   lambda rows: rows["memory"]["budget_bytes"])
    report.compare(name, "peak resident", "bytes", rounds,
                   lambda rows: rows["memory"]["resident_bytes_peak"],
                   lambda rows: rows["memory"]["resident_bytes_bound"])


def compare_instances(options, values, directory, report):
    of_one = None
    for count in options.instances:
        name = f"{count} {'instance' if count == 1 else 'instances'}, {values} B"
        flags = {"instances": count, "value-bytes": values, "memory-mib": options.memory_mib,
                 "data-mib": options.data_mib, "operations": options.operations,
                 "seconds-max": options.seconds_max}
        rounds = play_rounds(options, "instances", flags, name, directory)
        for metric, value in THROUGHPUTS.items():
            report.compare(name, metric, "1/s", rounds, value)
        for kind in ("put", "get"):
            report.compare(name, f"p99 of a {kind}", "ns", rounds,
                           lambda rows, kind=kind: rows["mix"][f"{kind}_p99_ns"])
        compare_memory(report, name, rounds)
        if count == 1:
            of_one = rounds
        elif of_one:
            compare_shares(report, name, rounds, of_one)


def compare_shares(report, name, rounds, of_one):
    """Each round's throughput relative to that of one instance in the same round."""
    for metric, value in THROUGHPUTS.items():
        shares = [{engine: value(rows) / value(one[engine]) for engine, rows in engines.items()
                   if engine in one} for engines, one in zip(rounds, of_one)]
        report.compare(name, f"share of 1, {metric}", "", shares, lambda share: share, SHARE_MIN)


def compare_idle(options, directory, report):
    flags = {"instances": options.idle_instances, "memory-mib": options.memory_mib}
    name = f"{options.idle_instances} idle"
    rounds = play_rounds(options, "idle", flags, name, directory)
    for phase in ("empty", "opened again"):
        def of(key, phase=phase):
            return lambda rows: rows[phase][key]
        case = f"{name}, {phase}"
        for key, goal in (("resident_bytes_each", IDLE_BYTES_MAX),
                          ("heap_bytes_each", IDLE_BYTES_MAX),
                          ("tracked_bytes_each", IDLE_BYTES_MAX)):
            report.compare(case, key.replace("_", " "), "bytes", rounds, of(key), goal)
        report.compare(case, "threads", "", rounds, of("threads"))
        report.compare(case, "open files each", "", rounds, of("open_files_each"))
        for call in ("open", "close"):
            report.compare(case, f"p50 of {call}", "ns", rounds, of(f"{call}_p50_ns"), IDLE_NS_MAX)
            report.compare(case, f"p99 of {call}", "ns", rounds, of(f"{call}_p99_ns"), IDLE_NS_MAX)
            report.compare(case, f"p50 of {call}, CPU", "ns", rounds, of(f"{call}_cpu_p50_ns"))


def compare_neighbour(options, directory, report):
    name = "99 that read beside a writer"
    flags = {"instances": 100, "data-mib": options.memory_mib, "memory-mib": options.memory_mib,
             "reads-per-second": options.reads_per_second, "seconds": options.seconds}
    rounds = play_rounds(options, "neighbour", flags, name, directory)
    for part in ("since_due", "in_engine", "waiting"):
        key, more = f"{part}_p99_ns", WAIT_NS if part == "waiting" else 0
        words = part.replace("_", " ")
        report.compare(name, f"p99 {words}", "ns", rounds,
                       lambda rows, key=key: rows["beside a writer"][key])
        report.compare(
            name, f"growth of p99 {words}", "", rounds,
            lambda rows, key=key, more=more: (rows["beside a writer"][key] + more)
            / (rows["alone"][key] + more), None if part == "since_due" else GROWTH_MAX)
    report.compare(name, "mix of the writer", "1/s", rounds,
                   lambda rows: rows["beside a writer"]["neighbour_operations"]
                   / rows["beside a writer"]["seconds"])
    compare_memory(report, name, rounds)


def compare_mixed(options, directory, report):
    name = f"{options.mixed_instances} with values to {options.mixed_value_bytes >> 10} KiB"
    flags = {"instances": options.mixed_instances, "memory-mib": options.mixed_memory_mib,
             "value-bytes": options.mixed_value_bytes, "seconds": options.mixed_seconds}
    rounds = play_rounds(options, "mixed", flags, name, directory)
    report.compare(name, "mix", "1/s", rounds, throughput("mixed", "seconds"))
    compare_memory(report, name, rounds)


def compare_cycles(options, directory, report):
    flags = {"operations": options.cycles, "memory-mib": options.memory_mib}
    name = f"{options.cycles} cycles"
    rounds = play_rounds(options, "cycles", flags, name, directory)
    for key in ("tracked_bytes_left", "threads_left", "open_files_left"):
        report.compare(name, key.replace("_", " "), "", rounds,
                       lambda rows, key=key: rows["cycles"][key], 0)
    report.compare(name, "resident bytes a cycle", "bytes", rounds,
                   lambda rows: max(0, rows["cycles"]["resident_bytes_per_cycle"]),
                   CYCLE_BYTES_MAX)


def parse():
    def numbers(text):
        return [int(word) for word in text.split(",")]
    parser = argparse.ArgumentParser(prog="bin/bench host", description=__doc__)
    parser.add_argument("--cases", default="instances,idle,neighbour,cycles,mixed")
    parser.add_argument("--instances", type=numbers, default=[1, 100, 1000])
    parser.add_argument("--values", type=numbers, default=[1024, 100], help="bytes of a value")
    parser.add_argument("--memory-mib", type=int, default=512, help="of each engine")
    parser.add_argument("--data-mib", type=int, default=1024, help="raw data of all instances")
    parser.add_argument("--operations", type=int, default=1_000_000, help="of the mix")
    parser.add_argument("--seconds-max", type=int, default=120, help="of a phase: then it ends "
                        "with what it has done")
    parser.add_argument("--idle-instances", type=int, default=1000)
    parser.add_argument("--cycles", type=int, default=1000)
    parser.add_argument("--reads-per-second", type=int, default=5000, help="beside the writer")
    parser.add_argument("--seconds", type=int, default=10, help="of reads, alone and beside it")
    parser.add_argument("--mixed-instances", type=int, default=4)
    parser.add_argument("--mixed-memory-mib", type=int, default=128, help="of each engine")
    parser.add_argument("--mixed-value-bytes", type=int, default=1 << 20, help="the largest")
    parser.add_argument("--mixed-seconds", type=int, default=60)
    parser.add_argument("--fs", choices=("posix", "lavafs"), default="posix",
                        help="Lava's; RocksDB is always on ordinary files")
    parser.add_argument("--peers", default="rocksdb", help="or nothing: only Lava and the goals")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--append", action="store_true", help="add to the results of runs before")
    parser.add_argument("--directory", default=None, help="where data goes; default: the system's")
    options = parser.parse_args()
    options.engines = ["lava"] + [peer for peer in options.peers.split(",") if peer]
    if not set(options.engines) <= set(ENGINES):
        parser.error(f"--peers: of {', '.join(ENGINES[1:])}")
    options.cases = options.cases.split(",")
    return parser, options


def main():
    parser, options = parse()
    plays = {"idle": compare_idle, "neighbour": compare_neighbour, "cycles": compare_cycles,
             "mixed": compare_mixed}
    if not set(options.cases) <= {"instances", *plays}:
        parser.error(f"--cases: of {', '.join(['instances', *plays])}")
    build("host_bench")
    results = ROOT / "benchmarks" / "results"
    results.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="lava-host-", dir=options.directory) as directory, \
            open(results / "host.jsonl", "a" if options.append else "w", encoding="utf-8") as out:
        report = Report(out, options.fs, directory)
        if "instances" in options.cases:
            for values in options.values:
                compare_instances(options, values, directory, report)
        for name, play in plays.items():
            if name in options.cases:
                play(options, directory, report)


if __name__ == "__main__":
    os.umask(0o077)
    main()

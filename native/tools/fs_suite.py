#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""bin/bench fs: compares LavaFS with the machine's own file system, with the same bytes and the
same sync calls, both with direct I/O, in interleaved rounds.

Prints medians of ratios over the rounds (above 1: LavaFS is better) and writes
benchmarks/results/fs.jsonl. Device bytes are the block layer's own count. They include writes of
other processes, so the machine should be idle, and those of the underlying file system's journal,
which stores the time stamps of LavaFS's file. Own bytes are those that LavaFS itself wrote. LavaFS
uses a file whose blocks were written before.
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

KINDS = ("lavafs", "posix")
MORE_IS_BETTER = {"throughput"}
UNITS = {"throughput": "bytes/s", "average": "us", "p99": "us", "device bytes": "per byte",
         "max": "us", "time": "s", "memory": "bytes per file", "own bytes": "per byte"}
# Bytes that the process writes for each appended byte; the underlying file system adds its own.
OWN_BYTES_MAX = {"fdatasync": 1.02, "fsync": 2.0}


def cases(options):
    """Name -> fs_bench's case and options, and the compared metrics."""
    found = {}
    for kind in ("fdatasync", "fsync"):
        found[f"append 4 KiB {kind}"] = (f"append-{kind}", {"mib": options.sync_mib},
                                         ("average", "p99", "device bytes"))
    for kib in (4, 16, 64, 512):
        found[f"append {kib} KiB, 20 threads"] = (
            "append", {"block": kib << 10, "threads": 20, "mib": options.mib}, ("throughput",))
        for threads in (1, 20):
            found[f"read {kib} KiB, {threads} threads"] = (
                "read", {"block": kib << 10, "threads": threads, "mib": options.mib,
                         "operations": options.operations // threads}, ("throughput", "p99"))
    return found


def run(kind, case, flags, directory):
    place = pathlib.Path(directory) / kind
    shutil.rmtree(place, ignore_errors=True)
    program = build("fs_bench") / "bench" / "fs_bench"
    done = subprocess.run(
        [str(program), kind, str(place), case]
        + [f"--{name}={value}" for name, value in flags.items()],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    shutil.rmtree(place, ignore_errors=True)
    if done.returncode != 0:
        sys.exit(f"bin/bench fs: {kind} {case} failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def value(row, metric):
    return {"throughput": lambda: row["bytes"] / row["seconds"],
            "average": lambda: row["average_us"], "p99": lambda: row["p99_us"],
            "device bytes": lambda: row["device_bytes_per_byte"]}[metric]()


def write(out, case, metric, lava, peer, peer_value, ratio):
    out.write(json.dumps({"suite": "fs", "case": case, "metric": metric, "unit": UNITS[metric],
                          "lava": round(lava, 4), "peer": peer, "peer_value": round(peer_value, 4),
                          "ratio": round(ratio, 3)}) + "\n")
    print(f"{case:32}{metric:>14}{lava:>16.4g}{peer_value:>16.4g}{ratio:>8.2f}", flush=True)


def compare(case, metrics, rounds, out):
    for metric in metrics:
        pairs = [(value(r["lavafs"], metric), value(r["posix"], metric)) for r in rounds]
        if any(peer <= 0 or lava <= 0 for lava, peer in pairs):
            continue  # the block layer does not tell, or others' writes were all
        ratio = statistics.median(
            (a / b if metric in MORE_IS_BETTER else b / a) for a, b in pairs)
        write(out, case, metric, statistics.median(a for a, _ in pairs), "posix",
              statistics.median(b for _, b in pairs), ratio)


def compare_own_bytes(kind, rounds, out):
    own = statistics.median(r["lavafs"]["own_bytes_per_byte"] for r in rounds)
    if own > 0:
        goal = OWN_BYTES_MAX[kind]
        write(out, f"append 4 KiB {kind}", "own bytes", own, "the goal", goal, goal / own)


def compare_compaction(options, directory, out):
    """Compares the slowest append during compactions of the journal with twice the p99 of appends
    without.
    """
    flags = {"operations": options.operations, "files": options.files}
    rounds = []
    for _ in range(options.rounds):
        rounds.append((run("lavafs", "fsync-compacting", flags, directory),
                       run("lavafs", "fsync-not-compacting", flags, directory)))
    worst = [a["max_us"] for a, _ in rounds]
    bound = [2 * b["p99_us"] for _, b in rounds]
    write(out, "fsync beside journal compaction", "max", statistics.median(worst),
          "twice its p99 without", statistics.median(bound),
          statistics.median(b / a for a, b in zip(worst, bound)))
    # The part caused by the compaction.
    idle = [b["max_us"] for _, b in rounds]
    write(out, "fsync beside journal compaction", "max", statistics.median(worst),
          "its max without", statistics.median(idle),
          statistics.median(b / a for a, b in zip(worst, idle)))


def compare_mount(options, directory, out):
    rows = [run("lavafs", "mount", {"files": options.files}, directory)
            for _ in range(options.rounds)]
    seconds = statistics.median(row["seconds"] for row in rows)
    memory = rows[0]["bytes_per_file"]
    case = f"mount of {options.files} files"
    write(out, case, "time", seconds, "the goal", 1, 1 / seconds)
    write(out, case, "memory", memory, "the goal", 100, 100 / memory)


def main():
    parser = argparse.ArgumentParser(prog="bin/bench fs", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sync-mib", type=int, default=256, help="of synchronous appends")
    parser.add_argument("--mib", type=int, default=1024, help="of other cases")
    parser.add_argument("--operations", type=int, default=20_000, help="reads, or appends beside "
                        "compactions")
    parser.add_argument("--files", type=int, default=100_000, help="in the case of a mount")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument("--directory", default=None, help="where data goes; default: the system's")
    options = parser.parse_args()
    build("fs_bench")
    results = ROOT / "benchmarks" / "results"
    results.mkdir(parents=True, exist_ok=True)
    print(f"{'case':32}{'metric':>14}{'LavaFS':>16}{'peer':>16}{'ratio':>8}")
    with tempfile.TemporaryDirectory(prefix="lava-fs-", dir=options.directory) as directory, \
            open(results / "fs.jsonl", "w", encoding="utf-8") as out:
        for name, (case, flags, metrics) in cases(options).items():
            if options.only not in name:
                continue
            rounds = []
            for n in range(options.rounds):
                rounds.append({kind: run(kind, case, flags, directory)
                               for kind in KINDS[n % 2:] + KINDS[:n % 2]})
            compare(name, metrics, rounds, out)
            if case.startswith("append-f"):
                compare_own_bytes(case.removeprefix("append-"), rounds, out)
        if options.only in "fsync beside journal compaction":
            compare_compaction(options, directory, out)
        if options.only in "mount":
            compare_mount(options, directory, out)


if __name__ == "__main__":
    os.umask(0o077)
    main()

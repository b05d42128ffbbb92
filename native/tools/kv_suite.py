#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""bin/bench kv: compares LavaKV with RocksDB and RocksDB with blob files, on the same data, with
the same memory, threads and kind of I/O, in interleaved rounds.

Prints medians of ratios over the rounds, and writes benchmarks/results/kv.jsonl. Bytes are those
that the process passed to or received from the kernel, counted after background work has settled.
Letters are the workloads of LavaStore's Table 1, whose cases have 16000 bytes; those of Scavenger
have 16 KiB, 1 KiB and mixed. Only Lava supports a space limit: the peers run without one. With --fs
lavafs Lava runs on a LavaFS volume, and is also compared with Lava on the machine's own file
system.
"""

import argparse
import os
import sys
import tempfile

import kv_report
from bench_build import ROOT, build
from kv_process import play

ENGINES = ("lava", "lava-posix", "rocksdb", "rocksdb-blob")
# Name in reports -> kv_bench's phase, in the order of execution.
PHASES = {
    "A load": "load",
    "get uniform": "get-uniform",
    "B overwrite uniform": "overwrite-uniform",
    "B overwrite zipf": "overwrite-zipf",
    "get uniform after": "get-uniform",
    "get zipf": "get-zipf",
    "scan 10": "scan-10",
    "scan 100": "scan-100",
    "C read while writing": "read-while-writing",
    "D short scan while writing": "scan-10-while-writing",
    "E long scan while writing": "scan-1000-while-writing",
}


def run(engine, values, io, options, directory):
    """Rows of one engine by phase, and its version."""
    average = (306 + (16 << 10)) // 2 if values == "mixed" else int(values)
    keys = max(1000, options.data_mib * (1 << 20) // (average + 36))
    flags = {"values": values, "keys": keys, "memory-mib": options.memory_mib,
             "separation": options.separation, "space-percent": options.space_percent, "io": io,
             "write-mib": options.write_mib, "while-seconds": options.while_seconds,
             "fs": options.fs if engine == "lava" else "posix"}
    return play("kv", engine.removesuffix("-posix"), flags, PHASES, directory)


def main():
    parser = argparse.ArgumentParser(prog="bin/bench kv", description=__doc__)
    parser.add_argument("--values", default="16000,1024,mixed",
                        help="cases: bytes of a value, or mixed (half 100 to 512, half 16 KiB)")
    parser.add_argument("--io", default="direct,buffered",
                        help="kinds of I/O: past the page cache, through it")
    parser.add_argument("--data-mib", type=int, default=1024, help="raw data of a case")
    parser.add_argument("--memory-mib", type=int, default=128, help="of each engine")
    parser.add_argument("--separation", type=int, default=512,
                        help="values of so many bytes are separated, in engines that can")
    parser.add_argument("--space-percent", type=int, default=0,
                        help="Lava's limit of space, in percent of its live data; 0: none; the "
                             "papers' figures are at 150 and 125")
    parser.add_argument("--write-mib", type=int, default=8,
                        help="a second, of the writer beside readers (the paper: 60)")
    parser.add_argument("--while-seconds", type=int, default=10,
                        help="of a phase with a writer beside readers (the paper: 1800)")
    parser.add_argument("--fs", choices=("posix", "lavafs"), default="posix", help="Lava's")
    parser.add_argument("--peers", default=",".join(ENGINES[1:]), help="of these")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--append", action="store_true",
                        help="add to the results of runs before, as of another limit of space")
    parser.add_argument("--directory", default=None, help="where data goes; default: the system's")
    options = parser.parse_args()
    if not set(options.io.split(",")) <= {"direct", "buffered"}:
        parser.error("--io: direct, buffered or both")
    peers = [peer for peer in options.peers.split(",")
             if peer != "lava-posix" or options.fs != "posix"]
    if not set(peers) <= set(ENGINES[1:]):
        parser.error(f"--peers: of {', '.join(ENGINES[1:])}")
    engines = [ENGINES[0], *peers]
    build("kv_bench")
    results = ROOT / "benchmarks" / "results"
    results.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="lava-kv-", dir=options.directory) as directory, \
            open(results / "kv.jsonl", "a" if options.append else "w", encoding="utf-8") as out:
        cases = [(values, io) for values in options.values.split(",")
                 for io in options.io.split(",")]
        for values, io in cases:
            rounds, versions = [], {}
            for n in range(options.rounds):
                rows = {}
                first = n % len(engines)
                for engine in engines[first:] + engines[:first]:
                    rows[engine], versions[engine] = run(engine, values, io, options, directory)
                    print(f"{values} {io}: round {n + 1}, {engine} done", file=sys.stderr,
                          flush=True)
                rounds.append(rows)
            kv_report.report(f"{values} {io}", rounds, versions, options, out)


if __name__ == "__main__":
    os.umask(0o077)
    main()

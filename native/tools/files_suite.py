#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""bin/bench files: the cost of checkpoints for a task whose instance has many files.

Measures the CPU time of the synchronous part of a checkpoint, with a concurrent writer and the
resulting jobs: Lava takes a snapshot, RocksDB makes a checkpoint, which flushes and links every
file. Also measures the cost for Lava of installing an edit of the version, compared with a goal.
Prints ratios (above 1: Lava is better) and writes benchmarks/results/files.jsonl.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

from bench_build import ROOT, build

# Goals for an instance of 16,000 files. Units: microseconds of CPU time.
SNAPSHOT_P99_US = 200
INSTALL_US = 100


def run(engine, files, seconds, directory):
    program = build("files_bench") / "bench" / "files_bench"
    with tempfile.TemporaryDirectory(prefix="lava-files-", dir=directory) as place:
        done = subprocess.run([str(program), place, engine, str(files), str(seconds)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              check=False)
    if done.returncode != 0:
        sys.exit(f"bin/bench files: {engine} with {files} files failed: {done.stderr[-2000:]}")
    return json.loads(done.stdout)


def write(out, case, metric, lava, peer, peer_value):
    ratio = peer_value / lava if lava > 0 else 0
    out.write(json.dumps({"suite": "files", "case": case, "metric": metric, "unit": "us of CPU",
                          "lava": round(lava, 2), "peer": peer,
                          "peer_value": round(peer_value, 2), "ratio": round(ratio, 4)}) + "\n")
    out.flush()
    print(f"{case:16}{metric:>20}{peer:>12}{lava:>12.1f}{peer_value:>12.1f}{ratio:>10.2f}",
          flush=True)


def main():
    parser = argparse.ArgumentParser(prog="bin/bench files", description=__doc__)
    parser.add_argument("--files", type=int, nargs="*", default=[2000, 16_000])
    parser.add_argument("--seconds", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", default=None, help="where data goes; default: the system's")
    options = parser.parse_args()
    results = ROOT / "benchmarks" / "results"
    results.mkdir(parents=True, exist_ok=True)
    print(f"{'files':16}{'metric':>20}{'peer':>12}{'Lava':>12}{'peer':>12}{'ratio':>10}")
    with open(results / "files.jsonl", "w", encoding="utf-8") as out:
        for files in options.files:
            found = {"lava": [], "rocksdb": []}
            for _ in range(options.rounds):
                for engine, rows in found.items():
                    rows.append(run(engine, files, options.seconds, options.directory))

            def median(engine, metric):
                return statistics.median(row[metric] for row in found[engine])

            case = f"{files} files"
            for metric in ("checkpoint_p50_us", "checkpoint_p99_us"):
                write(out, case, metric, median("lava", metric), "rocksdb",
                      median("rocksdb", metric))
            write(out, case, "checkpoint_p99_us", median("lava", "checkpoint_p99_us"), "the goal",
                  SNAPSHOT_P99_US)
            for metric in ("install_us", "publish_us"):
                write(out, case, metric, median("lava", metric), "the goal", INSTALL_US)
            print(f"  an install changed {median('lava', 'files_per_install'):.1f} files; Lava had "
                  f"{median('lava', 'files'):.0f}, RocksDB {median('rocksdb', 'files'):.0f}")


if __name__ == "__main__":
    main()

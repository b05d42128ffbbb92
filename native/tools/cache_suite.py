#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""bin/bench cache: compares Lava's block cache with RocksDB's, with equal bytes, on the same
traces.

Records the requests of engine runs to their cache, including accesses that readers would serve from
blocks they keep. Plays each trace against caches of several shares of its bytes. Measures lookups
by concurrent threads, and the cost of dropping a file. Prints ratios (above 1: Lava is better) and
writes benchmarks/results/cache.jsonl. --candidates adds the policies that were compared before the
choice.
"""

import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

from bench_build import ROOT, build

PEERS = ("rocksdb-lru", "rocksdb-hyper-clock")
CANDIDATES = ("clock", "sieve", "s3", "index-first-s3", "index-first-pool", "border-pool")
SHARES = (0.05, 0.25, 0.5)
METRICS = {"reads_per_call": "reads", "hit_ratio": "hit ratio", "index_hit_ratio": "index hits",
           "data_hit_ratio": "data hits"}


def run(*arguments):
    program = build("cache_bench") / "bench" / "cache_bench"
    done = subprocess.run([str(program)] + [str(a) for a in arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bin/bench cache: {arguments} failed: {done.stderr[-2000:]}")
    return done.stdout.splitlines()


def rows(*arguments):
    return [json.loads(line) for line in run(*arguments)]


def write(out, case, metric, unit, lava, peer, peer_value, ratio):
    out.write(json.dumps({"suite": "cache", "case": case, "metric": metric, "unit": unit,
                          "lava": round(lava, 5), "peer": peer, "peer_value": round(peer_value, 5),
                          "ratio": round(ratio, 4)}) + "\n")
    out.flush()
    print(f"{case:44}{metric:>12}{peer:>22}{lava:>14.5g}{peer_value:>14.5g}{ratio:>8.3f}",
          flush=True)


def compare_trace(workload, trace, peers, out, ratios):
    for share in SHARES:
        lava, *others = rows("play", trace, share, "lava", *peers)
        case = f"{workload}, {share * 100:.0f} %"
        for other in others:
            for metric, name in METRICS.items():
                a, b = lava[metric], other[metric]
                if metric == "reads_per_call":
                    a, b, ratio = a, b, b / a
                    ratios.setdefault(other["policy"], []).append(ratio)
                else:
                    ratio = a / b
                write(out, case, name, "per get" if metric == "reads_per_call" else "", a,
                      other["policy"], b, ratio)


def compare_threads(out):
    for threads in (1, 2, 8):
        found = {p: [] for p in ("lava",) + PEERS}
        for _ in range(3):
            for policy, values in found.items():
                values.append(rows("threads", threads, policy)[0]["lookups_per_second"])
        lava = sorted(found["lava"])[1]
        for peer in PEERS:
            value = sorted(found[peer])[1]
            write(out, f"hits, {threads} threads", "lookups", "per second", lava, peer, value,
                  lava / value)


def main():
    parser = argparse.ArgumentParser(prog="bin/bench cache", description=__doc__)
    parser.add_argument("--scale", type=float, default=2, help="1: data sets of about 64 MiB")
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--candidates", action="store_true")
    parser.add_argument("--directory", default=None, help="where data goes; default: the system's")
    options = parser.parse_args()
    peers = PEERS + (CANDIDATES if options.candidates else ())
    results = ROOT / "benchmarks" / "results"
    results.mkdir(parents=True, exist_ok=True)
    ratios = {}
    print(f"{'case':44}{'metric':>12}{'peer':>22}{'Lava':>14}{'peer':>14}{'ratio':>8}")
    with tempfile.TemporaryDirectory(prefix="lava-cache-", dir=options.directory) as directory, \
            open(results / "cache.jsonl", "w", encoding="utf-8") as out:
        for n, workload in enumerate(run("workloads")):
            if options.only not in workload:
                continue
            place = pathlib.Path(directory) / str(n)
            place.mkdir()
            trace = place / "trace"
            run("record", workload, options.scale, place, trace)
            compare_trace(workload, trace, peers, out, ratios)
            trace.unlink()
        for peer, values in ratios.items():
            mean = math.exp(sum(map(math.log, values)) / len(values))
            print(f"reads: geometric mean of {len(values)} ratios to {peer}: {mean:.3f}, "
                  f"least {min(values):.3f}")
        if not options.only:
            compare_threads(out)
            for files in (1000, 10_000):
                us = rows("erase", files, 100_000)[0]["us"]
                write(out, f"drop one of {files} files, 100,000 blocks", "time", "us", us,
                      "the goal", 1000, 1000 / us)


if __name__ == "__main__":
    main()

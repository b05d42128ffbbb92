#!/usr/bin/env python3
"""bin/bench kv: LavaKV beside RocksDB and RocksDB with blob files, on the same data, with the same
memory and threads, one after another in interleaved rounds.

Prints medians of ratios over the rounds, and writes benchmarks/results/kv.jsonl. Bytes are what the
process handed to or took from the kernel, counted after background work has settled.
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

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "native" / "target" / "bench"
ENGINES = ("lava", "rocksdb", "rocksdb-blob")
PHASES = ("load", "get-uniform", "overwrite-uniform", "overwrite-zipf", "get-uniform-after",
          "get-zipf", "scan-10", "scan-100")
# Metric -> unit, whether more is better, and how it is had from a phase's row.
METRICS = {
    "throughput": ("ops/s", True, lambda row: row["ops_per_second"]),
    "p50": ("us", False, lambda row: row["p50_us"]),
    "p99": ("us", False, lambda row: row["p99_us"]),
    "p99.9": ("us", False, lambda row: row["p999_us"]),
    "bytes written": ("per user byte", False,
                      lambda row: row["bytes_written"] / max(1, row["user_bytes"])),
    "bytes read": ("per user byte", False,
                   lambda row: row["bytes_read"] / max(1, row["user_bytes"])),
    "cpu": ("s", False, lambda row: row["cpu_seconds"]),
    "space": ("per live byte", False,
              lambda row: row["space_bytes"] / max(1, row["live_bytes"])),
    "peak space": ("per live byte", False,
                   lambda row: row["peak_bytes"] / max(1, row["live_bytes"])),
}
WRITE_ONLY = {"bytes written", "space", "peak space"}


def build():
    BUILD.mkdir(parents=True, exist_ok=True)
    for command in (["cmake", "-S", ROOT / "native", "-B", BUILD, "-G", "Ninja", "-Wno-dev",
                     "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DLAVA_ROCKSDB=ON"],
                    ["cmake", "--build", BUILD, "--target", "kv_bench"]):
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            sys.exit("bin/bench kv: the benchmark does not build:\n" + done.stdout[-3000:])


def run(engine, case, options, directory):
    """Rows of one engine by phase, and its version."""
    place = pathlib.Path(directory) / "db"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(mode=0o700)
    value_bytes = case if case == "mixed" else int(case)
    average = (512 + (16 << 10)) // 2 if case == "mixed" else value_bytes
    keys = max(1000, options.data_mib * (1 << 20) // (average + 36))
    phases = ",".join(p.removesuffix("-after") for p in PHASES)
    done = subprocess.run([str(BUILD / "bench" / "kv_bench"), engine, str(place), case, str(keys),
                           str(options.memory_mib), str(options.separation),
                           str(options.space_percent), phases],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    shutil.rmtree(place, ignore_errors=True)
    if done.returncode != 0:
        sys.exit(f"bin/bench kv: {engine} failed: {done.stderr[-2000:]}")
    head, *rows = [json.loads(line) for line in done.stdout.splitlines()]
    return dict(zip(PHASES, rows)), head["version"]


def main():
    parser = argparse.ArgumentParser(prog="bin/bench kv", description=__doc__)
    parser.add_argument("--values", default="16000,1024,mixed",
                        help="cases: bytes of a value, or mixed (half 512, half 16 KiB)")
    parser.add_argument("--data-mib", type=int, default=1024, help="raw data of a case")
    parser.add_argument("--memory-mib", type=int, default=128, help="of each engine")
    parser.add_argument("--separation", type=int, default=512,
                        help="values of so many bytes lie apart, in engines that can")
    parser.add_argument("--space-percent", type=int, default=0,
                        help="Lava's limit of space, in percent of its live data; 0: none")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", default=None, help="where data goes; default: the system's")
    options = parser.parse_args()
    build()
    results = ROOT / "benchmarks" / "results"
    results.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="lava-kv-", dir=options.directory) as directory, \
            open(results / "kv.jsonl", "w", encoding="utf-8") as out:
        for case in options.values.split(","):
            rounds, versions = [], {}
            for n in range(options.rounds):
                rows = {}
                for engine in ENGINES[n % 3:] + ENGINES[:n % 3]:
                    rows[engine], versions[engine] = run(engine, case, options, directory)
                    print(f"{case}: round {n + 1}, {engine} done", file=sys.stderr, flush=True)
                rounds.append(rows)
            report(case, rounds, versions, options, out)


def report(case, rounds, versions, options, out):
    print(f"\nvalues {case}, {options.data_mib} MiB raw, memory {options.memory_mib} MiB, "
          f"limit of space {options.space_percent} %, "
          f"{options.rounds} rounds: how many times better Lava is (median)\n")
    for peer in ENGINES[1:]:
        name = f"{peer} {versions[peer]}"
        print(f"{name:20}" + "".join(f"{metric:>15}" for metric in METRICS))
        for phase in PHASES:
            cells = []
            for metric, (unit, more, value) in METRICS.items():
                if metric in WRITE_ONLY and not phase.startswith(("load", "overwrite")):
                    cells.append("")
                    continue
                lava = [value(r["lava"][phase]) for r in rounds]
                other = [value(r[peer][phase]) for r in rounds]
                ratios = [(a / b if more else b / a) for a, b in zip(lava, other) if a and b]
                if not ratios:
                    cells.append("")
                    continue
                ratio = statistics.median(ratios)
                cells.append(f"{ratio:.2f}")
                out.write(json.dumps({
                    "suite": "kv", "case": f"{case} {phase}", "metric": metric, "unit": unit,
                    "lava": statistics.median(lava), "peer": name,
                    "peer_value": statistics.median(other), "ratio": round(ratio, 3)}) + "\n")
            print(f"{phase:20}" + "".join(f"{cell:>15}" for cell in cells))
        print()
    written = [r["lava"]["load"]["bytes_written"] / max(1, r["lava"]["load"]["space_bytes"])
               for r in rounds]
    print(f"Lava's write amplification of the load, against what it stored: "
          f"{statistics.median(written):.2f}\n", flush=True)


if __name__ == "__main__":
    os.umask(0o077)
    main()

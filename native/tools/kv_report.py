# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""The report of bin/bench kv: ratios of Lava to each peer, and absolute figures."""

import json
import statistics


def per(count, base):
    return count / base if base else 0.0


def stored(row, raw_bytes):
    """The size of this much of the data after compression by the engines' codec."""
    return raw_bytes * row["stored_per_user_byte"]


# Metric -> unit, whether more is better, and its computation from a phase's row; 0 has no ratio.
SPEED = {
    "throughput": ("ops/s", True, lambda r: per(r["operations"], r["seconds"])),
    "settled": ("ops/s", True, lambda r: per(r["operations"], r["settled_seconds"])),
    "p50": ("us", False, lambda r: r["p50_us"]),
    "p99": ("us", False, lambda r: r["p99_us"]),
    "p99.9": ("us", False, lambda r: r["p999_us"]),
    "writer p99": ("us", False, lambda r: r["writer_p99_us"]),
    "cpu": ("s", False, lambda r: r["cpu_seconds"]),
    "compaction cpu": ("s", False, lambda r: r["compaction_cpu_seconds"]),
}
COST = {
    "bytes written": ("per user byte", False, lambda r: per(r["bytes_written"], r["bytes_put"])),
    "write ampl.": ("per user byte as stored", False,
                    lambda r: per(r["bytes_written"], stored(r, r["bytes_put"]))),
    "bytes read": ("per user byte", False,
                   lambda r: per(r["bytes_read"], r["bytes_put"] + r["bytes_got"])),
    "read calls": ("per operation", False, lambda r: per(r["read_calls"], r["operations"])),
    "device read": ("bytes per operation", False,
                    lambda r: per(r["device_bytes_read"], r["operations"])),
    "space": ("per live byte as stored", False,
              lambda r: per(r["space_bytes"], stored(r, r["live_bytes"]))),
    "peak space": ("per live byte as stored", False,
                   lambda r: per(r["peak_bytes"], stored(r, r["live_bytes"]))),
}
WRITES_ONLY = {"settled", "writer p99", "compaction cpu", "bytes written", "write ampl.", "space",
               "peak space"}
# Depend on the speed of a run: they cover a fixed time, or other work.
NOT_WHILE_WRITING = {"settled", "cpu", "compaction cpu"}


def is_compared(metric, phase):
    writes = phase.startswith(("A ", "B ", "C ", "D ", "E "))
    if metric in WRITES_ONLY and not writes:
        return False
    return not (metric in NOT_WHILE_WRITING and "while" in phase)


def median(rounds, engine, phase, value):
    return statistics.median(value(r[engine][phase]) for r in rounds)


def ratio_of(rounds, peer, phase, metric):
    _, more, value = metric
    pairs = [(value(r["lava"][phase]), value(r[peer][phase])) for r in rounds]
    ratios = [(a / b if more else b / a) for a, b in pairs if a > 0 and b > 0]
    return statistics.median(ratios) if ratios else None


def report_metrics(case, peer, name, metrics, rounds, out):
    phases = list(rounds[0]["lava"])
    width = max(len(phase) for phase in phases) + 1
    print(f"{name:{width}}" + "".join(f"{metric:>15}" for metric in metrics))
    for phase in phases:
        cells = []
        for metric, how in metrics.items():
            ratio = ratio_of(rounds, peer, phase, how) if is_compared(metric, phase) else None
            cells.append("" if ratio is None else f"{ratio:.2f}")
            if ratio is None:
                continue
            out.write(json.dumps({
                "suite": "kv", "case": f"{case} {phase}", "metric": metric, "unit": how[0],
                "lava": round(median(rounds, "lava", phase, how[2]), 4), "peer": name,
                "peer_value": round(median(rounds, peer, phase, how[2]), 4),
                "ratio": round(ratio, 3)}) + "\n")
        print(f"{phase:{width}}" + "".join(f"{cell:>15}" for cell in cells))
    print()


def report_engines(rounds, versions, options):
    """Absolute figures that ratios alone do not show."""
    phases = list(rounds[0]["lava"])
    loaded, overwritten = phases[0], [p for p in phases if p.startswith("B ")]
    for engine in versions:
        amplification = median(rounds, engine, loaded, COST["write ampl."][2])
        peaks = ", ".join(
            f"{phase} {median(rounds, engine, phase, COST['peak space'][2]):.2f}"
            f" (at its end {median(rounds, engine, phase, COST['space'][2]):.2f})"
            for phase in [loaded, *overwritten])
        print(f"{engine}: write amplification of the load {amplification:.2f}; most space per live "
              f"byte as stored: {peaks}")
        for phase in phases:
            held = min(per(r[engine][phase]["bytes_put"], r[engine][phase]["seconds"])
                       for r in rounds) / (options.write_mib << 20)
            if "while" in phase and held < 0.97:
                print(f"{engine}: in {phase} the writer held only {held:.0%} of its rate")
    for phase in overwritten:
        share = statistics.median(
            per(r["lava"][phase]["collection_bytes_read"], r["lava"][phase]["collection_input_bytes"])
            for r in rounds)
        print(f"lava: {phase}: of the files that it collected, the collector read {share:.0%}")
    print(flush=True)


def report(case, rounds, versions, options, out):
    """Prints a case and writes its rows. rounds: kv_bench's rows by engine and phase."""
    if options.space_percent > 0:
        case += f" limit {options.space_percent}"
    if options.fs != "posix":
        case += f" on {options.fs}"
    print(f"\nvalues {case}, {options.data_mib} MiB raw, memory {options.memory_mib} MiB, "
          f"{options.write_mib} MiB/s beside readers, {options.rounds} rounds: "
          f"how many times better Lava is (median)\n")
    for peer in list(versions):
        if peer == "lava":
            continue
        name = f"{peer} {versions[peer]}"
        report_metrics(case, peer, name, SPEED, rounds, out)
        report_metrics(case, peer, name, COST, rounds, out)
    report_engines(rounds, versions, options)
    out.flush()

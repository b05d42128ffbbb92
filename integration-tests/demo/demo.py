# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Runs the demo job on a small real cluster, kills a part of it during the run, and checks the
result.

bin/demo builds the prerequisites and starts it.
"""

import argparse
import datetime
import glob
import os
import re
import sys
import time
import urllib.error
import urllib.request

from cluster import Cluster, Failed, run_command
from flink_home import DistributionFlink, MavenFlink

PARALLELISM = 4
JOB_CLASS = "org.lavakv.demo.FlightsJob"
# The job's last stateful step; its watermark shows the job's progress in 2013.
LAST_STEP = "worst-planes"
DAYS = 365
PLANES_A_DAY = 10
KILL_AFTER_DATE = "2013-05-15"
KILL_AFTER_CHECKPOINTS = 3
QUIET_SECONDS = 2
STATE_METRIC = re.compile(r"\.lava\.state\.(.+)\.live-bytes$")


def size(n):
    for unit in ("B", "KiB", "MiB"):
        if n < 1024:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1024
    return f"{n:.1f} GiB"


class Run:
    """Watches one run of the job until its end."""

    def __init__(self, cluster, job):
        self._cluster = cluster
        self._job = job
        self._began = time.monotonic()
        self._records_before = 0
        self._records_now = 0
        self.state_bytes = {}
        # Records read by each source in the current attempt.
        self.sources = {}
        self.job_state = ""
        self.date = ""
        self._recovering = False
        self.checkpoints = {}

    def poll(self):
        """Asks the JobManager for the job's progress."""
        self._cluster.check_processes()
        job = self._cluster.get(f"/jobs/{self._job}")
        self.job_state = job["state"]
        if self.job_state in ("FAILED", "CANCELED", "SUSPENDED"):
            raise Failed(f"The job ended as {self.job_state}: {self._cause()}")
        self._recovering = self.records() > 0 and any(
            vertex["status"] not in ("RUNNING", "FINISHED") for vertex in job["vertices"])
        for vertex in job["vertices"]:
            if vertex["name"].startswith("Source: "):
                self.sources[vertex["name"][8:]] = vertex["metrics"]["write-records"]
            if vertex["name"].startswith(LAST_STEP) and self.job_state == "RUNNING":
                self.date = self._date(vertex["id"]) or self.date
        records = self.sources.get("flights", 0)
        if records < self._records_now:  # Counters begin anew with each attempt.
            self._records_before += self._records_now
        self._records_now = records
        self.checkpoints = self._cluster.get(f"/jobs/{self._job}/checkpoints")
        if self.job_state == "RUNNING":
            self._sample_state(job["vertices"])

    def _cause(self):
        exceptions = self._cluster.get(f"/jobs/{self._job}/exceptions")
        entries = exceptions.get("exceptionHistory", {}).get("entries", [])
        return entries[0]["stacktrace"] if entries else "no cause given"

    def _date(self, vertex):
        marks = [int(m["value"]) for m in
                 self._cluster.get(f"/jobs/{self._job}/vertices/{vertex}/watermarks")]
        if not marks or not 0 < min(marks) < 2e12:
            return None
        return datetime.datetime.fromtimestamp(
            min(marks) / 1000, datetime.timezone.utc).strftime("%Y-%m-%d")

    def _sample_state(self, vertices):
        """Reads the size of each state from the backend's metrics, if they exist."""
        sums = {}
        for vertex in vertices:
            path = f"/jobs/{self._job}/vertices/{vertex['id']}/metrics"
            try:
                names = [m["id"] for m in self._cluster.get(path)]
                wanted = [n for n in names if STATE_METRIC.search(n)]
                if not wanted:
                    continue
                for metric in self._cluster.get(path + "?get=" + ",".join(
                        urllib.request.quote(n) for n in wanted)):
                    state = STATE_METRIC.search(metric["id"]).group(1)
                    key = (vertex["name"].split(" -> ")[0], state)
                    sums[key] = sums.get(key, 0) + int(float(metric["value"]))
            except urllib.error.HTTPError:
                continue  # The vertex restarts.
        if sums:
            self.state_bytes = sums

    def completed(self):
        return self.checkpoints["counts"]["completed"]

    def restored(self):
        return self.checkpoints["counts"]["restored"]

    def history(self):
        return [c for c in self.checkpoints["history"] if c["status"] == "COMPLETED"]

    def uploaded(self):
        return sum(c["checkpointed_size"] for c in self.history())

    def records(self):
        return self._records_before + self._records_now

    def say(self):
        latest = self.history()
        where = "recovering" if self._recovering else self.date or "starting"
        print(
            f"  {time.monotonic() - self._began:5.0f} s  {where:10}"
            f"  {self.records():>9,} flights read  {self.completed():>3} checkpoints"
            f"  state {size(latest[0]['state_size'] if latest else 0)}"
            f", uploaded {size(self.uploaded())}",
            flush=True)

    def wait(self, until, interval=2.0, seconds=600):
        deadline = time.monotonic() + seconds
        while True:
            self.poll()
            self.say()
            if self.job_state == "FINISHED" or until(self):
                return
            if time.monotonic() > deadline:
                raise Failed(f"The job did not come this far in {seconds} s")
            time.sleep(interval)

    def operator_sizes(self):
        """Size of each operator's state in the last completed checkpoint."""
        latest = self.history()[0]["id"]
        details = self._cluster.get(f"/jobs/{self._job}/checkpoints/details/{latest}")
        names = {v["id"]: v["name"] for v in self._cluster.get(f"/jobs/{self._job}")["vertices"]}
        return {names[v]: t["state_size"] for v, t in details["tasks"].items()}


def output_of(directory):
    """The lines committed by the job, sorted."""
    lines = []
    for part in glob.glob(os.path.join(directory, "**", "part-*"), recursive=True):
        with open(part, encoding="utf-8") as f:
            lines += f.read().splitlines()
    return sorted(lines)


def run_with_failure(cluster, options):
    """The run on Lava, in which a TaskManager is killed."""
    output = os.path.join(options.work, "lava-output")
    print("Run 1: state in Lava, one TaskManager killed on the way", flush=True)
    job = cluster.submit(
        options.job_jar, JOB_CLASS, PARALLELISM, {},
        ["--data", options.data, "--output", "file://" + output, "--rate", str(options.rate)])
    run = Run(cluster, job)
    run.wait(lambda r: r.date >= KILL_AFTER_DATE and r.completed() >= KILL_AFTER_CHECKPOINTS)
    if run.job_state == "FINISHED":
        raise Failed("The job was over before its TaskManager could be killed")
    # A running metrics query would delay all later ones, and with them the output below.
    time.sleep(QUIET_SECONDS)
    cluster.kill("taskmanager-2")
    print("  -- killed taskmanager-2 (SIGKILL); starting taskmanager-3", flush=True)
    cluster.start_task_manager("taskmanager-3")
    time.sleep(QUIET_SECONDS)
    run.wait(lambda r: r.restored() > 0)
    if run.restored() == 0:
        raise Failed("The job finished without restoring a checkpoint")
    print(f"  -- restored checkpoint {run.checkpoints['latest']['restored']['id']}", flush=True)
    run.wait(lambda r: False)
    return run, output_of(output)


def run_for_comparison(cluster, options):
    output = os.path.join(options.work, "hashmap-output")
    print("Run 2: the same job with hashmap state and no failure, to compare", flush=True)
    job = cluster.submit(
        options.job_jar, JOB_CLASS, PARALLELISM, {"state.backend.type": "hashmap"},
        ["--data", options.data, "--output", "file://" + output])
    run = Run(cluster, job)
    run.wait(lambda r: False, interval=4.0)
    return run, output_of(output)


def compare(lines, expected, options):
    if len(expected) != DAYS * PLANES_A_DAY:
        raise Failed(
            f"{len(expected)} lines of output where {DAYS * PLANES_A_DAY} were expected")
    if lines == expected:
        return
    os.makedirs(options.keep, exist_ok=True)
    for name, content in (("lava", lines), ("hashmap", expected)):
        with open(os.path.join(options.keep, name + ".txt"), "w", encoding="utf-8") as f:
            f.write("".join(line + "\n" for line in content))
    differing = len(set(lines) ^ set(expected))
    raise Failed(
        f"The outputs differ in {differing} lines; both are kept in {options.keep}")


def summary(run, sizes, comparison, lines):
    print(f"\nThe outputs are equal: {len(lines):,} lines, the {PLANES_A_DAY} worst planes of each"
          f" of {DAYS} days. Among them:")
    worst = sorted(lines, key=lambda l: -int(re.search(r" (-?\d+) min late", l).group(1)))[:3]
    for line in worst:
        print("  " + line)
    print("\nSummary of the run on Lava")
    read = ", ".join(f"{n:,} of {name}" for name, n in comparison.sources.items())
    print(f"  records       {read};"
          f" {run.sources['flights']:,} of flights after the failure")
    print(f"  checkpoints   {run.completed()} completed, {run.restored()} restored")
    print(f"  uploaded      {size(run.uploaded())} in all;"
          f" the last checkpoint refers to {size(run.history()[0]['state_size'])}")
    print("  state in the last checkpoint, per operator")
    for name, n in sorted(sizes.items(), key=lambda item: -item[1]):
        print(f"    {size(n):>10}  {name}")
    if run.state_bytes:
        print("  state in the engine, per state")
        for (operator, state), n in sorted(run.state_bytes.items(), key=lambda item: -item[1]):
            print(f"    {size(n):>10}  {operator}: {state}")


def demo(options):
    line = f"state.backend.type: {options.backend}"
    if options.distribution:
        flink = DistributionFlink(options.plugin_jar, options.work, line)
    else:
        flink = MavenFlink(options.class_path, options.work, line)
    cluster = Cluster(flink, options.work, os.path.join(options.work, "logs"))
    print(f"Starting one JobManager and two TaskManagers of {flink.name}", flush=True)
    try:
        cluster.start(["taskmanager-1", "taskmanager-2"])
        run, lines = run_with_failure(cluster, options)
        sizes = run.operator_sizes()
        comparison, expected = run_for_comparison(cluster, options)
        compare(lines, expected, options)
        summary(run, sizes, comparison, lines)
        print()
    finally:
        cluster.stop()


def main():
    parser = argparse.ArgumentParser(prog="bin/demo")
    parser.add_argument("--distribution", action="store_true",
                        help="run on a real Flink distribution instead of Maven's class path")
    parser.add_argument("--rate", type=float, default=8000, help="flights a second [8000]")
    parser.add_argument("--backend", default="lava", help="state backend of the first run [lava]")
    parser.add_argument("--keep-logs", action="store_true",
                        help="keep the cluster's logs in target/demo, also when all went well")
    parser.add_argument("--class-path", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--job-jar", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--plugin-jar", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--data", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--keep", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()

    return run_command(demo, options, "lava-demo-")


if __name__ == "__main__":
    sys.exit(main())

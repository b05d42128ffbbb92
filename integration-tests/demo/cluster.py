# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""A small real cluster, started from a Flink of flink_home.py."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from processes import Processes, free_ports

SLOTS = 2


class Failed(Exception):
    """Ends a run, with the reason."""


class Cluster:
    """A JobManager and TaskManagers, as processes, and the JobManager's REST interface."""

    def __init__(self, flink, work, logs, options=None):
        self._flink = flink
        self._work = work
        self._processes = Processes(logs)
        self._rest_port, self._rpc_port = free_ports(2)
        self._options = {
            "jobmanager.rpc.address": "localhost",
            "jobmanager.rpc.port": self._rpc_port,
            "rest.address": "localhost",
            "rest.port": self._rest_port,
            "rest.bind-port": self._rest_port,
            "taskmanager.host": "localhost",
            "taskmanager.bind-host": "localhost",
            "taskmanager.numberOfTaskSlots": SLOTS,
            "io.tmp.dirs": os.path.join(work, "tmp"),
            "execution.checkpointing.dir": "file://" + os.path.join(work, "checkpoints"),
            "restart-strategy.type": "fixed-delay",
            "restart-strategy.fixed-delay.attempts": 10,
            "restart-strategy.fixed-delay.delay": "1s",
            "heartbeat.interval": "1s",
            "heartbeat.timeout": "8s",
            "metrics.fetcher.update-interval": "1s",
            # Also limits how long the JobManager waits for metrics of a TaskManager that has just
            # died.
            "web.timeout": 20000,
            "web.checkpoints.history": 10000,
            **(options or {}),
        }
        os.makedirs(os.path.join(work, "tmp"))

    def start(self, task_managers):
        self.start_job_manager()
        for name in task_managers:
            self.start_task_manager(name)
        self.wait_for_slots(len(task_managers) * SLOTS)

    def wait_for_slots(self, count):
        self.wait_for(
            lambda: self.get("/overview")["slots-total"] == count, 180, f"{count} slots")

    def start_other(self, name, command):
        """Starts a process that belongs to the cluster, like Flink's own processes."""
        return self._processes.start(name, command, self._flink.environment)

    def start_job_manager(self, name="jobmanager", environment=None):
        return self._processes.start(
            name, self._flink.job_manager(self._options),
            {**self._flink.environment, **(environment or {})})

    def start_task_manager(self, name, options=None, environment=None):
        return self._processes.start(
            name, self._flink.task_manager({**self._options, **(options or {})}),
            {**self._flink.environment, **(environment or {})})

    def kill(self, name):
        self._processes.kill(name)

    def paused(self, name):
        return self._processes.paused(name)

    def log_size(self, name):
        return self._processes.log_size(name)

    def log_between(self, name, begin, end=None):
        return self._processes.log_between(name, begin, end)

    def stop(self):
        self._processes.stop_all()

    def check_processes(self):
        ended = self._processes.ended()
        if ended:
            raise Failed(f"A process of the cluster ended by itself: {ended}")
        self.check_crashes()

    def check_crashes(self):
        reports = self._processes.crash_reports()
        if reports:
            raise Failed(f"A JVM crashed: {reports}")

    def wait_for(self, condition, seconds, what):
        deadline = time.monotonic() + seconds
        while True:
            self.check_processes()
            try:
                if condition():
                    return
            except (urllib.error.URLError, OSError):
                pass  # Not listening yet.
            if time.monotonic() > deadline:
                raise Failed(f"Waited {seconds} s for {what}")
            time.sleep(0.3)

    def get(self, path):
        url = f"http://localhost:{self._rest_port}{path}"
        with urllib.request.urlopen(url, timeout=10) as response:
            return json.load(response)

    def send(self, method, path, body):
        """Sends JSON and returns the JSON of the response."""
        request = urllib.request.Request(
            f"http://localhost:{self._rest_port}{path}", json.dumps(body).encode(),
            {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.loads(response.read() or b"{}")

    def submit(self, jar, job_class, parallelism, options, arguments):
        """Submits the job and returns its id."""
        command = self._flink.client() + ["run", "-d", "-p", str(parallelism)]
        for key, value in {**self._options, **options}.items():
            if key.startswith(("rest.", "jobmanager.rpc.", "high-availability")) or key in options:
                command.append(f"-D{key}={value}")
        command += ["-c", job_class, jar] + arguments
        result = subprocess.run(
            command, env=self._flink.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, check=False)
        found = re.search(r"JobID ([0-9a-f]{32})", result.stdout)
        if not found:
            raise Failed("Could not submit the job:\n" + result.stdout + result.stderr)
        return found.group(1)


def keep_logs(options):
    logs = os.path.join(options.work, "logs")
    if os.path.isdir(logs):
        shutil.copytree(logs, os.path.join(options.keep, "logs"), dirs_exist_ok=True)


def run_command(run, options, prefix, hint="", limit_seconds=0):
    """Runs with a new directory options.work, which is removed at the end, also after Ctrl-C.
    Returns the exit code.

    Logs are kept in options.keep after a failure, or if options.keep_logs is set. A run that
    exceeds the limit, if there is one, fails and shows its state.
    """
    def stop(number, _frame):
        raise SystemExit(128 + number)

    def give_up(_number, _frame):
        raise Failed(f"Not done within {limit_seconds} s")

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(limit_seconds)

    shutil.rmtree(options.keep, ignore_errors=True)
    options.work = tempfile.mkdtemp(prefix=prefix)
    began = time.monotonic()
    try:
        run(options)
        print(f"Done in {time.monotonic() - began:.0f} s.")
        if options.keep_logs:
            keep_logs(options)
        return 0
    except (Failed, OSError, subprocess.CalledProcessError) as error:
        keep_logs(options)
        sys.stdout.flush()
        print(f"\nFailed after {time.monotonic() - began:.0f} s: {error}\n"
              f"{hint}The logs are in {options.keep}", file=sys.stderr)
        return 1
    finally:
        signal.alarm(0)
        shutil.rmtree(options.work, ignore_errors=True)

# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Child processes that never outlive the demo."""

import contextlib
import ctypes
import glob
import os
import random
import signal
import socket
import subprocess

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def ports_of_the_system():
    """The ports that the system assigns automatically."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as f:
        first, last = map(int, f.read().split())
    return range(first, last + 1)


def free_ports(count):
    """Unused ports that the system will not assign meanwhile: a restarted process of the cluster
    may need its port again after seconds, while other ports are assigned automatically.
    """
    system = ports_of_the_system()
    candidates = [port for port in range(10000, 65536) if port not in system]
    ports = []
    for port in random.SystemRandom().sample(candidates, len(candidates)):
        if len(ports) == count:
            break
        with socket.socket() as s:
            with contextlib.suppress(OSError):
                s.bind(("", port))
                ports.append(port)
    return ports


class Processes:
    """Starts processes with their output in files, and stops all of them."""

    def __init__(self, logs):
        self._logs = logs
        self._running = {}
        self._pids = []
        os.makedirs(logs, exist_ok=True)

    def start(self, name, command, environment):
        with open(os.path.join(self._logs, name + ".out"), "ab") as log:
            process = subprocess.Popen(
                command,
                env=environment,
                # A JVM writes its crash report to this directory.
                cwd=self._logs,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # A separate session: Ctrl-C reaches only the demo, which then stops this process.
                start_new_session=True,
                # If the demo itself is killed, this process is killed as well.
                preexec_fn=lambda: _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
            )
        self._running[name] = process
        self._pids.append(process.pid)
        return process.pid

    def kill(self, name):
        """Kills the process, like a crash."""
        process = self._running.pop(name)
        process.kill()
        process.wait()

    @contextlib.contextmanager
    def paused(self, name):
        """Suspends the process, like a machine that stalls."""
        process = self._running[name]
        process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            process.send_signal(signal.SIGCONT)

    def log_size(self, name):
        """Size of the output so far of processes with this name."""
        path = os.path.join(self._logs, name + ".out")
        return os.path.getsize(path) if os.path.exists(path) else 0

    def log_between(self, name, begin, end=None):
        """The output between two positions."""
        with open(os.path.join(self._logs, name + ".out"), "rb") as log:
            log.seek(begin)
            said = log.read() if end is None else log.read(end - begin)
        return said.decode(errors="replace")

    def ended(self):
        """Names and exit codes of processes that ended by themselves."""
        return {n: p.returncode for n, p in self._running.items() if p.poll() is not None}

    def crash_reports(self):
        """Crash reports of JVMs; in /tmp if they could not write to the logs' directory."""
        here = glob.glob(os.path.join(self._logs, "**", "hs_err_pid*.log"), recursive=True)
        return here + [path for path in (f"/tmp/hs_err_pid{pid}.log" for pid in self._pids)
                       if os.path.exists(path)]

    def stop_all(self):
        for process in self._running.values():
            if process.poll() is None:
                process.terminate()
        for process in self._running.values():
            try:
                process.wait(timeout=8)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()

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
    """Those that the system gives to whoever asks for any."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as f:
        first, last = map(int, f.read().split())
    return range(first, last + 1)


def free_ports(count):
    """Ports that nothing listens on now, and that the system gives to nobody meanwhile: a process of
    the cluster may need one again after seconds, and others of its own ports are just any."""
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
                # Where a JVM that crashes says so.
                cwd=self._logs,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # A session of its own: Ctrl-C reaches only the demo, which then stops this one.
                start_new_session=True,
                # And should the demo itself be killed, this one goes too.
                preexec_fn=lambda: _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL),
            )
        self._running[name] = process
        self._pids.append(process.pid)
        return process.pid

    def kill(self, name):
        """As a crash would."""
        process = self._running.pop(name)
        process.kill()
        process.wait()

    @contextlib.contextmanager
    def paused(self, name):
        """As long as this lasts the process gets no time, as on a machine that stalls."""
        process = self._running[name]
        process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            process.send_signal(signal.SIGCONT)

    def log_size(self, name):
        """How much a process of this name has said so far."""
        path = os.path.join(self._logs, name + ".out")
        return os.path.getsize(path) if os.path.exists(path) else 0

    def log_between(self, name, begin, end=None):
        """What it said from there to there."""
        with open(os.path.join(self._logs, name + ".out"), "rb") as log:
            log.seek(begin)
            said = log.read() if end is None else log.read(end - begin)
        return said.decode(errors="replace")

    def ended(self):
        """Names of those that ended by themselves, with their exit codes."""
        return {n: p.returncode for n, p in self._running.items() if p.poll() is not None}

    def crash_reports(self):
        """Files in which JVMs say how they crashed; in /tmp where they could not write here."""
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

# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Makes storage slow or full for a while, with storage_fault.c preloaded into processes."""

import contextlib
import os
import shutil
import struct
import subprocess
import time
from dataclasses import dataclass

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "storage_fault.c")

# In the order of the numbers in storage_fault.c.
KINDS = ("full", "slow", "short")
CALLS = ("write", "create", "sync")
MAX_TARGETS = 4
COUNTS = struct.Struct(f"={MAX_TARGETS * len(KINDS) * len(CALLS)}Q")

# The TaskManager's working directory, with the engine's files and local backups; and the storage
# shared by all processes. In the order of the counts.
TARGETS = ("local", "checkpoints")

SLOW_MS = (5, 50)
SECONDS = (0.3, 3.0)
# Maximum time that a fault stays on until calls meet it.
GRACE_SECONDS = 4


@dataclass(frozen=True)
class Fault:
    """The kind of fault, the storage, the processes and the duration."""

    kind: str
    target: str
    everywhere: bool
    seconds: float
    slow_ms: int

    def control(self):
        return f"slow {self.slow_ms}" if self.kind == "slow" else self.kind

    def __str__(self):
        return f"{self.target} storage {self.control()}{' ms' if self.kind == 'slow' else ''}"


class Deck:
    """Faults in an order determined by the seed: all kinds occur before one occurs again, and the
    second time with the other target.
    """

    def __init__(self, random):
        self._random = random
        self._coming = []

    def next(self):
        if not self._coming:
            first = {kind: self._random.choice(TARGETS) for kind in KINDS}
            for again in (False, True):
                for kind in self._random.sample(KINDS, len(KINDS)):
                    self._coming.append(
                        (kind, TARGETS[(TARGETS.index(first[kind]) + again) % len(TARGETS)]))
        return self.fault(*self._coming.pop(0))

    def fault(self, kind, target):
        return Fault(kind, target, self._random.random() < 0.5,
                     self._random.uniform(*SECONDS), self._random.randint(*SLOW_MS))


def compile_library(directory):
    """Builds storage_fault.c; returns the library's path."""
    library = os.path.join(directory, "storage_fault.so")
    subprocess.run(
        [shutil.which("cc") or "gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror",
         "-U_FORTIFY_SOURCE", "-o", library, SOURCE],
        check=True)
    return library


class StorageFaults:
    """Switches faults on and off in processes, and counts the calls that met them."""

    def __init__(self, work):
        self._controls = os.path.join(os.path.realpath(work), "faults")
        os.makedirs(self._controls)
        self._library = compile_library(self._controls)
        self._met_before = 0
        # Number of faults of each kind and target that met calls.
        self.struck = {(kind, target): 0 for kind in KINDS for target in TARGETS}

    def environment(self, process, directories):
        """The environment for a process with this name; directories by target."""
        control = os.path.join(self._controls, process)
        os.makedirs(control, exist_ok=True)
        self._clear(control)
        targets = ":".join(
            f"{name}={os.path.realpath(directories[name])}" for name in TARGETS)
        return {
            "LD_PRELOAD": self._library,
            "LAVA_FAULT_CONTROL": control,
            "LAVA_FAULT_TARGETS": targets,
        }

    @contextlib.contextmanager
    def on(self, fault, processes):
        """Switches the fault on for these processes; a process that starts later does not meet it.
        """
        self._met_before = self.met(fault)
        began = time.monotonic()
        self._switch_on(fault, processes)
        try:
            yield
        finally:
            self._switch_off()
        took = time.monotonic() - began
        met = self.met(fault) - self._met_before
        self.struck[fault.kind, fault.target] += met > 0
        print(f"  fault: {fault} for {', '.join(processes)}; {took:.1f} s, {met} calls met it",
              flush=True)

    def wait_until_met(self, fault):
        """Waits until the current fault has struck, within limits."""
        deadline = time.monotonic() + GRACE_SECONDS
        while self.met(fault) == self._met_before and time.monotonic() < deadline:
            time.sleep(0.05)

    def _switch_on(self, fault, processes):
        for process in processes:
            path = os.path.join(self._controls, process, fault.target)
            # Renamed when complete, because processes may read it at any time.
            with open(path + ".new", "w", encoding="utf-8") as f:
                f.write(fault.control())
            os.rename(path + ".new", path)

    def _switch_off(self):
        for process in os.listdir(self._controls):
            self._clear(os.path.join(self._controls, process))

    @staticmethod
    def _clear(control):
        for target in TARGETS:
            path = os.path.join(control, target)
            if os.path.exists(path):
                os.remove(path)

    def calls(self):
        """Number of calls that met each kind, by (kind, target, call), over all processes so far.
        """
        sums = {}
        for process in os.listdir(self._controls):
            path = os.path.join(self._controls, process, "counts")
            if not os.path.exists(path):
                continue  # The library itself, or a process that only starts.
            with open(path, "rb") as f:
                content = f.read()
            if len(content) != COUNTS.size:
                continue
            numbers = iter(COUNTS.unpack(content))
            for target in range(MAX_TARGETS):
                for kind in KINDS:
                    for call in CALLS:
                        n = next(numbers)
                        if target < len(TARGETS):
                            key = (kind, TARGETS[target], call)
                            sums[key] = sums.get(key, 0) + n
        return sums

    def met(self, fault):
        """Number of calls that ever met a fault of this kind and target."""
        return sum(n for key, n in self.calls().items() if key[:2] == (fault.kind, fault.target))

    def struck_count(self):
        return sum(self.struck.values())

    def missing(self):
        """Kinds that never struck."""
        return [kind for kind in KINDS
                if not any(self.struck[kind, target] for target in TARGETS)]

    def summary(self):
        """A line about each kind and target."""
        calls = self.calls()
        lines = []
        for (kind, target), struck in self.struck.items():
            met = ", ".join(f"{calls.get((kind, target, call), 0):,} {call}s" for call in CALLS
                            if calls.get((kind, target, call)))
            lines.append(
                f"  {target} storage {kind} struck {struck} times, met by {met or 'no call'}")
        return lines

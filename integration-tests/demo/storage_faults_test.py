# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Tests storage_fault.c in a small process: each kind of fault is met, and only where requested."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from random import Random

from storage_faults import KINDS, TARGETS, Deck, Fault, StorageFaults

SLOW_MS = 40
# Longer than the interval at which the library reads its control file.
LOOK_SECONDS = 0.1

# Executes the commands on its standard input, one per line; answers with the result or errno's
# name.
WORKER = """
import errno, os, sys
files = {}
def file(path):
    if path not in files:
        files[path] = os.open(path, os.O_CREAT | os.O_RDWR)
    return files[path]
calls = {
    "create": file,
    "reopen": lambda path: os.close(os.open(path, os.O_CREAT | os.O_RDWR)),
    "write": lambda path: os.write(file(path), bytes(100)),
    "pwrite": lambda path: os.pwrite(file(path), bytes(100), 0),
    "writev": lambda path: os.writev(file(path), [bytes(60), bytes(40)]),
    "allocate": lambda path: os.posix_fallocate(file(path), 0, 100),
    "sync": lambda path: os.fsync(file(path)),
    "datasync": lambda path: os.fdatasync(file(path)),
    "mkdir": os.mkdir,
    "enter": os.chdir,
    "remove": os.remove,
}
for line in sys.stdin:
    call, path = line.split()
    try:
        print(calls[call](path), flush=True)
    except OSError as error:
        print(errno.errorcode[error.errno], flush=True)
"""
WRITES = ("write", "pwrite", "writev")


def fault(kind, target):
    return Fault(kind, target, everywhere=False, seconds=0, slow_ms=SLOW_MS)


class StorageFaultsTest(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        # The targets lie beside each other, so that one is no prefix of a path by accident.
        self.work = os.path.realpath(work.name)
        directories = {name: os.path.join(self.work, name) for name in TARGETS}
        for directory in list(directories.values()) + [os.path.join(self.work, "local-not")]:
            os.mkdir(directory)
        self.faults = StorageFaults(self.work)
        self.worker = subprocess.Popen(
            [sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env={**os.environ, **self.faults.environment("worker", directories)})
        self.addCleanup(self.worker.stdout.close)
        self.addCleanup(self.worker.wait)
        self.addCleanup(self.worker.stdin.close)

    def ask(self, call, path):
        return self.tell(f"{call} {os.path.join(self.work, path)}")

    def tell(self, line):
        self.worker.stdin.write(line + "\n")
        self.worker.stdin.flush()
        return self.worker.stdout.readline().strip()

    def on(self, kind, target="local"):
        """For as long as a with statement; the worker has seen it when that begins."""
        return Seen(self.faults.on(fault(kind, target), ["worker"]))

    def seconds(self, call, path):
        began = time.monotonic()
        self.ask(call, path)
        return time.monotonic() - began

    def met(self, kind, target="local"):
        return self.faults.met(fault(kind, target))

    def assert_works(self, directory):
        path = os.path.join(directory, f"file-{time.monotonic_ns()}")
        self.assertEqual(self.ask("mkdir", path + ".directory"), "None")
        for call in WRITES:
            self.assertEqual(self.ask(call, path), "100", call)
        for call in ("allocate", "sync", "datasync"):
            self.assertEqual(self.ask(call, path), "None", call)

    def test_off(self):
        self.assert_works("local")
        self.assertEqual(set(self.faults.calls().values()), {0})
        self.assertEqual(self.faults.missing(), list(KINDS))

    def test_full(self):
        self.ask("create", "local/old")
        with self.on("full"):
            for call in WRITES + ("allocate",):
                self.assertEqual(self.ask(call, "local/old"), "ENOSPC", call)
            self.assertEqual(self.ask("create", "local/new"), "ENOSPC")
            self.assertEqual(self.ask("mkdir", "local/directory"), "ENOSPC")
            self.assertFalse(os.path.exists(os.path.join(self.work, "local/new")))
            # Calls that need no space.
            self.assertEqual(self.ask("reopen", "local/old"), "None")
            self.assertEqual(self.ask("sync", "local/old"), "None")
            self.assertEqual(self.met("full"), 6)
            calls = self.faults.calls()
            self.assertEqual([calls["full", "local", c] for c in ("write", "create", "sync")],
                             [4, 2, 0])
            self.assertEqual(self.ask("remove", "local/old"), "None")
            self.assertEqual(self.ask("write", "local/old"), "ENOSPC")
        self.assert_works("local")
        self.assertEqual(self.faults.struck["full", "local"], 1)
        self.assertEqual(self.faults.missing(), ["slow", "short"])

    def test_full_by_a_path_that_is_not_absolute(self):
        self.ask("enter", "local")
        with self.on("full"):
            self.assertEqual(self.tell("create new"), "ENOSPC")
            self.assertEqual(self.tell("create ../new"), "3")

    def test_short(self):
        for call in WRITES:
            with self.subTest(call), self.on("short"):
                path = "local/" + call
                self.assertEqual(self.ask(call, path), "50")
                self.assertEqual(self.ask(call, path), "ENOSPC")
                self.assertEqual(self.ask(call, path), "50")
                self.assertEqual(os.path.getsize(os.path.join(self.work, path)),
                                 50 if call == "pwrite" else 100)
        self.assert_works("local")
        self.assertEqual(self.met("short"), 3 * len(WRITES))

    def test_slow(self):
        self.ask("create", "local/file")
        with self.on("slow"):
            for call in WRITES + ("allocate", "sync", "datasync"):
                self.assertGreaterEqual(self.seconds(call, "local/file"), SLOW_MS / 1000, call)
            self.assertGreaterEqual(self.seconds("create", "local/new"), SLOW_MS / 1000)
            self.assertEqual(self.ask("write", "local/file"), "100")
            self.assertEqual(self.met("slow"), 8)
        self.assert_works("local")
        self.assertEqual(self.met("slow"), 8)

    def test_nothing_else_is_touched(self):
        for kind in KINDS:
            with self.subTest(kind), self.on(kind):
                for directory in ("checkpoints", "local-not", "."):
                    self.assert_works(directory)
        self.assertEqual(set(self.faults.calls().values()), {0})

    def test_other_target(self):
        with self.on("full", "checkpoints"):
            self.assert_works("local")
            self.assertEqual(self.ask("create", "checkpoints/new"), "ENOSPC")
        self.assertEqual(self.met("full", "checkpoints"), 1)
        self.assertEqual(self.met("full"), 0)

    def test_counts_outlive_a_kill(self):
        with self.on("full"):
            self.ask("create", "local/new")
            self.worker.kill()
            self.worker.wait()
        self.assertEqual(self.met("full"), 1)


class Seen:
    """Waits until the library has noticed a fault that is on."""

    def __init__(self, fault):
        self._fault = fault

    def __enter__(self):
        self._fault.__enter__()
        time.sleep(LOOK_SECONDS)

    def __exit__(self, *error):
        self._fault.__exit__(*error)
        time.sleep(LOOK_SECONDS)


class DeckTest(unittest.TestCase):
    def test_all_kinds_first_and_all_targets_then(self):
        for seed in range(20):
            deck = Deck(Random(seed))
            for _ in range(3):
                faults = [deck.next() for _ in range(len(KINDS) * len(TARGETS))]
                self.assertEqual({fault.kind for fault in faults[:len(KINDS)]}, set(KINDS))
                self.assertEqual(len({(fault.kind, fault.target) for fault in faults}),
                                 len(faults))

    def test_seed_decides(self):
        first, same, other = (
            [deck.next() for _ in range(6)] for deck in map(Deck, map(Random, (1, 1, 2))))
        self.assertEqual(first, same)
        self.assertNotEqual(first, other)


if __name__ == "__main__":
    unittest.main(buffer=True)

# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Tests the reaction of kills.py to wrong outputs and to crashes; and its faults."""

import argparse
import contextlib
import io
import os
import random
import re
import socket
import subprocess
import tempfile
import time
import unittest
from unittest import mock

import kills
from cluster import Failed, run_command
from kills_plan import Configuration, Kind, Kinds, configuration, seeds
from local_copies import restores_of_left_copies
from output_check import check
from processes import free_ports, ports_of_the_system
from processes import Processes
# Runs these tests, too.
from storage_faults_test import DeckTest, StorageFaultsTest  # pylint: disable=unused-import

NUMBERS = 8
KEYS = 3


class PortsTest(unittest.TestCase):
    def test_nobody_is_given_them_meanwhile(self):
        ports = free_ports(5)
        self.assertEqual(len(set(ports)), 5)
        self.assertFalse(set(ports) & set(ports_of_the_system()))

    def test_one_that_is_taken_is_not_free(self):
        with socket.socket() as taken:
            taken.bind(("", free_ports(1)[0]))
            candidates = len([p for p in range(10000, 65536) if p not in ports_of_the_system()])
            self.assertNotIn(taken.getsockname()[1], free_ports(candidates))


class CheckTest(unittest.TestCase):
    def setUp(self):
        self.lines = [f"{n % KEYS} {n // KEYS}" for n in range(NUMBERS)]
        self.lines += ["0 3 3", "1 3 3", "2 2 2"]

    def check(self):
        with tempfile.TemporaryDirectory() as directory:
            os.mkdir(os.path.join(directory, "some-bucket"))
            middle = len(self.lines) // 2
            for name, lines in (("part-1", self.lines[:middle]), ("part-2", self.lines[middle:])):
                path = os.path.join(directory, "some-bucket", name)
                with open(path, "w", encoding="utf-8") as f:
                    f.writelines(line + "\n" for line in lines)
            return check(directory, KEYS)

    def test_all_there_once(self):
        self.assertEqual(self.check(), NUMBERS)

    def test_repeated(self):
        self.lines.append("1 1")
        self.assertRaisesRegex(Failed, "Key 1 has its place 1 twice", self.check)

    def test_gap(self):
        self.lines.remove("1 1")
        self.assertRaisesRegex(Failed, "Key 1 lacks its place 1 of 3", self.check)

    def test_last_place_lost(self):
        self.lines.remove("0 2")
        self.assertRaisesRegex(Failed, "Key 0 has 2 places", self.check)

    def test_count_differs(self):
        self.lines[self.lines.index("1 3 3")] = "1 2 3"
        self.assertRaisesRegex(Failed, r"Key 1 has 3 places.*\[2, 3\]", self.check)

    def test_timer_lost(self):
        self.lines[self.lines.index("1 3 3")] = "1 3 2"
        self.assertRaisesRegex(Failed, r"Key 1 has 3 places.*\[3, 2\]", self.check)

    def test_key_without_end(self):
        self.lines.remove("2 2 2")
        self.assertRaisesRegex(Failed, "Key 2 has 2 places.*None", self.check)

    def test_key_that_ends_twice(self):
        self.lines.append("2 2 2")
        self.assertRaisesRegex(Failed, "Key 2 ended twice", self.check)


class ClosingTest(unittest.TestCase):
    def test_counts_are_lines_of_their_own(self):
        lines = kills.closing_counts({"kills": 5, "records checked exactly once": 1234567})
        self.assertEqual(lines, ["COUNT 5 kills", "COUNT 1234567 records checked exactly once"])


class PlanTest(unittest.TestCase):
    def test_the_seed_says_the_configuration(self):
        self.assertEqual(configuration(7), configuration(7))
        self.assertEqual(len({configuration(seed) for seed in range(800)}), 96)

    def test_seeds_for_several_runs_meet_all_combinations(self):
        for base in range(1, 400):
            chosen = seeds(5, base)
            self.assertEqual(len(set(chosen)), 5)
            drawn = [configuration(seed) for seed in chosen]
            self.assertEqual(len({each.ways() for each in drawn}), 4, base)
            self.assertEqual(len({(each.lava_fs, each.unaligned) for each in drawn}), 4, base)
            self.assertEqual(len({(each.lava_fs, each.local_recovery) for each in drawn}), 4, base)
        self.assertFalse(set(seeds(5, 8)) & set(seeds(5, 9)))

    def test_all_kinds_come_before_one_comes_again(self):
        kinds = Kinds(random.Random(3))
        for _ in range(3):
            self.assertEqual({kinds.next() for _ in Kind}, set(Kind))

    def test_the_seed_of_each_change_recovers_locally(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../bin/test")
        with open(script, encoding="utf-8") as f:
            seed = int(re.search(r"kill_processes kills-5 (\d+) 5;", f.read())[1])
        self.assertEqual(configuration(seed), Configuration(True, True, 64, False, False, True))


class LocalCopiesTest(unittest.TestCase):
    HEAD = "06:00:00,000 DEBUG restorer - "
    RESTORE = HEAD + ("Creating keyed state backend for Check_1_(2/6) and restoring with state"
                      " from alternative (1/2).\n")
    REMOTE = RESTORE.replace("(1/2)", "(2/2)")
    ONLY = RESTORE.replace("(1/2)", "(1/1)")
    STORED = HEAD + "Stored local state for checkpoint 7 in subtask (a - b - 1)\n"
    FAILED = HEAD + ("Exception while restoring keyed state backend for Check_1_(2/6) from"
                     " alternative (1/2), will retry while more alternatives are available.\n")

    def test_local_ones_count_until_the_process_has_its_own(self):
        for expected, log in (
                (0, ""), (1, self.RESTORE), (2, "start\n" + 2 * self.RESTORE),
                (1, self.RESTORE + self.STORED + self.RESTORE), (0, self.STORED + self.RESTORE),
                (0, self.RESTORE + self.FAILED + self.REMOTE), (0, self.ONLY + self.REMOTE),
                (0, self.RESTORE.replace("keyed", "operator"))):
            self.assertEqual(restores_of_left_copies(log), expected, log)


class PausedTest(unittest.TestCase):
    def test_a_paused_process_says_nothing_and_goes_on(self):
        with tempfile.TemporaryDirectory() as logs:
            processes = Processes(logs)
            processes.start("ticks", ["sh", "-c", "while :; do echo tick; sleep 0.01; done"],
                            dict(os.environ))
            try:
                while processes.log_size("ticks") == 0:
                    pass
                with processes.paused("ticks"):
                    time.sleep(0.1)
                    said = processes.log_size("ticks")
                    time.sleep(0.2)
                    self.assertEqual(processes.log_size("ticks"), said)
                while processes.log_size("ticks") == said:
                    pass
                self.assertEqual(processes.log_between("ticks", said, said + 5), "tick\n")
                with processes.paused("ticks"):
                    processes.kill("ticks")
            finally:
                processes.stop_all()


class JobStateTest(unittest.TestCase):
    def vertices(self, state):
        class Cluster:
            @staticmethod
            def get(path):
                return {} if path.endswith("exceptions") else {"state": state, "vertices": []}

        victims = object.__new__(kills.Victims)
        victims._cluster = Cluster()  # pylint: disable=protected-access
        victims._job = "a1"  # pylint: disable=protected-access
        return victims._vertices()  # pylint: disable=protected-access

    def test_suspended_job_is_waited_for(self):
        for state in ("SUSPENDED", "RESTARTING", "INITIALIZING", "RECONCILING"):
            self.assertIsNone(self.vertices(state))
        self.assertEqual(self.vertices("RUNNING"), [])

    def test_ended_job_is_told(self):
        for state in ("FAILED", "FINISHED", "CANCELED"):
            self.assertRaisesRegex(Failed, f"ended as {state}", self.vertices, state)


class WentOnTest(unittest.TestCase):
    """Regression (kills-long, seed 20782004): checkpoints completed before a kill were taken for a
    recovery from it.
    """

    # pylint: disable=protected-access
    class Cluster:
        """Running, according to a JobManager that has not noticed the kill yet."""

        def __init__(self):
            self.completed = 0
            self.killed = []

        def get(self, path):
            vertex = {"name": "sequence-check", "id": "b2", "status": "RUNNING", "parallelism": 2,
                      "tasks": {"RUNNING": 2}}
            if path.endswith("checkpoints"):
                return {"latest": {"completed": {"id": self.completed}, "restored": None}}
            if path.endswith("metrics"):
                return []
            return {"state": "RUNNING", "vertices": [vertex]}

        def kill(self, name):
            self.killed.append(name)

    def test_checkpoints_from_before_a_kill_do_not_count(self):
        victims = object.__new__(kills.Victims)
        victims._cluster = cluster = self.Cluster()
        victims._job, victims._last_checkpoint = "a1", 95
        victims.parallelisms, victims.restored, victims.kinds = set(), set(), []
        victims.lava_seen = False
        victims._task_managers = ["taskmanager-8"]
        victims._random = random.Random(1)
        victims._start_task_manager = lambda name: None
        with mock.patch("time.sleep"):
            cluster.completed = 104
            victims._kill(Kind.TASK_MANAGER)
            self.assertEqual(cluster.killed, ["taskmanager-8"])
            self.assertFalse(victims._went_on())
            cluster.completed = 105  # one may have been on its way
            self.assertFalse(victims._went_on())
            cluster.completed = 106
            self.assertTrue(victims._went_on())


class CrashTest(unittest.TestCase):
    def test_crash_report_is_found_where_processes_run(self):
        with tempfile.TemporaryDirectory() as logs:
            processes = Processes(logs)
            self.assertEqual(processes.crash_reports(), [])
            processes.start("crash", ["sh", "-c", "echo > hs_err_pid$$.log"], dict(os.environ))
            while not processes.ended():
                pass
            self.assertEqual([os.path.dirname(p) for p in processes.crash_reports()], [logs])


class LimitTest(unittest.TestCase):
    def test_what_never_ends_is_given_up_and_says_so(self):
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as keep, contextlib.redirect_stderr(said):
            options = argparse.Namespace(keep=keep, keep_logs=False)

            def never_ends(options):
                os.mkdir(os.path.join(options.work, "logs"))
                while True:
                    subprocess.run(["sleep", "60"], check=True)

            self.assertEqual(run_command(never_ends, options, "lava-limit-", limit_seconds=1), 1)
            self.assertIn("Not done within 1 s", said.getvalue())
            self.assertTrue(os.path.isdir(os.path.join(keep, "logs")))
            self.assertFalse(os.path.exists(options.work))


if __name__ == "__main__":
    unittest.main(buffer=True)

"""What kills.py makes of outputs that are not as they must be, and of crashes; and its faults."""

import os
import tempfile
import unittest

import kills
from cluster import Failed
from output_check import check
from processes import Processes
# Run with these.
from storage_faults_test import DeckTest, StorageFaultsTest  # pylint: disable=unused-import

NUMBERS = 8
KEYS = 3


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
        lines = kills.closing_counts(5, 6, 1234567)
        self.assertEqual(lines, [
            "COUNT 5 kills", "COUNT 6 storage faults struck",
            "COUNT 1234567 records checked exactly once"])


class CrashTest(unittest.TestCase):
    def test_crash_report_is_found_where_processes_run(self):
        with tempfile.TemporaryDirectory() as logs:
            processes = Processes(logs)
            self.assertEqual(processes.crash_reports(), [])
            processes.start("crash", ["sh", "-c", "echo > hs_err_pid$$.log"], dict(os.environ))
            while not processes.ended():
                pass
            self.assertEqual([os.path.dirname(p) for p in processes.crash_reports()], [logs])


if __name__ == "__main__":
    unittest.main(buffer=True)

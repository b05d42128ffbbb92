"""What kills.py makes of outputs that are not as they must be."""

import os
import tempfile
import unittest

import kills
from cluster import Failed

NUMBERS = 8
KEYS = 3


class CheckTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(setattr, kills, "KEYS", kills.KEYS)
        kills.KEYS = KEYS
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
            return kills.check(directory)

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


if __name__ == "__main__":
    unittest.main()

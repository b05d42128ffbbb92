#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Tests that floors.py detects each kind of step with too little work."""

import contextlib
import io
import pathlib
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import floors  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
FLOORS = [("step", "things", 10), ("step", "others", 1), ("step", "others", "things")]


class FloorsTest(unittest.TestCase):
    def findings(self, files, wanted=None):
        with tempfile.TemporaryDirectory() as directory:
            for name, text in files.items():
                (pathlib.Path(directory) / name).write_text(text)
            return floors.too_low(pathlib.Path(directory), wanted or FLOORS)

    def test_reached(self):
        self.assertEqual(self.findings({"step.log": "COUNT 10 things\nCOUNT 10 others\n"}), [])

    def test_lines_of_ctest_and_of_several_processes_are_summed(self):
        self.assertEqual(self.findings({
            "step-0.log": "12: COUNT 4 things\nabc\nCOUNT 5 others\n",
            "step-1.log": "COUNT 6 things\nCOUNT 5 others\n"}), [])

    def test_too_few(self):
        self.assertEqual(
            self.findings({"step.log": "COUNT 9 things\nCOUNT 9 others\n"}),
            ["step: 9 things; at least 10 are due"])

    def test_a_line_that_was_lost(self):
        for text in ("COUNT 10 things", "COUNT 10 things\nCOUNT  others", "COUNT 10 things\n"
                     "it said COUNT 10 others"):
            found = self.findings({"step.log": text})
            self.assertEqual(found[0], "step: no COUNT of others; at least 1 are due")
            self.assertEqual(len(found), 2)

    def test_fewer_than_another_count(self):
        self.assertEqual(
            self.findings({"step.log": "COUNT 12 things\nCOUNT 11 others\n"}),
            ["step: 11 others; at least things are due"])
        self.assertEqual(len(self.findings({"step.log": "COUNT 11 others\n"})), 2)

    def test_a_step_without_a_log(self):
        self.assertEqual(len(self.findings({})), 3)

    def test_another_steps_log_counts_for_nothing(self):
        enough = "COUNT 10 things\nCOUNT 10 others\n"
        for name in ("step-long.log", "other-step.log", "step.log.build", "step-long-0.log"):
            self.assertEqual(len(self.findings({name: enough})), 3, name)

    def test_exit_codes(self):
        with tempfile.TemporaryDirectory() as logs:
            for wanted, arguments in ((1, [logs]), (1, ["--long", logs])):
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    self.assertEqual(floors.main(arguments), wanted)
                self.assertRegex(out.getvalue(), r"\n0 of \d+ floors reached\n$")
            lines = {}
            for step, what, least in floors.FLOORS:
                lines.setdefault(step, []).append(f"COUNT {least} {what}\n")
            for step, said in lines.items():
                pathlib.Path(logs, step + ".log").write_text("".join(said))
            with contextlib.redirect_stdout(io.StringIO()):
                self.assertEqual(floors.main([logs]), 0)
                self.assertEqual(floors.main(["--long", logs]), 1)


class TableTest(unittest.TestCase):
    """The table is complete."""

    def test_every_parser_with_a_fuzzer(self):
        corpora = sorted(path.name for path in (ROOT / "native/fuzz/corpus").iterdir())
        self.assertEqual(sorted(floors.EXECUTIONS), corpora)
        script = (ROOT / "native/fuzz/run.sh").read_text()
        run = re.search(r"^all=\((.*?)\)", script, re.M)[1]
        self.assertEqual(sorted(run.split()), corpora)

    def test_every_step_is_in_the_script(self):
        script = (ROOT / "bin/test").read_text()
        for step in {step for step, _, _ in floors.FLOORS + floors.LONG}:
            words = step.replace("native-", "native ")
            self.assertRegex(script, rf"(?m)^(?! *#).*\b{words}\b", step)


if __name__ == "__main__":
    unittest.main(buffer=True)

#!/usr/bin/env python3
# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Compares versions of the plugin in iteration over state that nobody writes meanwhile.

Usage: benchmarks/iteration.py [--processes N] [--rounds N] NAME=PLUGIN_JAR...
Each version has a process of its own (IterationRounds), and the processes take turns. What disturbs
a process adds CPU time and never takes any, so a process counts with the least of its rounds. Prints
the median, over fresh processes, of the ratio to the first version, with its quartiles, and the
bytes of heap that an entry takes. Needs target/lava-benchmarks-*.jar and target/class-path.txt,
which `mvn package -DskipTests` makes.
"""

import argparse
import pathlib
import statistics
import subprocess

TARGET = pathlib.Path(__file__).resolve().parent / "target"
OPENS = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED"
         for name in ("lang", "io", "net", "nio", "time", "util", "util.concurrent")]


class Version:
    """A process that measures one version of the plugin, once it is warm."""

    def __init__(self, jar):
        benchmarks = next(TARGET.glob("lava-benchmarks-*.jar"))
        class_path = (TARGET / "class-path.txt").read_text(encoding="utf-8").strip()
        self._process = subprocess.Popen(
            ["java", *OPENS, "-XX:+UseSerialGC", "-Xms1g", "-Xmx1g", "-cp",
             f"{jar}:{benchmarks}:{class_path}", "org.lavakv.bench.IterationRounds"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.cases = self._answer("cases")

    def round(self):
        """Nanoseconds and bytes an entry, of each case."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return [tuple(map(float, figures.split())) for figures in self._answer("round")]

    def end(self):
        self._process.communicate()

    def _answer(self, begin):
        for line in self._process.stdout:
            first, *others = line.rstrip("\n").split("\t")
            if first == begin:
                return others
        raise SystemExit("A process ended early")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=14)
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("versions", nargs="+", metavar="NAME=PLUGIN_JAR")
    options = parser.parse_args()
    jars = dict(version.split("=", 1) for version in options.versions)
    names = list(jars)
    least = {}  # by case and name: of each process nanoseconds and bytes
    for _ in range(options.processes):
        versions = {name: Version(jar) for name, jar in jars.items()}
        rounds = {name: [] for name in names}
        for number in range(options.rounds):
            turn = number % len(names)
            for name in names[turn:] + names[:turn]:
                rounds[name].append(versions[name].round())
        for name, version in versions.items():
            for case, figures in zip(version.cases, zip(*rounds[name])):
                least.setdefault(case, {}).setdefault(name, []).append(
                    tuple(map(min, zip(*figures))))
            version.end()
    for case, by_name in least.items():
        print(case)
        for name in names:
            nanos, heap = zip(*by_name[name])
            ratios = [mine / first for mine, (first, _) in zip(nanos, by_name[names[0]])]
            low, _, high = (statistics.quantiles(ratios, n=4, method="inclusive")
                            if len(ratios) > 1 else ratios * 3)
            print(f"  {name}: {statistics.median(nanos):.0f} ns, {statistics.median(heap):.0f} bytes"
                  f" an entry; ratio {statistics.median(ratios):.3f} ({low:.3f} to {high:.3f})")


if __name__ == "__main__":
    main()

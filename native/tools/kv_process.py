# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Runs the program of bin/bench kv and bin/bench diffkv once."""

import json
import pathlib
import shutil
import subprocess
import sys

from bench_build import build


def play(suite, engine, flags, phases, directory):
    """Runs one engine through the phases, whose keys are the names in reports. Returns its rows by
    these names, and its version.
    """
    place = pathlib.Path(directory) / "db"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(mode=0o700)
    program = str(build("kv_bench") / "bench" / "kv_bench")
    done = subprocess.run([program, engine, str(place)]
                          + [f"--{name}={value}" for name, value in flags.items()]
                          + list(phases.values()),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    shutil.rmtree(place, ignore_errors=True)
    if done.returncode != 0:
        sys.exit(f"bin/bench {suite}: {engine} failed: {done.stderr[-2000:]}")
    head, *rows = [json.loads(line) for line in done.stdout.splitlines()]
    if rows[-1]["files_refused_direct"] > 0:
        print("the file system refuses direct I/O: these figures are of the page cache",
              file=sys.stderr)
    return dict(zip(phases, rows)), head["version"]

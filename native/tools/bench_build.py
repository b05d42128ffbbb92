# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Builds the native benchmarks that bin/bench runs."""

import functools
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "native" / "target" / "bench"


@functools.cache
def build(target):
    """Builds a program; returns the build's directory."""
    BUILD.mkdir(parents=True, exist_ok=True)
    for command in (["cmake", "-S", ROOT / "native", "-B", BUILD, "-G", "Ninja", "-Wno-dev",
                     "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DLAVA_ROCKSDB=ON"],
                    ["cmake", "--build", BUILD, "--target", target]):
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            sys.exit("bin/bench: the benchmark does not build:\n" + done.stdout[-3000:])
    return BUILD

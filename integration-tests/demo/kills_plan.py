# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""The parts of a run of kills.py that its seed determines, except the faults; and seeds for several
runs.

kills_plan.py RUNS BASE: prints this many seeds, different for each base, that combine every way to
checkpoint with every way to recover, and each of these with every file system.
"""

import enum
import random
import sys
from dataclasses import dataclass

# Most of the job's values are small: with 64, half of them go to value files.
THRESHOLDS = (0, 1, 64)
SEEDS_A_BASE = 1000


@dataclass(frozen=True)
class Configuration:
    """The configuration of the cluster and of the job."""

    unaligned: bool
    local_recovery: bool
    threshold: int
    heap_timers: bool
    lava_fs: bool
    on_demand: bool

    def ways(self):
        return self.unaligned, self.local_recovery

    def __str__(self):
        return (f"checkpoints {'unaligned' if self.unaligned else 'aligned'}, recovery"
                f" {'local first' if self.local_recovery else 'remote'}, value separation from"
                f" {self.threshold}b, timers {'on the heap' if self.heap_timers else 'in Lava'}, files"
                f" {'in LavaFS volumes' if self.lava_fs else 'in directories'}, restored"
                f" {'on demand' if self.on_demand else 'before the job begins'}")


def configuration(seed):
    drawn = random.Random(f"configuration of {seed}")
    return Configuration(drawn.random() < 0.5, drawn.random() < 0.5, drawn.choice(THRESHOLDS),
                         drawn.random() < 0.5, drawn.random() < 0.5, drawn.random() < 0.5)


class Kind(enum.Enum):
    """Ways to kill."""

    TASK_MANAGER = "a TaskManager, another one comes"
    RETURNING = "a TaskManager, which comes back to its directory"
    JOB_MANAGER = "the JobManager"
    BOTH = "the JobManager and a TaskManager at once"
    AFTER_PAUSE = "a TaskManager, while another process stood still"


class Kinds:
    """Ways to kill in an order determined by the seed: all occur before one occurs again."""

    def __init__(self, drawn):
        self._random = drawn
        self._coming = []

    def next(self):
        if not self._coming:
            self._coming = self._random.sample(list(Kind), len(Kind))
        return self._coming.pop()


def seeds(runs, base):
    """The first seeds from base times 1000 on that each add a new combination, followed by any
    seeds when all combinations exist. The base determines the file system of each combination, so
    that both file systems meet both ways to checkpoint and both ways to recover.
    """
    chosen = []
    seen = set()
    for seed in range(base * SEEDS_A_BASE, (base + 1) * SEEDS_A_BASE):
        if len(chosen) == runs:
            break
        drawn = configuration(seed)
        ways = drawn.ways()
        paired = drawn.lava_fs == ((drawn.unaligned + drawn.local_recovery + base) % 2 == 0)
        if (ways not in seen and paired) or len(seen) == 4:
            seen.add(ways)
            chosen.append(seed)
    return chosen


if __name__ == "__main__":
    print(*seeds(int(sys.argv[1]), int(sys.argv[2])))

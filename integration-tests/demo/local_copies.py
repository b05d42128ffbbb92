# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Extracts events of local recovery from a TaskManager's log."""

import re

# The messages of Flink's classes TaskLocalStateStoreImpl and BackendRestorerProcedure. The first of
# several alternatives is the local one.
STORED = re.compile(r" - Stored local state for checkpoint ")
RESTORING = re.compile(
    r" - Creating keyed state backend .* from alternative \((\d+)/(\d+)\)")
FAILED = re.compile(r" - Exception while restoring keyed state backend .* from alternative \(1/")


def restores_of_left_copies(log):
    """Number of times that a process restored keyed state from local copies of an earlier process:
    it had not written any itself yet.
    """
    restores = 0
    for line in log.splitlines():
        if STORED.search(line):
            break
        if FAILED.search(line):
            restores -= 1
        elif (found := RESTORING.search(line)) and found[1] == "1" and int(found[2]) > 1:
            restores += 1
    return restores

"""What a TaskManager's log tells of local recovery."""

import re

# Flink's classes that say so: TaskLocalStateStoreImpl, BackendRestorerProcedure. Of several
# alternatives the first one is local.
STORED = re.compile(r" - Stored local state for checkpoint ")
RESTORING = re.compile(
    r" - Creating keyed state backend .* from alternative \((\d+)/(\d+)\)")
FAILED = re.compile(r" - Exception while restoring keyed state backend .* from alternative \(1/")


def restores_of_left_copies(log):
    """How often a process restored keyed state from local copies that it did not write itself: it
    had not written any yet, so a process before it did.
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

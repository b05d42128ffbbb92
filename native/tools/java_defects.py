# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""The defects that planted_defects.py plants in the plugin's Java sources.

Each text must occur exactly once in its file. When the plugin's code there changes, the defect must
be adapted.
"""

from defects import Defect

PLUGIN = "../flink-statebackend-lava/src/main/java/org/lavakv/flink/"


def in_plugin(name, file, old, new, tests=("programs",)):
    """A defect in a file of the plugin."""
    return Defect(name, PLUGIN + file, old, new, tests, flavour="java")


ITERATORS = ("iterators",)

JAVA_DEFECTS = [
    in_plugin("a timer that was polled stays in the engine", "timers/LavaTimerQueue.java",
              "store.delete(key);\n            head.pollFirst();", "head.pollFirst();"),
    # Iterators.
    in_plugin("an iterator goes on by what is in the table by then", "engine/TableCursor.java",
              "view = views.open(this, prefix, keysOnly, page.lastKey());",
              "lastKey = page.lastKey();", ITERATORS),
    in_plugin("an iterator shows what a key had before its last change", "engine/BeforeImages.java",
              "Image image = newest;\n        while (image.older != null && image.older.time >= start)",
              "Image image = newest;\n        while (image.older != null && start < 0)", ITERATORS),
    in_plugin("a clear tells no iterator", "state/LavaMapState.java",
              "views.beforeDeletePrefix(keys.buffer(), prefix);", "", ITERATORS),
    in_plugin("a snapshot for iterators is taken, but not read", "engine/TableCursor.java",
              "view == null ? snapshot : view.snapshot()", "snapshot", ITERATORS),
    in_plugin("what iterators that were given up keep is kept for ever", "engine/CursorViews.java",
              "((CursorView) view).close();", "", ITERATORS),
    in_plugin("every write records what the key had", "engine/ViewGroup.java",
              "return Arrays.compareUnsigned(key, off, off + len, passed, 0, passed.length) > 0;",
              "return off >= 0;", ITERATORS),
    # The clock.
    in_plugin("the engine is to accept each step ahead of the clock", "engine/EngineClock.java",
              "db.setTime(now);\n        told = now;", "db.acceptTime(now);\n        told = now;"),
    in_plugin("the engine is not told that the clock goes back", "engine/EngineClock.java",
              "if (now < last || now - last >= STEP_MS) {", "if (now - last >= STEP_MS) {"),
    # The backend's declarations to Flink.
    in_plugin("objects are reused though timers are on the heap", "LavaKeyedStateBackend.java",
              "return heapTimers == null;", "return true;", ("answers",)),
    # Iterators show the state as of their creation.
    in_plugin("an iterator over a map is not told of what is put", "state/LavaMapState.java",
              "views.beforeWrite(key, length, prefix);\n            db.put(", "db.put("),
    in_plugin("an iterator over a map is not told of what is put at once",
              "state/LavaMapState.java",
              "views.beforeWrite(keys.buffer(), length, prefix);\n                batch.put(",
              "batch.put("),
    in_plugin("an iterator over a map is not told that it is cleared", "state/LavaMapState.java",
              "views.beforeDeletePrefix(keys.buffer(), prefix);", ""),
    in_plugin("a stream of keys shows those that were added meanwhile", "engine/CursorViews.java",
              "exists ? BeforeImages.EXISTS : null", "BeforeImages.EXISTS"),
    in_plugin("a stream of keys is not told of a value's write", "state/AbstractLavaState.java",
              "views.beforeWrite(keys.buffer(), length, 0);\n            db.put(", "db.put("),
    in_plugin("a timer that is moved is met again", "timers/TimerStore.java",
              "views.beforeWrite(key, key.length, 0);\n            instance.db().put(",
              "instance.db().put("),
    in_plugin("merging windows destroys its sources first", "state/AbstractLavaMergingState.java",
              "merging.add(key);\n                    merged",
              "merging.add(key);\n                    clear();\n                    merged",
              ("large",)),
]

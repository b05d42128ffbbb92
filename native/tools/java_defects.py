"""The defects that planted_defects.py plants in the plugin's Java sources.

Each must be found once in its file; when the plugin changes there, the defect has to follow.
"""

from defects import Defect

PLUGIN = "../flink-statebackend-lava/src/main/java/org/lavakv/flink/"


def in_plugin(name, file, old, new, tests=("programs",)):
    """A defect in a file of the plugin."""
    return Defect(name, PLUGIN + file, old, new, tests, flavour="java")


JAVA_DEFECTS = [
    in_plugin("a timer that was polled stays in the engine", "timers/LavaTimerQueue.java",
              "store.delete(key);\n            head.pollFirst();", "head.pollFirst();"),
]

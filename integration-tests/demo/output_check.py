# Copyright 2026 The Lava authors
# SPDX-License-Identifier: Apache-2.0

"""Checks the output of org.lavakv.kills.SelfCheckingJob."""

import glob
import os

from cluster import Failed


def check(output, keys):
    """Checks the output and returns the number of numbers in it."""
    places = [bytearray() for _ in range(keys)]
    ends = {}
    for part in glob.glob(os.path.join(output, "**", "part-*"), recursive=True):
        with open(part, encoding="utf-8") as f:
            for line in f:
                words = [int(word) for word in line.split()]
                if len(words) == 3:
                    if words[0] in ends:
                        raise Failed(f"Key {words[0]} ended twice")
                    ends[words[0]] = words[1:]
                    continue
                key, place = words
                seen = places[key]
                if len(seen) <= place:
                    seen.extend(bytes(place + 1 - len(seen)))
                if seen[place]:
                    raise Failed(f"Key {key} has its place {place} twice")
                seen[place] = 1
    total = sum(len(seen) for seen in places)
    for key, seen in enumerate(places):
        if 0 in seen:
            raise Failed(f"Key {key} lacks its place {seen.index(0)} of {len(seen)}")
        expected = total // keys + (1 if key < total % keys else 0)
        if len(seen) != expected:
            raise Failed(f"Key {key} has {len(seen)} places where {total} numbers make {expected}")
        if ends.get(key) != [expected, expected]:
            raise Failed(f"Key {key} has {expected} places; by its state's count and its timers"
                         f" these are {ends.get(key)}")
    return total

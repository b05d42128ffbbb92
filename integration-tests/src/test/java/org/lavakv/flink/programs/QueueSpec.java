// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

/** A queue of timers. */
final class QueueSpec {

    final String name;
    final Namespaces namespaces;

    QueueSpec(String name, Namespaces namespaces) {
        this.name = name;
        this.namespaces = namespaces;
    }

    @Override
    public String toString() {
        return "queue '" + name + "' (namespaces " + namespaces + ")";
    }
}

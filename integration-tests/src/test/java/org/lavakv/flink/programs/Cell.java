// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

/** One state's content under one key and namespace. */
final class Cell {

    final StateSpec state;
    final Object key;
    final Object namespace;

    Cell(StateSpec state, Object key, Object namespace) {
        this.state = state;
        this.key = key;
        this.namespace = namespace;
    }

    @Override
    public String toString() {
        return "'"
                + Texts.shown(state.name)
                + "' of key "
                + Texts.shown(key)
                + (state.namespaces == Namespaces.NONE
                        ? ""
                        : " in namespace " + Texts.shown(namespace));
    }
}

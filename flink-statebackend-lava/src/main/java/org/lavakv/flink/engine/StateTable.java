// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import org.apache.flink.runtime.state.RegisteredStateMetaInfoBase;
import org.lavakv.TableHandle;

/**
 * One registered state: the engine's table and Flink's description of it.
 *
 * <p>Threads: a value. Ownership: the handle belongs to the instance.
 */
public final class StateTable {

    private final TableHandle handle;
    private final RegisteredStateMetaInfoBase metaInfo;

    public StateTable(TableHandle handle, RegisteredStateMetaInfoBase metaInfo) {
        this.handle = handle;
        this.metaInfo = metaInfo;
    }

    public TableHandle handle() {
        return handle;
    }

    public RegisteredStateMetaInfoBase metaInfo() {
        return metaInfo;
    }

    public String name() {
        return metaInfo.getName();
    }
}

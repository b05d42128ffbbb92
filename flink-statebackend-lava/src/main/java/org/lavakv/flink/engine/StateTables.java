// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.annotation.Nullable;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.RegisteredStateMetaInfoBase;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.TableKind;
import org.lavakv.TableOptions;
import org.lavakv.TtlLayout;

/**
 * The states of one instance by name, in the order of their registration.
 *
 * <p>Threads: only the task's thread changes this object. {@link #all} returns a copy that other
 * threads may keep, but must itself be called on the task's thread.
 *
 * <p>Errors: {@link LavaDBException} from the engine, e.g. when the hashes of two names collide.
 */
public final class StateTables {

    private final LavaDB db;
    private final LavaInstance instance;
    private final Map<String, StateTable> tables = new LinkedHashMap<>();

    /** Creates tables in the instance, with its value separation. */
    public StateTables(LavaInstance instance) {
        this.db = instance.db();
        this.instance = instance;
    }

    /** The state with this name, or null. */
    @Nullable
    public StateTable get(String name) {
        return tables.get(name);
    }

    /** A copy of all states in the order of their registration. */
    public List<StateTable> all() {
        return new ArrayList<>(tables.values());
    }

    public int size() {
        return tables.size();
    }

    /**
     * The state with this name; a new one is created without TTL. Restores use this method: records
     * of a state that has not been registered since the opening must not expire in compactions.
     */
    public StateTable createOrGet(RegisteredStateMetaInfoBase metaInfo) throws LavaDBException {
        StateTable known = tables.get(metaInfo.getName());
        return known != null ? known : register(metaInfo, false, 0);
    }

    /**
     * Creates the state, or gives a known one a new description and TTL.
     *
     * @param ttl whether values carry Flink's TTL timestamp
     * @param ttlMs time to live in milliseconds; 0 keeps records for ever
     */
    public StateTable register(RegisteredStateMetaInfoBase metaInfo, boolean ttl, long ttlMs)
            throws LavaDBException {
        StateTable known = tables.get(metaInfo.getName());
        TableOptions options = optionsOf(metaInfo, ttl, ttlMs);
        StateTable table;
        if (known == null) {
            table = new StateTable(db.createTable(metaInfo.getName(), options), metaInfo);
        } else {
            db.setTableOptions(known.handle(), options);
            table = new StateTable(known.handle(), metaInfo);
        }
        tables.put(metaInfo.getName(), table);
        return table;
    }

    /** Gives a known state a new description; the engine's table does not change. */
    public StateTable updateMetaInfo(RegisteredStateMetaInfoBase metaInfo) {
        StateTable known = tables.get(metaInfo.getName());
        if (known == null) {
            throw new IllegalStateException(
                    "The state " + metaInfo.getName() + " is not registered.");
        }
        StateTable table = new StateTable(known.handle(), metaInfo);
        tables.put(metaInfo.getName(), table);
        return table;
    }

    /** Forgets the state and deletes its data. */
    public void drop(String name) throws LavaDBException {
        StateTable known = tables.get(name);
        if (known != null) {
            db.dropTable(known.handle());
            instance.forgetViews(known.handle());
            tables.remove(name);
        }
    }

    private TableOptions optionsOf(RegisteredStateMetaInfoBase metaInfo, boolean ttl, long ttlMs) {
        TableKind kind = kindOf(metaInfo);
        TtlLayout layout = TtlLayout.NONE;
        if (ttl && ttlMs > 0) {
            layout =
                    kind == TableKind.LIST
                            ? TtlLayout.LIST
                            : kind == TableKind.MAP ? TtlLayout.MAP : TtlLayout.VALUE;
        }
        return new TableOptions()
                .setKind(kind)
                .setTtlLayout(layout)
                .setTtlMs(layout == TtlLayout.NONE ? 0 : ttlMs)
                .setSeparationBytes(isSeparable(metaInfo) ? instance.separationBytes() : 0);
    }

    /** Whether the engine may separate the state's values; timers have no values. */
    private static boolean isSeparable(RegisteredStateMetaInfoBase metaInfo) {
        return metaInfo instanceof RegisteredKeyValueStateBackendMetaInfo;
    }

    /** The engine's kind of table for a state with this description. */
    public static TableKind kindOf(RegisteredStateMetaInfoBase metaInfo) {
        if (metaInfo instanceof RegisteredKeyValueStateBackendMetaInfo) {
            StateDescriptor.Type type =
                    ((RegisteredKeyValueStateBackendMetaInfo<?, ?>) metaInfo).getStateType();
            if (type == StateDescriptor.Type.LIST) {
                return TableKind.LIST;
            }
            if (type == StateDescriptor.Type.MAP) {
                return TableKind.MAP;
            }
        }
        return TableKind.VALUE;
    }
}

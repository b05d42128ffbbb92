// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.programs;

import java.time.Duration;
import java.util.TreeSet;
import javax.annotation.Nullable;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.State;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.StateTtlConfig.StateVisibility;
import org.apache.flink.api.common.state.StateTtlConfig.UpdateType;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;

/** A state of a program: its kind, its namespaces, and its TTL. */
final class StateSpec {

    /** Flink's kinds of keyed state. */
    enum Kind {
        VALUE,
        LIST,
        MAP,
        REDUCING,
        AGGREGATING
    }

    /** When written values expire, and whether expired values are shown. */
    static final class Ttl {
        final long millis;
        final UpdateType update;
        final StateVisibility visibility;

        /** Whether Lava omits expired values from canonical savepoints. */
        final boolean cleansSavepoints;

        Ttl(long millis, UpdateType update, StateVisibility visibility, boolean cleansSavepoints) {
            this.millis = millis;
            this.update = update;
            this.visibility = visibility;
            this.cleansSavepoints = cleansSavepoints;
        }

        /**
         * On Flink's own backends there is no background cleanup, so they show all values that must
         * still exist. On Lava everything that may be dropped is dropped.
         */
        private StateTtlConfig config(BackendKind on) {
            StateTtlConfig.Builder builder =
                    StateTtlConfig.newBuilder(Duration.ofMillis(millis))
                            .setUpdateType(update)
                            .setStateVisibility(visibility);
            if (!on.isLava()) {
                return builder.disableCleanupInBackground().build();
            }
            return (cleansSavepoints ? builder.cleanupFullSnapshot() : builder).build();
        }

        @Override
        public String toString() {
            return millis + " ms " + update + " " + visibility;
        }
    }

    final String name;
    final Kind kind;
    final Namespaces namespaces;
    @Nullable final Ttl ttl;

    StateSpec(String name, Kind kind, Namespaces namespaces, @Nullable Ttl ttl) {
        this.name = name;
        this.kind = kind;
        this.namespaces = namespaces;
        this.ttl = ttl;
    }

    /** Whether one namespace's content can be merged into another's. */
    boolean canMerge() {
        return namespaces != Namespaces.NONE && kind != Kind.VALUE && kind != Kind.MAP;
    }

    boolean updatesOnRead() {
        return ttl != null && ttl.update == UpdateType.OnReadAndWrite;
    }

    /** Whether expired values are shown until they are cleaned up. */
    boolean showsExpired() {
        return ttl != null && ttl.visibility == StateVisibility.ReturnExpiredIfNotCleanedUp;
    }

    /** Whether a value written at this time has expired. */
    boolean isExpired(long written, long now) {
        return ttl != null && written + ttl.millis <= now;
    }

    StateDescriptor<? extends State, ?> descriptor(BackendKind on) {
        StateDescriptor<? extends State, ?> descriptor = plainDescriptor();
        if (ttl != null) {
            descriptor.enableTimeToLive(ttl.config(on));
        }
        return descriptor;
    }

    private StateDescriptor<? extends State, ?> plainDescriptor() {
        switch (kind) {
            case VALUE:
                return new ValueStateDescriptor<>(name, StringSerializer.INSTANCE);
            case LIST:
                return new ListStateDescriptor<>(name, StringSerializer.INSTANCE);
            case MAP:
                return new MapStateDescriptor<>(
                        name, StringSerializer.INSTANCE, StringSerializer.INSTANCE);
            case REDUCING:
                return new ReducingStateDescriptor<>(name, Long::sum, LongSerializer.INSTANCE);
            default:
                return new AggregatingStateDescriptor<>(
                        name, new SortedTexts(), StringSerializer.INSTANCE);
        }
    }

    /**
     * Concatenates texts in an order that does not depend on their arrival, because Flink's
     * backends merge namespaces in different orders.
     */
    private static final class SortedTexts implements AggregateFunction<String, String, String> {

        private static final long serialVersionUID = 1L;

        @Override
        public String createAccumulator() {
            return "";
        }

        @Override
        public String add(String text, String joined) {
            return merge(text, joined);
        }

        @Override
        public String getResult(String joined) {
            return "[" + joined + "]";
        }

        @Override
        public String merge(String one, String other) {
            TreeSet<String> all = new TreeSet<>();
            for (String part : (one + "|" + other).split("\\|")) {
                if (!part.isEmpty()) {
                    all.add(part);
                }
            }
            return String.join("|", all);
        }
    }

    @Override
    public String toString() {
        return "'"
                + Texts.shown(name)
                + "' ("
                + kind
                + ", namespaces "
                + namespaces
                + (ttl == null ? "" : ", TTL " + ttl)
                + ")";
    }
}

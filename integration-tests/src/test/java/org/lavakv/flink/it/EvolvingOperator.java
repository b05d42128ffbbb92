// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import java.lang.reflect.Field;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.StateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.Preconditions;

/**
 * Stores objects of a class that it knows only by name, so that there can be several versions of
 * it, in states with and without a time to live. The record "read" of a key emits the content of
 * all states; every other record is stored.
 */
final class EvolvingOperator extends KeyedProcessFunction<String, String, String> {

    private static final long serialVersionUID = 1L;

    static final Duration TTL = Duration.ofMillis(1000);
    static final String CLASS = "Evolving";

    private transient Class<?> version;
    private transient List<States> states;

    @Override
    public void open(OpenContext context) throws Exception {
        version = Class.forName(CLASS, true, getRuntimeContext().getUserCodeClassLoader());
        states = List.of(new States("", null), new States("ttl-", TTL));
    }

    @Override
    public void processElement(String record, Context context, Collector<String> out)
            throws Exception {
        String text = record.substring(record.indexOf(':') + 1);
        for (States each : states) {
            if (text.equals(SwitchingOperator.READ)) {
                out.collect(record.charAt(0) + " " + each.describe());
            } else {
                each.add(text);
            }
        }
    }

    /** All fields of the version, by name. */
    private String describe(Object kept) throws Exception {
        if (kept == null) {
            return "none";
        }
        Map<String, Object> fields = new TreeMap<>();
        for (Field field : version.getFields()) {
            fields.put(field.getName(), field.get(kept));
        }
        return fields.toString();
    }

    /** One state of each kind. */
    private final class States {
        private final ValueState<Object> value;
        private final ListState<Object> list;
        private final MapState<String, Object> map;

        @SuppressWarnings("unchecked")
        States(String prefix, Duration timeToLive) {
            TypeInformation<Object> type = (TypeInformation<Object>) TypeInformation.of(version);
            Preconditions.checkState(type instanceof PojoTypeInfo, "%s", type);
            value =
                    getRuntimeContext()
                            .getState(
                                    live(
                                            new ValueStateDescriptor<>(prefix + "value", type),
                                            timeToLive));
            list =
                    getRuntimeContext()
                            .getListState(
                                    live(
                                            new ListStateDescriptor<>(prefix + "list", type),
                                            timeToLive));
            map =
                    getRuntimeContext()
                            .getMapState(
                                    live(
                                            new MapStateDescriptor<>(
                                                    prefix + "map", Types.STRING, type),
                                            timeToLive));
        }

        private <D extends StateDescriptor<?, ?>> D live(D descriptor, Duration timeToLive) {
            if (timeToLive != null) {
                descriptor.enableTimeToLive(StateTtlConfig.newBuilder(timeToLive).build());
            }
            return descriptor;
        }

        void add(String text) throws Exception {
            Object kept = version.getConstructor().newInstance();
            version.getField("text").set(kept, text);
            value.update(kept);
            list.add(kept);
            map.put(text, kept);
        }

        String describe() throws Exception {
            List<String> elements = new ArrayList<>();
            for (Object kept : list.get()) {
                elements.add(EvolvingOperator.this.describe(kept));
            }
            Map<String, String> entries = new TreeMap<>();
            for (Map.Entry<String, Object> entry : map.entries()) {
                entries.put(entry.getKey(), EvolvingOperator.this.describe(entry.getValue()));
            }
            return EvolvingOperator.this.describe(value.value()) + " " + elements + " " + entries;
        }
    }
}

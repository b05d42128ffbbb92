// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.AggregatingState;
import org.apache.flink.api.common.state.AggregatingStateDescriptor;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Has every kind of state, with and without TTL, and timers of both kinds. The record "read" of a
 * key emits the content of all states; every other record changes them.
 */
final class SwitchingOperator extends KeyedProcessFunction<String, String, String> {

    private static final long serialVersionUID = 1L;

    static final String READ = "read";

    /** Time to live of the states whose names begin with "ttl". */
    static final Duration TTL = Duration.ofMillis(1000);

    private transient ValueState<String> value;
    private transient ListState<String> list;
    private transient MapState<String, Long> map;
    private transient ReducingState<Long> sum;
    private transient AggregatingState<Long, String> average;
    private transient ValueState<String> ttlValue;
    private transient AggregatingState<Long, String> ttlAverage;
    private transient ListState<String> ttlList;
    private transient MapState<String, Long> ttlMap;

    /** A key's record, "key:text". */
    static String keyOf(String record) {
        return record.substring(0, record.indexOf(':'));
    }

    @Override
    public void open(OpenContext context) {
        StateTtlConfig ttl =
                StateTtlConfig.newBuilder(TTL)
                        .setUpdateType(StateTtlConfig.UpdateType.OnCreateAndWrite)
                        .setStateVisibility(StateTtlConfig.StateVisibility.NeverReturnExpired)
                        .cleanupFullSnapshot()
                        .build();
        value = getRuntimeContext().getState(new ValueStateDescriptor<>("value", String.class));
        list = getRuntimeContext().getListState(new ListStateDescriptor<>("list", String.class));
        map =
                getRuntimeContext()
                        .getMapState(new MapStateDescriptor<>("map", String.class, Long.class));
        sum =
                getRuntimeContext()
                        .getReducingState(
                                new ReducingStateDescriptor<>("sum", Long::sum, Long.class));
        average =
                getRuntimeContext()
                        .getAggregatingState(
                                new AggregatingStateDescriptor<>(
                                        "average",
                                        new Average(),
                                        Types.TUPLE(Types.LONG, Types.LONG)));
        ValueStateDescriptor<String> ofValue =
                new ValueStateDescriptor<>("ttl-value", String.class);
        ListStateDescriptor<String> ofList = new ListStateDescriptor<>("ttl-list", String.class);
        MapStateDescriptor<String, Long> ofMap =
                new MapStateDescriptor<>("ttl-map", String.class, Long.class);
        AggregatingStateDescriptor<Long, Tuple2<Long, Long>, String> ofAverage =
                new AggregatingStateDescriptor<>(
                        "ttl-average", new Average(), Types.TUPLE(Types.LONG, Types.LONG));
        ofValue.enableTimeToLive(ttl);
        ofAverage.enableTimeToLive(ttl);
        ofList.enableTimeToLive(ttl);
        ofMap.enableTimeToLive(ttl);
        ttlValue = getRuntimeContext().getState(ofValue);
        ttlAverage = getRuntimeContext().getAggregatingState(ofAverage);
        ttlList = getRuntimeContext().getListState(ofList);
        ttlMap = getRuntimeContext().getMapState(ofMap);
    }

    @Override
    public void processElement(String record, Context context, Collector<String> out)
            throws Exception {
        String text = record.substring(record.indexOf(':') + 1);
        if (text.equals(READ)) {
            out.collect(context.getCurrentKey() + " holds " + content());
            return;
        }
        long number = text.length();
        value.update(text);
        list.add(text);
        map.put(text, number);
        map.put("last", number);
        sum.add(number);
        average.add(number);
        ttlValue.update(text);
        ttlAverage.add(number);
        ttlList.add(text);
        ttlMap.put(text, number);
        context.timerService().registerEventTimeTimer(1000 + number);
        context.timerService().registerProcessingTimeTimer(100_000 + number);
    }

    private String content() throws Exception {
        return value.value()
                + " "
                + all(list)
                + " "
                + all(map)
                + " "
                + sum.get()
                + " "
                + average.get()
                + " ttl "
                + ttlValue.value()
                + " "
                + ttlAverage.get()
                + " "
                + all(ttlList)
                + " "
                + all(ttlMap);
    }

    private static List<String> all(ListState<String> list) throws Exception {
        List<String> elements = new ArrayList<>();
        list.get().forEach(elements::add);
        return elements;
    }

    private static Map<String, Long> all(MapState<String, Long> map) throws Exception {
        Map<String, Long> entries = new TreeMap<>();
        for (Map.Entry<String, Long> entry : map.entries()) {
            entries.put(entry.getKey(), entry.getValue());
        }
        return entries;
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<String> out) {
        out.collect(
                context.getCurrentKey() + " timer " + context.timeDomain() + " at " + timestamp);
    }

    /** Stores the sum and the number of its inputs. */
    private static final class Average
            implements AggregateFunction<Long, Tuple2<Long, Long>, String> {

        private static final long serialVersionUID = 1L;

        @Override
        public Tuple2<Long, Long> createAccumulator() {
            return Tuple2.of(0L, 0L);
        }

        @Override
        public Tuple2<Long, Long> add(Long number, Tuple2<Long, Long> before) {
            return Tuple2.of(before.f0 + number, before.f1 + 1);
        }

        @Override
        public String getResult(Tuple2<Long, Long> all) {
            return all.f0 + " by " + all.f1;
        }

        @Override
        public Tuple2<Long, Long> merge(Tuple2<Long, Long> one, Tuple2<Long, Long> other) {
            return Tuple2.of(one.f0 + other.f0, one.f1 + other.f1);
        }
    }
}

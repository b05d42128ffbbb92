// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.kills;

import java.time.Duration;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ReducingState;
import org.apache.flink.api.common.state.ReducingStateDescriptor;
import org.apache.flink.api.common.state.StateTtlConfig;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Checks each number of a key against value, map, list and reducing state, large values, and state
 * with a time to live, and each timer against the numbers that set it. A mismatch ends the job for
 * good, with a description.
 */
final class SequenceCheck extends KeyedProcessFunction<Long, Long, String> {

    private static final long serialVersionUID = 1L;

    /**
     * Number of places in the map. The previous content of a place is overwritten, so that files
     * are rewritten.
     */
    private static final int REMEMBERED = 24;

    /** Size at which the list is emptied. */
    private static final int LIST = 40;

    private static final String PADDING = "0123456789".repeat(8);

    /** One out of this many keys has a large value. */
    private static final int LARGE_EVERY = 8;

    private static final String LARGE_PADDING = PADDING.repeat(75);

    /** Longer than any run. */
    private static final Duration LONG = Duration.ofDays(1);

    /** Short enough that some of the values read have expired and were removed from files. */
    private static final Duration SHORT = Duration.ofSeconds(1);

    /** A time larger than any number: its timer fires when the job is drained. */
    private static final long END = Long.MAX_VALUE - 1;

    private final long keys;
    private transient ValueState<Long> next;
    private transient MapState<Long, String> recent;
    private transient ListState<Long> places;
    private transient ReducingState<Long> sum;
    private transient ValueState<Long> fired;
    private transient ValueState<String> large;
    private transient ValueState<Long> lasting;
    private transient MapState<Long, Long> fading;

    SequenceCheck(long keys) {
        this.keys = keys;
    }

    @Override
    public void open(OpenContext context) {
        next = getRuntimeContext().getState(new ValueStateDescriptor<>("next", Long.class));
        recent =
                getRuntimeContext()
                        .getMapState(new MapStateDescriptor<>("recent", Long.class, String.class));
        places = getRuntimeContext().getListState(new ListStateDescriptor<>("places", Long.class));
        sum =
                getRuntimeContext()
                        .getReducingState(
                                new ReducingStateDescriptor<>("sum", Long::sum, Long.class));
        fired = getRuntimeContext().getState(new ValueStateDescriptor<>("fired", Long.class));
        large = getRuntimeContext().getState(new ValueStateDescriptor<>("large", String.class));
        ValueStateDescriptor<Long> ofLasting = new ValueStateDescriptor<>("lasting", Long.class);
        ofLasting.enableTimeToLive(StateTtlConfig.newBuilder(LONG).build());
        lasting = getRuntimeContext().getState(ofLasting);
        MapStateDescriptor<Long, Long> ofFading =
                new MapStateDescriptor<>("fading", Long.class, Long.class);
        ofFading.enableTimeToLive(StateTtlConfig.newBuilder(SHORT).build());
        fading = getRuntimeContext().getMapState(ofFading);
    }

    @Override
    public void processElement(Long number, Context context, Collector<String> out)
            throws Exception {
        long key = context.getCurrentKey();
        long place = number / keys;
        Long expected = next.value();
        check(key, place, "next", expected == null ? 0 : expected, place);
        next.update(place + 1);

        long slot = place % REMEMBERED;
        String before = place < REMEMBERED ? null : text(key, place - REMEMBERED);
        check(key, place, "recent", before, recent.get(slot));
        recent.put(slot, text(key, place));

        places.add(place);
        if (place % LIST == LIST - 1) {
            long each = place - LIST + 1;
            for (long listed : places.get()) {
                check(key, place, "places", each++, listed);
            }
            check(key, place, "places' length", place + 1, each);
            places.clear();
        }

        sum.add(place);
        check(key, place, "sum", place * (place + 1) / 2, sum.get());

        if (key % LARGE_EVERY == 0) {
            String last = place == 0 ? null : large(key, place - 1);
            check(key, place, "large", last, large.value());
            large.update(large(key, place));
        }

        check(key, place, "lasting", place == 0 ? null : place - 1, lasting.value());
        lasting.update(place);

        // A value that has not expired must be the last one.
        Long faded = fading.get(slot);
        if (faded != null) {
            check(key, place, "fading", place - REMEMBERED, faded);
        }
        fading.put(slot, place);

        context.timerService().registerEventTimeTimer(number + keys);
        if (place == 0) {
            context.timerService().registerEventTimeTimer(END);
        }
        out.collect(key + " " + place);
    }

    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
            throws Exception {
        long key = context.getCurrentKey();
        long before = fired.value() == null ? 0 : fired.value();
        if (timestamp == END) {
            out.collect(key + " " + next.value() + " " + before);
            return;
        }
        // A key's timers fire in the order of its numbers, each once.
        check(key, before, "timer", before, (timestamp - keys) / keys);
        fired.update(before + 1);
    }

    private static String text(long key, long place) {
        return key + "/" + place + PADDING;
    }

    private static String large(long key, long place) {
        return key + "/" + place + LARGE_PADDING;
    }

    private static void check(long key, long place, String what, Object expected, Object actual) {
        if (expected == null ? actual != null : !expected.equals(actual)) {
            throw new SuppressRestartsException(
                    new IllegalStateException(
                            "Self-check failed: "
                                    + what
                                    + " of key "
                                    + key
                                    + " at place "
                                    + place
                                    + " must be "
                                    + expected
                                    + " but is "
                                    + actual));
        }
    }
}

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.demo;

import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
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
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Each plane's rolling history of delays: its departures of the last four weeks individually, and
 * the sums of the year. At the end of a day in New York it reports the plane's day.
 */
class PlaneHistory extends KeyedCoProcessFunction<String, Departure, Plane, PlaneDay> {

    private static final long serialVersionUID = 1L;
    private static final int HISTORY_DAYS = 28;
    private static final ZoneId NEW_YORK = ZoneId.of("America/New_York");

    private transient MapState<Long, List<Departure>> waiting;
    private transient ValueState<Plane> plane;
    private transient ValueState<PlaneDay> today;
    private transient ReducingState<Departure> worstToday;
    private transient ListState<Delay> history;
    private transient AggregatingState<Delay, Tuple2<Long, Long>> year;

    /** The end of a day in New York, in milliseconds since 1970 in UTC. */
    static long endOf(int day) {
        return LocalDate.ofEpochDay(day)
                .plusDays(1)
                .atStartOfDay(NEW_YORK)
                .toInstant()
                .toEpochMilli();
    }

    @Override
    public void open(OpenContext context) {
        waiting =
                getRuntimeContext()
                        .getMapState(
                                new MapStateDescriptor<>(
                                        "waiting-for-time",
                                        Types.LONG,
                                        Types.LIST(Types.POJO(Departure.class))));
        plane =
                getRuntimeContext()
                        .getState(new ValueStateDescriptor<>("plane", Types.POJO(Plane.class)));
        today =
                getRuntimeContext()
                        .getState(new ValueStateDescriptor<>("today", Types.POJO(PlaneDay.class)));
        worstToday =
                getRuntimeContext()
                        .getReducingState(
                                new ReducingStateDescriptor<>(
                                        "worst-today",
                                        PlaneHistory::worse,
                                        Types.POJO(Departure.class)));
        history =
                getRuntimeContext()
                        .getListState(
                                new ListStateDescriptor<>("history", Types.POJO(Delay.class)));
        year =
                getRuntimeContext()
                        .getAggregatingState(
                                new AggregatingStateDescriptor<>(
                                        "year",
                                        new CountAndSum(),
                                        Types.TUPLE(Types.LONG, Types.LONG)));
    }

    @Override
    public void processElement1(Departure departure, Context context, Collector<PlaneDay> out)
            throws Exception {
        // Departures arrive from tasks of several airports; the timer processes them in the order
        // of time.
        long time = departure.flight.time;
        List<Departure> sameMinute = waiting.get(time);
        if (sameMinute == null) {
            sameMinute = new ArrayList<>();
        }
        sameMinute.add(departure);
        waiting.put(time, sameMinute);
        context.timerService().registerEventTimeTimer(time);
    }

    @Override
    public void processElement2(Plane facts, Context context, Collector<PlaneDay> out)
            throws Exception {
        plane.update(facts);
    }

    @Override
    public void onTimer(long time, OnTimerContext context, Collector<PlaneDay> out)
            throws Exception {
        List<Departure> sameMinute = waiting.get(time);
        if (sameMinute == null) {
            // Flights are scheduled to the minute; this is the last millisecond of a day.
            report(out);
            return;
        }
        waiting.remove(time);
        sameMinute.sort(Comparator.comparingInt(departure -> departure.flight.id));
        for (Departure departure : sameMinute) {
            count(departure);
            context.timerService().registerEventTimeTimer(endOf(departure.flight.day) - 1);
        }
    }

    private void count(Departure departure) throws Exception {
        Flight flight = departure.flight;
        PlaneDay day = today.value();
        if (day == null) {
            day = new PlaneDay();
            day.day = flight.day;
            day.tail = flight.tail;
        }
        if (flight.cancelled) {
            day.cancelled++;
        } else {
            Delay delay = new Delay(flight.day, flight.delay);
            day.departures++;
            day.minutes += flight.delay;
            history.add(delay);
            year.add(delay);
            worstToday.add(departure);
        }
        today.update(day);
    }

    private void report(Collector<PlaneDay> out) throws Exception {
        PlaneDay day = today.value();
        List<Delay> recent = new ArrayList<>();
        for (Delay delay : history.get()) {
            if (delay.day > day.day - HISTORY_DAYS) {
                recent.add(delay);
                day.recentDepartures++;
                day.recentMinutes += delay.minutes;
            }
        }
        history.update(recent);
        Tuple2<Long, Long> countAndSum = year.get();
        if (countAndSum != null) {
            day.yearDepartures = countAndSum.f0;
            day.yearMinutes = countAndSum.f1;
        }
        day.worst = worstToday.get();
        day.plane = plane.value();
        out.collect(day);
        today.clear();
        worstToday.clear();
    }

    private static Departure worse(Departure a, Departure b) {
        if (a.flight.delay != b.flight.delay) {
            return a.flight.delay > b.flight.delay ? a : b;
        }
        return a.flight.id < b.flight.id ? a : b;
    }

    /** Number of departures, and their total delay. */
    static final class CountAndSum
            implements AggregateFunction<Delay, Tuple2<Long, Long>, Tuple2<Long, Long>> {

        private static final long serialVersionUID = 1L;

        @Override
        public Tuple2<Long, Long> createAccumulator() {
            return Tuple2.of(0L, 0L);
        }

        @Override
        public Tuple2<Long, Long> add(Delay delay, Tuple2<Long, Long> sum) {
            return Tuple2.of(sum.f0 + 1, sum.f1 + delay.minutes);
        }

        @Override
        public Tuple2<Long, Long> getResult(Tuple2<Long, Long> sum) {
            return sum;
        }

        @Override
        public Tuple2<Long, Long> merge(Tuple2<Long, Long> a, Tuple2<Long, Long> b) {
            return Tuple2.of(a.f0 + b.f0, a.f1 + b.f1);
        }
    }
}

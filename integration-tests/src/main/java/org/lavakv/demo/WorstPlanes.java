// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.demo;

import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

/** Emits the ten planes with the largest delays of a day, one line each, at the end of the day. */
class WorstPlanes extends KeyedProcessFunction<Integer, PlaneDay, String> {

    private static final long serialVersionUID = 1L;
    private static final int PLANES = 10;

    private transient MapState<String, PlaneDay> planes;

    @Override
    public void open(OpenContext context) {
        planes =
                getRuntimeContext()
                        .getMapState(
                                new MapStateDescriptor<>(
                                        "planes-of-the-day",
                                        Types.STRING,
                                        Types.POJO(PlaneDay.class)));
    }

    @Override
    public void processElement(PlaneDay day, Context context, Collector<String> out)
            throws Exception {
        planes.put(day.tail, day);
        context.timerService().registerEventTimeTimer(PlaneHistory.endOf(day.day));
    }

    @Override
    public void onTimer(long time, OnTimerContext context, Collector<String> out) throws Exception {
        List<PlaneDay> worst = new ArrayList<>();
        for (PlaneDay day : planes.values()) {
            worst.add(day);
        }
        worst.sort(PlaneDay.WORST_FIRST);
        for (int i = 0; i < Math.min(PLANES, worst.size()); i++) {
            out.collect(line(i + 1, worst.get(i)));
        }
        planes.clear();
    }

    static String line(int rank, PlaneDay day) {
        return String.format(
                Locale.ROOT,
                "%s #%02d %s %d min late in %d departures (%d cancelled); four weeks: %s, year: %s;"
                        + " %s; %s",
                LocalDate.ofEpochDay(day.day),
                rank,
                day.tail,
                day.minutes,
                day.departures,
                day.cancelled,
                mean(day.recentMinutes, day.recentDepartures),
                mean(day.yearMinutes, day.yearDepartures),
                day.plane == null
                        ? "not in the register"
                        : day.plane.manufacturer + " " + day.plane.model + ", " + day.plane.built,
                day.worst == null ? "no departure" : worst(day.worst));
    }

    private static String mean(long minutes, long departures) {
        return departures == 0
                ? "none"
                : String.format(Locale.ROOT, "%.2f min", (double) minutes / departures);
    }

    private static String worst(Departure departure) {
        Flight flight = departure.flight;
        Weather weather = departure.weather;
        return String.format(
                Locale.ROOT,
                "worst %s %d %s-%s, %d min, %s",
                flight.carrier,
                flight.number,
                flight.origin,
                flight.destination,
                flight.delay,
                weather == null
                        ? "weather unknown"
                        : String.format(
                                Locale.ROOT,
                                "wind %.1f mph, visibility %.1f miles, rain %.2f in",
                                weather.windMph,
                                weather.visibilityMiles,
                                weather.rainInches));
    }
}

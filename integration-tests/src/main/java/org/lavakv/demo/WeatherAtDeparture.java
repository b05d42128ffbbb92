// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.co.KeyedCoProcessFunction;
import org.apache.flink.util.Collector;

/**
 * Adds to each flight the weather at its origin during its hour. A flight waits until the watermark
 * shows that the weather of its hour has arrived, so the order of arrival does not matter.
 */
class WeatherAtDeparture extends KeyedCoProcessFunction<String, Flight, Weather, Departure> {

    private static final long serialVersionUID = 1L;
    private static final long HOUR_MS = Duration.ofHours(1).toMillis();
    private static final long KEPT_MS = 2 * HOUR_MS;

    private transient MapState<Long, List<Flight>> waiting;
    private transient MapState<Long, Weather> weather;

    @Override
    public void open(OpenContext context) {
        waiting =
                getRuntimeContext()
                        .getMapState(
                                new MapStateDescriptor<>(
                                        "waiting-for-weather",
                                        Types.LONG,
                                        Types.LIST(Types.POJO(Flight.class))));
        weather =
                getRuntimeContext()
                        .getMapState(
                                new MapStateDescriptor<>(
                                        "weather", Types.LONG, Types.POJO(Weather.class)));
    }

    @Override
    public void processElement1(Flight flight, Context context, Collector<Departure> out)
            throws Exception {
        List<Flight> sameMinute = waiting.get(flight.time);
        if (sameMinute == null) {
            sameMinute = new ArrayList<>();
        }
        sameMinute.add(flight);
        waiting.put(flight.time, sameMinute);
        context.timerService().registerEventTimeTimer(flight.time);
    }

    @Override
    public void processElement2(Weather hour, Context context, Collector<Departure> out)
            throws Exception {
        weather.put(hour.time, hour);
        context.timerService().registerEventTimeTimer(hour.time + KEPT_MS);
    }

    @Override
    public void onTimer(long time, OnTimerContext context, Collector<Departure> out)
            throws Exception {
        List<Flight> sameMinute = waiting.get(time);
        if (sameMinute != null) {
            waiting.remove(time);
            sameMinute.sort(Comparator.comparingInt(flight -> flight.id));
            Weather hour = weather.get(time - Math.floorMod(time, HOUR_MS));
            for (Flight flight : sameMinute) {
                Departure departure = new Departure();
                departure.flight = flight;
                departure.weather = hour;
                out.collect(departure);
            }
        }
        // No later flight needs an hour this old.
        weather.remove(time - KEPT_MS);
    }
}

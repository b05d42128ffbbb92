// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.demo;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.api.common.eventtime.SerializableTimestampAssigner;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import org.apache.flink.util.ParameterTool;

/**
 * The ten worst planes of each day of 2013. The result does not depend on the parallelism, the
 * order of arrival, or failures during the run.
 */
public final class FlightsJob {

    private FlightsJob() {}

    /**
     * Starts the job: {@code --data DIRECTORY --output DIRECTORY}. Optional: {@code --rate
     * FLIGHTS_PER_SECOND} (default: as fast as possible) and {@code --checkpoint-ms INTERVAL}.
     */
    public static void main(String[] arguments) throws Exception {
        ParameterTool parameters = ParameterTool.fromArgs(arguments);
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment();
        environment.enableCheckpointing(parameters.getLong("checkpoint-ms", 1000));
        worstPlanes(
                        environment,
                        parameters.getRequired("data"),
                        parameters.getDouble("rate", Double.POSITIVE_INFINITY))
                .sinkTo(
                        FileSink.forRowFormat(
                                        new org.apache.flink.core.fs.Path(
                                                parameters.getRequired("output")),
                                        new SimpleStringEncoder<String>())
                                .withRollingPolicy(OnCheckpointRollingPolicy.build())
                                .build())
                .name("worst-planes-files")
                .uid("worst-planes-files");
        environment.execute("The ten worst planes of each day");
    }

    /** Builds the job up to its lines of output. */
    static DataStream<String> worstPlanes(
            StreamExecutionEnvironment environment, String directory, double flightsPerSecond)
            throws IOException {
        // Counted where the job is submitted, so that all feeds cover the year at the same pace.
        int flightCount = FlightData.flights(Path.of(directory)).size();
        int weatherCount = FlightData.weather(Path.of(directory)).size();
        int planeCount = FlightData.planes(Path.of(directory)).size();

        DataStream<Flight> flights =
                feed(
                        environment,
                        "flights",
                        new FlightData.Records<>(directory, FlightData::flights),
                        flightCount,
                        flightsPerSecond,
                        TypeInformation.of(Flight.class),
                        (flight, previous) -> flight.time);
        DataStream<Weather> weather =
                feed(
                        environment,
                        "weather",
                        new FlightData.Records<>(directory, FlightData::weather),
                        weatherCount,
                        flightsPerSecond * weatherCount / flightCount,
                        TypeInformation.of(Weather.class),
                        (hour, previous) -> hour.time);
        // The register has no time: its entries are valid from the beginning.
        DataStream<Plane> planes =
                feed(
                        environment,
                        "planes",
                        new FlightData.Records<>(directory, FlightData::planes),
                        planeCount,
                        Double.POSITIVE_INFINITY,
                        TypeInformation.of(Plane.class),
                        (plane, previous) -> Long.MIN_VALUE + 1);

        return flights.keyBy(flight -> flight.origin)
                .connect(weather.keyBy(hour -> hour.origin))
                .process(new WeatherAtDeparture())
                .name("weather-at-departure")
                .uid("weather-at-departure")
                .keyBy(departure -> departure.flight.tail)
                .connect(planes.keyBy(plane -> plane.tail))
                .process(new PlaneHistory())
                .name("plane-history")
                .uid("plane-history")
                .keyBy(day -> day.day)
                .process(new WorstPlanes())
                .name("worst-planes")
                .uid("worst-planes");
    }

    /** One file as a stream in the order of time, continued from the last checkpoint. */
    private static <T> DataStream<T> feed(
            StreamExecutionEnvironment environment,
            String name,
            FlightData.Records<T> records,
            int count,
            double perSecond,
            TypeInformation<T> type,
            SerializableTimestampAssigner<T> time) {
        RateLimiterStrategy<?> rate =
                Double.isInfinite(perSecond)
                        ? RateLimiterStrategy.noOp()
                        : RateLimiterStrategy.perSecond(perSecond);
        // With several subtasks, each would emit a part of the year instead of a part of the day.
        return environment
                .fromSource(
                        new DataGeneratorSource<>(records, count, rate, type),
                        WatermarkStrategy.<T>forMonotonousTimestamps().withTimestampAssigner(time),
                        name)
                .uid(name)
                .setParallelism(1);
    }
}

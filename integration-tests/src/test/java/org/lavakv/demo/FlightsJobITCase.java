// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares the demo's job with a direct computation without any state backend. */
class FlightsJobITCase {

    private static final Path DATA = Path.of("data").toAbsolutePath();

    /** January, October and some days of November, so that the test is fast. */
    private static final int ROWS = 60_000;

    @TempDir static Path someDays;

    @BeforeAll
    static void copySomeDays() throws IOException {
        Files.copy(DATA.resolve("planes.csv"), someDays.resolve("planes.csv"));
        Files.copy(DATA.resolve("weather.csv.gz"), someDays.resolve("weather.csv.gz"));
        try (BufferedReader from =
                        new BufferedReader(
                                new InputStreamReader(
                                        new GZIPInputStream(
                                                Files.newInputStream(
                                                        DATA.resolve("flights.csv.gz"))),
                                        StandardCharsets.UTF_8));
                Writer to =
                        new OutputStreamWriter(
                                new GZIPOutputStream(
                                        Files.newOutputStream(someDays.resolve("flights.csv.gz"))),
                                StandardCharsets.UTF_8)) {
            for (int i = 0; i <= ROWS; i++) {
                to.write(from.readLine() + "\n");
            }
        }
    }

    @ParameterizedTest(name = "{0}, parallelism {1}")
    @CsvSource({"lava, 3", "hashmap, 1"})
    void namesTheTenWorstPlanesOfEachDay(String backend, int parallelism) throws Exception {
        Configuration configuration = new Configuration();
        configuration.set(StateBackendOptions.STATE_BACKEND, backend);
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(configuration);
        environment.setParallelism(parallelism);
        environment.enableCheckpointing(500);

        List<String> lines = new ArrayList<>();
        try (CloseableIterator<String> output =
                FlightsJob.worstPlanes(environment, someDays.toString(), Double.POSITIVE_INFINITY)
                        .executeAndCollect()) {
            output.forEachRemaining(line -> lines.add(line.substring(0, line.indexOf(';'))));
        }
        Collections.sort(lines);
        assertThat(lines).containsExactlyElementsOf(expected());
    }

    @Test
    void readsTheWholeDataSet() throws Exception {
        List<Flight> flights = FlightData.flights(DATA);
        // 336,776 less the 2,512 without a tail number.
        assertThat(flights).hasSize(334_264);
        assertThat(flights)
                .allSatisfy(
                        flight ->
                                assertThat(flight.time)
                                        .isLessThan(PlaneHistory.endOf(flight.day) - 1));
        assertThat(FlightData.weather(DATA)).hasSize(26_115);
        assertThat(FlightData.planes(DATA)).hasSize(3_322);
    }

    /** The expected text of each line before its first semicolon, in order. */
    private static List<String> expected() throws IOException {
        Map<Integer, Map<String, PlaneDay>> days = new TreeMap<>();
        for (Flight flight : FlightData.flights(someDays)) {
            PlaneDay day =
                    days.computeIfAbsent(flight.day, ignored -> new HashMap<>())
                            .computeIfAbsent(flight.tail, ignored -> new PlaneDay());
            day.tail = flight.tail;
            day.minutes += flight.delay;
            if (flight.cancelled) {
                day.cancelled++;
            } else {
                day.departures++;
            }
        }
        List<String> lines = new ArrayList<>();
        days.forEach(
                (date, planes) -> {
                    List<PlaneDay> worst = new ArrayList<>(planes.values());
                    worst.sort(PlaneDay.WORST_FIRST);
                    for (int i = 0; i < 10; i++) {
                        PlaneDay day = worst.get(i);
                        lines.add(
                                String.format(
                                        "%s #%02d %s %d min late in %d departures (%d cancelled)",
                                        LocalDate.ofEpochDay(date),
                                        i + 1,
                                        day.tail,
                                        day.minutes,
                                        day.departures,
                                        day.cancelled));
                    }
                });
        Collections.sort(lines);
        return lines;
    }
}

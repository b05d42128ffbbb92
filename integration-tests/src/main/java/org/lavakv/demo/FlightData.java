// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.connector.datagen.source.GeneratorFunction;

/**
 * Reads the data set's files completely and sorts them by time, so that a source can replay them
 * from any position.
 */
final class FlightData {

    private FlightData() {}

    /** Flights by scheduled departure, without those that have no tail number. */
    static List<Flight> flights(Path directory) throws IOException {
        List<Flight> flights = new ArrayList<>();
        for (String[] row : rows(directory.resolve("flights.csv.gz"), 19)) {
            if (row[11].equals("NA") || row[11].isEmpty()) {
                continue;
            }
            Flight flight = new Flight();
            flight.day =
                    (int)
                            LocalDate.of(
                                            Integer.parseInt(row[0]),
                                            Integer.parseInt(row[1]),
                                            Integer.parseInt(row[2]))
                                    .toEpochDay();
            flight.time =
                    Instant.parse(row[18]).toEpochMilli() + Integer.parseInt(row[17]) * 60_000L;
            flight.cancelled = row[5].equals("NA");
            flight.delay = flight.cancelled ? 0 : Integer.parseInt(row[5]);
            flight.carrier = row[9];
            flight.number = Integer.parseInt(row[10]);
            flight.tail = row[11];
            flight.origin = row[12];
            flight.destination = row[13];
            flights.add(flight);
        }
        flights.sort(
                Comparator.<Flight>comparingLong(flight -> flight.time)
                        .thenComparing(flight -> flight.carrier)
                        .thenComparingInt(flight -> flight.number)
                        .thenComparing(flight -> flight.tail));
        for (int i = 0; i < flights.size(); i++) {
            flights.get(i).id = i;
        }
        return flights;
    }

    /** Weather by hour, ordered by time. */
    static List<Weather> weather(Path directory) throws IOException {
        List<Weather> hours = new ArrayList<>();
        for (String[] row : rows(directory.resolve("weather.csv.gz"), 15)) {
            Weather weather = new Weather();
            weather.origin = row[0];
            weather.time = Instant.parse(row[14]).toEpochMilli();
            weather.windMph = number(row[9]);
            weather.rainInches = number(row[11]);
            weather.visibilityMiles = number(row[13]);
            hours.add(weather);
        }
        hours.sort(
                Comparator.<Weather>comparingLong(hour -> hour.time)
                        .thenComparing(hour -> hour.origin));
        return hours;
    }

    /** The register of planes. */
    static List<Plane> planes(Path directory) throws IOException {
        List<Plane> planes = new ArrayList<>();
        for (String[] row : rows(directory.resolve("planes.csv"), 9)) {
            Plane plane = new Plane();
            plane.tail = row[0];
            plane.built = row[1];
            plane.manufacturer = row[3];
            plane.model = row[4];
            planes.add(plane);
        }
        return planes;
    }

    private static double number(String field) {
        return field.equals("NA") || field.isEmpty() ? Double.NaN : Double.parseDouble(field);
    }

    /** The rows after the heading; no field of this data set is quoted or holds a comma. */
    private static List<String[]> rows(Path file, int columns) throws IOException {
        List<String[]> rows = new ArrayList<>();
        try (InputStream bytes = Files.newInputStream(file);
                InputStream plain =
                        file.toString().endsWith(".gz") ? new GZIPInputStream(bytes) : bytes;
                BufferedReader reader =
                        new BufferedReader(new InputStreamReader(plain, StandardCharsets.UTF_8))) {
            reader.readLine();
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                String[] row = line.split(",", -1);
                if (row.length != columns) {
                    throw new IOException(
                            file
                                    + ", row "
                                    + (rows.size() + 1)
                                    + ": "
                                    + row.length
                                    + " columns where "
                                    + columns
                                    + " belong");
                }
                rows.add(row);
            }
        }
        return rows;
    }

    /** Reads one of the files. */
    interface Reader<T> extends Serializable {
        List<T> read(Path directory) throws IOException;
    }

    /** Returns the record at a position to a source; this is sufficient for a replay. */
    static final class Records<T> implements GeneratorFunction<Long, T> {

        private static final long serialVersionUID = 1L;

        private final String directory;
        private final Reader<T> reader;
        private transient List<T> records;

        Records(String directory, Reader<T> reader) {
            this.directory = directory;
            this.reader = reader;
        }

        @Override
        public void open(SourceReaderContext context) throws IOException {
            records = reader.read(Path.of(directory));
        }

        @Override
        public T map(Long position) {
            return records.get(Math.toIntExact(position));
        }
    }
}

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.lavakv.flink.LavaOptions;
import org.lavakv.flink.LavaOptions.TimerService;

/**
 * Windows of SQL. Their operators reuse one object for all keys if the backend allows it. Results
 * must equal those of {@code hashmap}, wherever the timers are.
 */
class SqlWindowsITCase {

    private static final int ROWS = 600;
    private static final int KEYS = 12;

    @TempDir static Path directory;
    private static List<String> expected;

    @BeforeAll
    static void onHashmap() throws Exception {
        Configuration config = new Configuration();
        config.setString("state.backend.type", "hashmap");
        expected = run(config);
        for (String kind : List.of("tumble", "hop", "session")) {
            assertThat(expected).filteredOn(row -> row.contains(kind)).hasSizeGreaterThan(KEYS);
        }
    }

    @ParameterizedTest
    @EnumSource(TimerService.class)
    void windowsAreRightWhereverTheTimersAre(TimerService timers) throws Exception {
        Configuration config = new Configuration();
        config.setString("state.backend.type", "lava");
        config.set(LavaOptions.TIMER_SERVICE_FACTORY, timers);
        config.set(LavaOptions.LOCAL_DIRECTORIES, directory.toString());
        assertThat(run(config)).isEqualTo(expected);
    }

    private static List<String> run(Configuration config) throws Exception {
        config.setString("rest.bind-port", "0");
        config.setString("taskmanager.memory.managed.size", "64 mb");
        StreamExecutionEnvironment environment =
                StreamExecutionEnvironment.getExecutionEnvironment(config);
        environment.setParallelism(1);
        StreamTableEnvironment tables = StreamTableEnvironment.create(environment);
        TypeInformation<Row> type =
                Types.ROW_NAMED(new String[] {"k", "ts"}, Types.STRING, Types.LOCAL_DATE_TIME);
        tables.createTemporaryView(
                "input",
                tables.fromDataStream(
                        environment.fromData(type, rows()),
                        Schema.newBuilder()
                                .column("k", "STRING")
                                .column("ts", "TIMESTAMP(3)")
                                .watermark("ts", "ts - INTERVAL '1' SECOND")
                                .build()));
        String[] windows = {
            "TUMBLE(TABLE input, DESCRIPTOR(ts), INTERVAL '10' SECOND)",
            "HOP(TABLE input, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
            "SESSION(TABLE input PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND)"
        };
        List<String> queries = new ArrayList<>();
        for (String window : windows) {
            queries.add(
                    "SELECT '"
                            + window.substring(0, window.indexOf('(')).toLowerCase()
                            + "', k, COUNT(*), window_start FROM TABLE("
                            + window
                            + ") GROUP BY k, window_start, window_end");
        }
        List<String> result = new ArrayList<>();
        try (CloseableIterator<Row> found =
                tables.executeSql(String.join(" UNION ALL ", queries)).collect()) {
            found.forEachRemaining(row -> result.add(row.toString()));
        }
        Collections.sort(result);
        return result;
    }

    private static Row[] rows() {
        Random random = new Random(5);
        LocalDateTime begin = LocalDateTime.of(2024, 1, 1, 0, 0);
        Row[] rows = new Row[ROWS];
        for (int i = 0; i < ROWS; i++) {
            // Almost in order, and so far apart that sessions end.
            rows[i] =
                    Row.of(
                            "key " + random.nextInt(KEYS),
                            begin.plusNanos((200L * i + random.nextInt(900)) * 1_000_000));
        }
        return rows;
    }
}

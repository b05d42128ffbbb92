// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lavakv.flink.testing.BackendFixture.ALL;

import java.nio.file.Path;
import java.util.Random;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.configuration.MemorySize;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.DBStatistics;
import org.lavakv.flink.testing.BackendFixture;

/** Behaviour of a state at the limits of its files' space. */
@Timeout(300)
class SpaceLimitTest {

    private static final int VALUE_BYTES = 8 << 10;
    private static final int LIMIT_BYTES = 4 << 20;
    private static final int KEYS = 200;

    @TempDir Path root;

    private final Random random = new Random(7);
    private BackendFixture fixture;
    private LavaKeyedStateBackend<Integer> backend;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
        fixture.use(
                fixture.newLava(true)
                        .set(
                                LavaConfigurableOptions.SPACE_LIMIT,
                                MemorySize.parse(LIMIT_BYTES + "b"))
                        .set(LavaConfigurableOptions.MEMTABLE_SIZE, MemorySize.parse("256kb"))
                        .set(LavaConfigurableOptions.VALUE_FILE_SIZE, MemorySize.parse("256kb")));
        backend = (LavaKeyedStateBackend<Integer>) fixture.create(ALL);
    }

    @AfterEach
    void close() throws Exception {
        fixture.close(backend);
        fixture.close();
    }

    /** An almost incompressible value. */
    private String value() {
        StringBuilder text = new StringBuilder(VALUE_BYTES);
        for (int i = 0; i < VALUE_BYTES; i++) {
            text.append((char) ('!' + random.nextInt(90)));
        }
        return text.toString();
    }

    private DBStatistics statistics() {
        return backend.instance().db().getStatistics();
    }

    @Test
    void overwritingGoesOnForEverBelowTheLimit() throws Exception {
        ValueState<String> state = BackendFixture.value(backend);
        String[] last = new String[KEYS];
        long most = 0;
        for (int i = 0; i < 20 * KEYS; i++) {
            backend.setCurrentKey(i % KEYS);
            last[i % KEYS] = value();
            state.update(last[i % KEYS]);
            if (i % 50 == 0) {
                most = Math.max(most, statistics().liveFileBytes());
            }
        }
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            assertThat(state.value()).isEqualTo(last[key]);
        }
        assertThat(statistics().collections()).isPositive();
        // Memtables that were full when the limit was reached, and files that were being written.
        assertThat(most).isLessThan(LIMIT_BYTES + 8 * (256L << 10));
    }

    @Test
    void afterwardsTheErrorSaysWhatFillsTheSpaceAndDeletesHelp() throws Exception {
        ValueState<String> state = BackendFixture.value(backend);
        int[] written = {0};
        assertThatThrownBy(
                        () -> {
                            while (written[0] < 10 * LIMIT_BYTES / VALUE_BYTES) {
                                backend.setCurrentKey(written[0]);
                                state.update(value());
                                written[0]++;
                            }
                        })
                .hasStackTraceContaining("the limit is " + LIMIT_BYTES)
                .hasStackTraceContaining("raise the limit, or keep less state");
        assertThat(written[0]).isGreaterThan(LIMIT_BYTES / 2 / VALUE_BYTES);
        for (int key = 0; key < written[0]; key++) {
            backend.setCurrentKey(key);
            assertThat(state.value()).hasSize(VALUE_BYTES);
            state.clear();
        }
        backend.compact();
        backend.setCurrentKey(1);
        state.update("space again");
        assertThat(state.value()).isEqualTo("space again");
    }
}

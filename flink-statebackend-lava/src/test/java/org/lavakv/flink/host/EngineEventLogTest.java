// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.host;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.EventBytes;
import org.lavakv.EventCause;
import org.lavakv.EventKind;
import org.lavakv.Status;
import org.lavakv.flink.BackendInstance;
import org.lavakv.flink.LavaKeyedStateBackend;
import org.lavakv.flink.engine.EventCounts;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.metrics.LavaMetrics;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.LogLines;
import org.lavakv.flink.testing.RecordingMetricGroup;
import org.slf4j.event.Level;

/** Which events are logged at which level, and which are counted. */
@Timeout(120)
class EngineEventLogTest {

    private static final String LOG = EngineEventLog.class.getName();
    private static final long SHORT = Duration.ofMillis(4999).toNanos();
    private static final long LONG = EngineEventLog.LONG_STALL.toNanos();
    private static final long START = -LONG; // nanoTime may be negative

    @TempDir Path root;

    private final EventCounts counts = new EventCounts();
    private final EngineEventLog log = new EngineEventLog("the-operator", "the-job", "there");
    private final EventBytes events = new EventBytes();
    private final LogLines lines = new LogLines(LOG, Level.INFO);

    @AfterEach
    void close() {
        lines.close();
    }

    private void logAt(long afterStart) throws Exception {
        log.log(events.take(), counts, START + afterStart);
    }

    private void begin(long stall, EventCause cause) {
        events.add(EventKind.STALL_BEGIN, cause, Status.Code.OK, stall, 0, 17);
    }

    private void end(long stall, EventCause cause, Status.Code code, long nanos) {
        events.add(EventKind.STALL_END, cause, code, stall, nanos / 1000, 17);
    }

    @Test
    void aLongStallIsLoggedOnceWhenItIsLongAndOnceWhenItEnds() throws Exception {
        begin(1, EventCause.STALL_FLUSH);
        logAt(0);
        logAt(SHORT);
        assertThat(lines.lines()).isEmpty();
        logAt(LONG);
        logAt(2 * LONG);
        assertThat(lines.lines()).hasSize(1);
        assertThat(lines.lines().get(0))
                .startsWith("WARN")
                .contains("waiting for 5 s", "operator the-operator of job the-job in there")
                .contains("Cause: flushes", "17 memtables");
        end(1, EventCause.STALL_FLUSH, Status.Code.OK, 3 * LONG);
        logAt(3 * LONG);
        logAt(4 * LONG);
        assertThat(lines.lines()).hasSize(2);
        assertThat(lines.lines().get(1))
                .startsWith("WARN")
                .contains("no longer wait, after 15 s", "the-operator", "flushes")
                .doesNotContain("failed");
        assertThat(counts.stalls()).isEqualTo(1);
        assertThat(counts.slowdowns()).isZero();
    }

    @Test
    void aShortStallIsOnlyCounted() throws Exception {
        for (int stall = 1; stall <= 3; stall++) {
            begin(stall, EventCause.STALL_LEVEL0);
            logAt(stall * LONG);
            end(stall, EventCause.STALL_LEVEL0, Status.Code.OK, SHORT);
            logAt(stall * LONG + SHORT);
        }
        assertThat(lines.lines()).isEmpty();
        assertThat(counts.stalls()).isEqualTo(3);
    }

    @Test
    void aLongStallThatEndedBetweenTwoLooksIsOneLine() throws Exception {
        begin(1, EventCause.STALL_SPACE_LIMIT);
        end(1, EventCause.STALL_SPACE_LIMIT, Status.Code.NO_SPACE, LONG);
        logAt(0);
        // Its begin was dropped.
        events.dropped(5);
        end(2, EventCause.STALL_SPACE_OF_PROCESS, Status.Code.OK, LONG);
        logAt(LONG);
        assertThat(lines.lines()).hasSize(2).allMatch(line -> line.startsWith("WARN"));
        assertThat(lines.lines().get(0)).contains("limit of space", "failed with NO_SPACE");
        assertThat(lines.lines().get(1)).contains("limit of space of the process");
        assertThat(counts.droppedEvents()).isEqualTo(5);
    }

    @Test
    void aWaitGoesOnWhenItsCauseChanges() throws Exception {
        begin(1, EventCause.STALL_FLUSH);
        logAt(0);
        end(1, EventCause.STALL_FLUSH, Status.Code.OK, SHORT);
        begin(2, EventCause.STALL_LEVEL0);
        logAt(SHORT);
        assertThat(lines.lines()).as("not yet long").isEmpty();
        logAt(LONG);
        assertThat(lines.lines()).hasSize(1);
        assertThat(lines.lines().get(0)).contains("waiting for 5 s", "Cause: files of level 0");
        end(2, EventCause.STALL_LEVEL0, Status.Code.OK, LONG);
        begin(3, EventCause.STALL_FLUSH);
        logAt(2 * LONG);
        logAt(3 * LONG);
        assertThat(lines.lines()).as("the wait was told before").hasSize(1);
        end(3, EventCause.STALL_FLUSH, Status.Code.OK, LONG);
        logAt(4 * LONG);
        assertThat(lines.lines()).hasSize(2);
        assertThat(lines.lines().get(1))
                .startsWith("WARN")
                .contains("no longer wait, after 15 s", "Cause: flushes");
        assertThat(counts.stalls()).as("each cause counts").isEqualTo(3);
        begin(4, EventCause.STALL_FLUSH);
        end(4, EventCause.STALL_FLUSH, Status.Code.OK, SHORT);
        logAt(5 * LONG);
        assertThat(lines.lines()).as("a wait after a pause is another").hasSize(2);
    }

    @Test
    void aNewStallAfterAPauseContinuesNoOther() throws Exception {
        begin(1, EventCause.STALL_FLUSH);
        logAt(0);
        end(1, EventCause.STALL_FLUSH, Status.Code.OK, SHORT);
        begin(2, EventCause.STALL_FLUSH);
        logAt(LONG);
        assertThat(lines.lines()).as("of the same cause").isEmpty();
        end(2, EventCause.STALL_FLUSH, Status.Code.NO_SPACE, SHORT);
        begin(3, EventCause.STALL_SPACE_LIMIT);
        logAt(2 * LONG);
        assertThat(lines.lines()).as("after a write that failed").isEmpty();
        end(3, EventCause.STALL_SPACE_LIMIT, Status.Code.OK, SHORT);
        events.add(EventKind.FLUSH_BEGIN, EventCause.FLUSH_SNAPSHOT, Status.Code.OK, 1, 0, 1);
        begin(4, EventCause.STALL_FLUSH);
        logAt(3 * LONG);
        assertThat(lines.lines()).as("another event is between").isEmpty();
    }

    @Test
    void theEndOfALongWaitIsToldWhenWritesAreOnlySlowedFromThenOn() throws Exception {
        begin(1, EventCause.STALL_SPACE_LIMIT);
        logAt(0);
        logAt(LONG);
        end(1, EventCause.STALL_SPACE_LIMIT, Status.Code.OK, 2 * LONG);
        begin(2, EventCause.STALL_SPACE_SLOWDOWN);
        logAt(2 * LONG);
        logAt(3 * LONG);
        end(2, EventCause.STALL_SPACE_SLOWDOWN, Status.Code.OK, LONG);
        begin(3, EventCause.STALL_SPACE_LIMIT);
        logAt(3 * LONG);
        assertThat(lines.lines()).hasSize(4);
        assertThat(lines.lines().get(1))
                .startsWith("WARN")
                .contains("no longer wait but are slowed, after 10 s");
        assertThat(lines.lines().get(2)).startsWith("INFO").contains("slowed for 5 s");
        assertThat(lines.lines().get(3))
                .startsWith("INFO")
                .contains("no longer slowed but have to wait, after 5 s");
    }

    @Test
    void aStallWhoseEndMayHaveBeenDroppedIsNotTakenForALongOne() throws Exception {
        begin(1, EventCause.STALL_FLUSH);
        logAt(0);
        events.dropped(5);
        logAt(SHORT);
        logAt(2 * LONG);
        log.close();
        assertThat(lines.lines()).isEmpty();
        // It was the same stall.
        end(1, EventCause.STALL_FLUSH, Status.Code.OK, 3 * LONG);
        logAt(3 * LONG);
        assertThat(lines.lines()).hasSize(1);
        assertThat(lines.lines().get(0)).contains("no longer wait, after 15 s");
    }

    @Test
    void aWaitWhoseBeginWasDroppedGoesOn() throws Exception {
        events.dropped(5);
        end(1, EventCause.STALL_FLUSH, Status.Code.OK, SHORT);
        begin(2, EventCause.STALL_LEVEL0);
        logAt(0);
        logAt(SHORT);
        assertThat(lines.lines()).isEmpty();
        end(2, EventCause.STALL_LEVEL0, Status.Code.OK, LONG);
        logAt(LONG);
        assertThat(lines.lines()).hasSize(1);
        assertThat(lines.lines().get(0)).contains("no longer wait, after 10 s", "level 0");
    }

    @Test
    void aSlowdownForSpaceIsNoWarning() throws Exception {
        begin(1, EventCause.STALL_SPACE_SLOWDOWN);
        logAt(0);
        logAt(LONG);
        end(1, EventCause.STALL_SPACE_SLOWDOWN, Status.Code.OK, 2 * LONG);
        logAt(2 * LONG);
        assertThat(lines.lines()).hasSize(2).allMatch(line -> line.startsWith("INFO"));
        assertThat(lines.lines().get(0)).contains("slowed for 5 s", "17 bytes");
        assertThat(lines.lines().get(1)).contains("no longer slowed, after 10 s");
        assertThat(counts.slowdowns()).isEqualTo(1);
        assertThat(counts.stalls()).isZero();
    }

    @Test
    void aStallThatOnlyCloseEndsHasALastLine() throws Exception {
        begin(1, EventCause.STALL_FLUSH);
        logAt(0);
        log.close();
        assertThat(lines.lines()).as("it was short").isEmpty();
        begin(2, EventCause.STALL_FLUSH);
        logAt(0);
        logAt(LONG);
        log.close();
        log.close();
        assertThat(lines.lines()).hasSize(2).allMatch(line -> line.startsWith("WARN"));
    }

    @Test
    void jobsThatFailAreCountedAndThoseThatCloseEndsAreNot() throws Exception {
        EventCause cause = EventCause.COMPACTION_LEVEL0;
        for (Status.Code code : Status.Code.values()) {
            events.add(EventKind.COMPACTION_END, cause, code, 1, 1, 1);
        }
        events.add(EventKind.FLUSH_END, EventCause.FLUSH_SNAPSHOT, Status.Code.NO_SPACE, 2, 1, 1);
        events.add(EventKind.COLLECTION_END, EventCause.COLLECTION_SPACE, Status.Code.OK, 3, 1, 1);
        logAt(0);
        assertThat(counts.failedJobs()).isEqualTo(Status.Code.values().length - 2 + 1);
        assertThat(lines.lines()).isEmpty();
    }

    @Test
    void damageAndBackgroundErrorsAreLoggedElsewhere() throws Exception {
        try (LogLines debug = new LogLines(LOG, Level.DEBUG)) {
            for (EventKind kind :
                    List.of(
                            EventKind.DAMAGE,
                            EventKind.BACKGROUND_ERROR_BEGIN,
                            EventKind.BACKGROUND_ERROR_END)) {
                events.add(kind, null, Status.Code.CORRUPTION, 0, 0, 1);
            }
            logAt(0);
            assertThat(debug.lines()).isEmpty();
        }
    }

    @Test
    void atDebugEachJobOfABackendIsLogged() throws Exception {
        try (LogLines debug = new LogLines(LOG, Level.DEBUG);
                BackendFixture fixture = new BackendFixture(root)) {
            AbstractKeyedStateBackend<Integer> backend =
                    fixture.use(fixture.newLava(true)).create(BackendFixture.ALL);
            LavaInstance instance = BackendInstance.of((LavaKeyedStateBackend<Integer>) backend);
            RecordingMetricGroup group = new RecordingMetricGroup();
            new LavaMetrics(instance, group, true);
            ValueState<String> state = BackendFixture.value(backend);
            for (int key = 0; key < 10; key++) {
                backend.setCurrentKey(key);
                state.update("secret");
            }
            instance.db().flush();
            fixture.close(backend);
            List<String> flushes =
                    debug.lines().stream()
                            .filter(line -> line.contains("flush"))
                            .collect(Collectors.toList());
            assertThat(flushes).hasSize(2).allMatch(line -> line.startsWith("DEBUG"));
            assertThat(flushes.get(0)).contains("flush begin", "requested", "memtables 1");
            assertThat(flushes.get(1)).contains("flush end", "requested", "installed 1");
            assertThat(debug.lines()).noneMatch(line -> line.contains("secret"));
            for (String name : List.of("stalls", "slowdowns", "failed-jobs", "events-dropped")) {
                assertThat(value(group.gauges(), ".lava." + name)).as(name).isZero();
            }
            instance.eventCounts().addDroppedEvents(3);
            instance.eventCounts().addStall();
            assertThat(value(group.gauges(), ".lava.events-dropped")).isEqualTo(3);
            assertThat(value(group.gauges(), ".lava.stalls")).isEqualTo(1);
        }
    }

    private static long value(Map<String, Gauge<?>> gauges, String name) {
        return (Long) gauges.get(name).getValue();
    }
}

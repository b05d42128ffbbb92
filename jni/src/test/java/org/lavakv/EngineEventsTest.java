// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The events of a real instance, and what the buffer and the decoder do with them. */
@Timeout(120)
class EngineEventsTest extends LavaTestBase {

    private static final int BUFFER_BYTES = 64 << 10;

    private final List<EngineEvent> heard = new ArrayList<>();
    private Lease lease;
    private LavaDB db;
    private TableHandle t;

    @BeforeEach
    void acquire() throws Exception {
        lease = lease();
    }

    @AfterEach
    void close() {
        if (db != null) {
            db.close();
        }
        lease.close();
    }

    private void openDatabase(DBOptions options) throws Exception {
        db = LavaDB.open(options, path().toString(), lease, List.of());
        t = db.createTable("values", new TableOptions().setSeparationBytes(100));
    }

    private Path path() {
        return directory.resolve("events");
    }

    private static DBOptions options() {
        return new DBOptions().setEventBufferBytes(BUFFER_BYTES);
    }

    private void take() throws Exception {
        EngineEvents taken = db.takeEvents();
        assertThat(taken.dropped()).isZero();
        heard.addAll(taken.events());
    }

    /** The first event of the kind, which may still be on its way. */
    private EngineEvent await(EventKind kind) throws Exception {
        while (true) {
            take();
            List<EngineEvent> found = all(kind);
            if (!found.isEmpty()) {
                return found.get(0);
            }
            Thread.sleep(1);
        }
    }

    private List<EngineEvent> all(EventKind kind) {
        return heard.stream().filter(e -> e.kind() == kind).collect(Collectors.toList());
    }

    private void putAll(int count, String value) throws Exception {
        for (int i = 0; i < count; i++) {
            put(db, t, "k" + i, value);
        }
    }

    private static void expectPair(EngineEvent begin, EngineEvent end) {
        assertThat(begin.id()).isPositive().isEqualTo(end.id());
        assertThat(begin.cause()).isEqualTo(end.cause());
        assertThat(begin.durationMicros()).isZero();
        assertThat(begin.timeMillis()).isLessThanOrEqualTo(end.timeMillis());
    }

    @Test
    void aFlushIsToldWithItsCauseAndItsFiles() throws Exception {
        long before = System.currentTimeMillis();
        openDatabase(options());
        putAll(10, "v".repeat(200));
        db.flush();
        EngineEvent end = await(EventKind.FLUSH_END);
        EngineEvent begin = all(EventKind.FLUSH_BEGIN).get(0);
        expectPair(begin, end);
        assertThat(end.cause()).isEqualTo(EventCause.FLUSH_REQUESTED);
        assertThat(end.code()).isEqualTo(Status.Code.OK);
        assertThat(end.message()).isEmpty();
        assertThat(end.names()).isEmpty();
        assertThat(end.durationMicros()).isPositive();
        assertThat(end.timeMillis()).isBetween(before, System.currentTimeMillis());
        assertThat(end.figures().keySet())
                .containsExactlyInAnyOrderElementsOf(EventKind.FLUSH_END.figures());
        assertThat(end.get(EventFigure.MEMTABLES)).isEqualTo(1);
        assertThat(end.get(EventFigure.MEMTABLE_BYTES)).isGreaterThan(2000);
        assertThat(end.get(EventFigure.INSTALLED)).isEqualTo(1);
        assertThat(end.get(EventFigure.FILES)).isEqualTo(2);
        DBStatistics s = db.getStatistics();
        assertThat(end.get(EventFigure.VALUE_FILE_BYTES)).isEqualTo(s.valueFileBytes());
        assertThat(end.get(EventFigure.FILE_BYTES)).isEqualTo(s.bytesAtLevel(0));
        assertThatThrownBy(() -> begin.get(EventFigure.FILES))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("FLUSH_BEGIN has no FILES");
        assertThat(begin.toString())
                .isEqualTo(
                        "flush begin %d: requested, memtables 1, memtable bytes %d",
                        begin.id(), begin.get(EventFigure.MEMTABLE_BYTES));
        take();
        assertThat(heard).as("each is told once").doesNotHaveDuplicates();
    }

    @Test
    void aCompactionIsToldAndTheFilesThatItRemoves() throws Exception {
        openDatabase(options());
        List<String> written = new ArrayList<>();
        for (int round = 0; round < 2; round++) {
            putAll(10, "v" + round);
            db.flush();
        }
        written.addAll(filesEndingWith(".ksst"));
        db.compactAll();
        EngineEvent end = await(EventKind.COMPACTION_END);
        expectPair(all(EventKind.COMPACTION_BEGIN).get(0), end);
        assertThat(end.cause()).isEqualTo(EventCause.COMPACTION_MANUAL);
        assertThat(end.get(EventFigure.TRIVIAL_MOVE)).isZero();
        assertThat(end.get(EventFigure.INPUT_LEVEL)).isZero();
        assertThat(end.get(EventFigure.OUTPUT_LEVEL)).isPositive();
        assertThat(end.get(EventFigure.INPUT_FILES)).isEqualTo(2);
        assertThat(end.get(EventFigure.OUTPUT_FILES)).isEqualTo(1);
        assertThat(end.get(EventFigure.WRITTEN_BYTES))
                .isEqualTo(db.getStatistics().compactionBytesWritten());
        while (all(EventKind.FILE_DELETED).size() < 2) {
            take();
        }
        List<String> deleted = new ArrayList<>();
        for (EngineEvent event : all(EventKind.FILE_DELETED)) {
            assertThat(event.code()).isEqualTo(Status.Code.OK);
            deleted.addAll(event.names());
        }
        assertThat(deleted).containsExactlyInAnyOrderElementsOf(written);
    }

    @Test
    void aCollectionIsTold() throws Exception {
        openDatabase(options());
        putAll(10, "v".repeat(1000));
        db.flush();
        putAll(8, "w".repeat(1000));
        db.flush();
        db.compactAll();
        EngineEvent end = await(EventKind.COLLECTION_END);
        expectPair(all(EventKind.COLLECTION_BEGIN).get(0), end);
        assertThat(end.cause()).isEqualTo(EventCause.COLLECTION_GARBAGE);
        assertThat(end.get(EventFigure.GARBAGE_BYTES)).isPositive();
        assertThat(end.get(EventFigure.VALUES_DEAD)).isEqualTo(8);
        assertThat(end.get(EventFigure.INSTALLED)).isEqualTo(1);
    }

    @Test
    void snapshotsAndDroppedTablesAreTold() throws Exception {
        openDatabase(options());
        TableHandle other = db.createTable("\u00fcber \ud800", new TableOptions());
        putAll(10, "v");
        db.getSnapshot().close();
        db.dropTable(other);
        EngineEvent released = await(EventKind.SNAPSHOT_RELEASED);
        EngineEvent taken = all(EventKind.SNAPSHOT_TAKEN).get(0);
        assertThat(taken.id()).isPositive().isEqualTo(released.id());
        assertThat(taken.cause()).isNull();
        assertThat(taken.get(EventFigure.MEMTABLE_BYTES)).isPositive();
        assertThat(released.cause()).isEqualTo(EventCause.SNAPSHOT_RELEASED);
        EngineEvent dropped = await(EventKind.TABLE_DROPPED);
        assertThat(dropped.names()).containsExactly("\u00fcber \ud800");
        assertThat(dropped.toString()).isEqualTo("table dropped: \u00fcber \ud800");
    }

    @Test
    void aStallIsToldWhenItBeginsAndWhenItEnds() throws Exception {
        openDatabase(options().setMemtableBytes(64 << 10).setSealedRunsMax(1));
        for (int i = 0; all(EventKind.STALL_END).isEmpty(); i++) {
            put(db, t, "k" + i, "v".repeat(1000));
            take();
        }
        EngineEvent end = all(EventKind.STALL_END).get(0);
        expectPair(all(EventKind.STALL_BEGIN).get(0), end);
        assertThat(end.cause()).isEqualTo(EventCause.STALL_FLUSH);
        assertThat(end.code()).isEqualTo(Status.Code.OK);
        assertThat(end.get(EventFigure.MEMTABLES)).isPositive();
        assertThat(end.durationMicros()).isPositive();
    }

    @Test
    void backgroundWorkThatFailsIsToldWithItsStatus() throws Exception {
        openDatabase(options());
        put(db, t, "k", "v");
        Path away = path().resolveSibling("away");
        Files.move(path(), away);
        assertThatThrownBy(db::flush).isInstanceOf(LavaDBException.class);
        EngineEvent failed = await(EventKind.FLUSH_END);
        assertThat(failed.code()).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(failed.get(EventFigure.INSTALLED)).isZero();
        EngineEvent begin = await(EventKind.BACKGROUND_ERROR_BEGIN);
        assertThat(begin.code()).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(begin.message()).contains("No such file");
        assertThat(begin.get(EventFigure.FAILURES)).isEqualTo(1);
        assertThat(begin.get(EventFigure.SINCE_MS)).isPositive();
        Files.move(away, path());
        db.flush();
        EngineEvent end = await(EventKind.BACKGROUND_ERROR_END);
        assertThat(end.code()).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(end.get(EventFigure.SINCE_MS)).isEqualTo(begin.get(EventFigure.SINCE_MS));
    }

    @Test
    void aDamagedFileIsToldWithItsTables() throws Exception {
        openDatabase(options());
        putAll(10, "v");
        db.flush();
        String file = filesEndingWith(".ksst").get(0);
        try (RandomAccessFile bytes = new RandomAccessFile(path().resolve(file).toFile(), "rw")) {
            bytes.seek(40);
            int old = bytes.read();
            bytes.seek(40);
            bytes.write(old ^ 1);
        }
        putAll(10, "w");
        db.flush();
        assertThatThrownBy(db::compactAll).isInstanceOf(LavaDBException.class);
        EngineEvent damage = await(EventKind.DAMAGE);
        assertThat(damage.code()).isEqualTo(Status.Code.CORRUPTION);
        assertThat(damage.message()).contains(file);
        assertThat(damage.names()).containsExactly(file, "values");
    }

    @Test
    void theOldestEventsAreDroppedAndCounted() throws Exception {
        openDatabase(new DBOptions().setEventBufferBytes(1)); // holds one of the largest
        int snapshots = 200;
        for (int i = 0; i < snapshots; i++) {
            db.getSnapshot().close();
        }
        EngineEvents taken = db.takeEvents();
        assertThat(taken.dropped()).isPositive();
        assertThat(taken.dropped() + taken.events().size()).isEqualTo(2L * snapshots);
        EngineEvent last = taken.events().get(taken.events().size() - 1);
        assertThat(last.kind()).isEqualTo(EventKind.SNAPSHOT_RELEASED);
        List<Long> ids = taken.events().stream().map(EngineEvent::id).collect(Collectors.toList());
        assertThat(ids).as("the newest, in order").isSorted().contains(last.id() - 1);
        assertThat(db.takeEvents().dropped()).as("told once").isZero();
        assertThat(db.getStatistics().eventsDropped()).as("all had reached the buffer").isZero();
        db.getSnapshot().close();
        assertThat(db.takeEvents().events()).hasSize(2);
    }

    @Test
    void theBufferIsCountedAsMemoryOfTheBindingsWhileTheInstanceIsOpen() throws Exception {
        long before = Host.getStatistics().bindingBytes();
        openDatabase(new DBOptions());
        long without = Host.getStatistics().bindingBytes() - before;
        db.close();
        openDatabase(options());
        assertThat(Host.getStatistics().bindingBytes() - before).isEqualTo(without + BUFFER_BYTES);
        db.close();
        assertThat(Host.getStatistics().bindingBytes() - before).isEqualTo(without);
    }

    @Test
    void withoutABufferThereAreNoEventsAndAfterCloseNoCalls() throws Exception {
        openDatabase(new DBOptions());
        put(db, t, "k", "v");
        db.flush();
        assertThat(db.takeEvents().events()).isEmpty();
        assertThat(db.takeEvents().dropped()).isZero();
        db.close();
        assertThatThrownBy(db::takeEvents).isInstanceOf(LavaClosedException.class);
        assertThatThrownBy(() -> options().setEventBufferBytes(-1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> openDatabase(options().setEventBufferBytes((16 << 20) + 1)))
                .isInstanceOfSatisfying(
                        LavaDBException.class,
                        e -> assertThat(e.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT));
    }

    @Test
    void bytesThatAreNotEventsAreRefused() throws Exception {
        openDatabase(options());
        putAll(10, "v".repeat(200));
        db.flush();
        db.getSnapshot().close();
        db.dropTable(t);
        byte[] good = takeBytesWith(EventKind.FLUSH_END, EventKind.TABLE_DROPPED);
        EngineEvents events = EngineEvents.decode(good);
        assertThat(events.events()).hasSizeGreaterThan(4);
        int refused = 0;
        for (int length = 1; length < good.length; length++) {
            // Cut between two events, the rest is as good.
            refused += decodes(Arrays.copyOf(good, length)) ? 0 : 1;
        }
        assertThat(refused).isEqualTo(good.length - 1 - events.events().size());
        int kind = Long.BYTES + Short.BYTES;
        int cause = kind + 1;
        assertThat(good[kind]).isEqualTo((byte) EventKind.FLUSH_BEGIN.ordinal());
        assertThat(decodes(changed(good, kind, EventKind.values().length))).isFalse();
        assertThat(decodes(changed(good, kind, 0xff))).isFalse();
        assertThat(decodes(changed(good, cause, EventCause.OF_FLUSH.size()))).isFalse();
        assertThat(decodes(changed(good, cause, 0xff))).as("a flush has a cause").isFalse();
        assertThat(decodes(changed(good, 0, 0x80))).as("a negative count").isFalse();
        byte[] endless = new byte[kind + 3 + 9];
        endless[kind - 1] = 3 + 9;
        Arrays.fill(endless, kind + 3, endless.length, (byte) 0xff);
        assertThat(decodes(endless)).as("a number of too many bits").isFalse();
        Random random = new Random(7);
        for (int i = 0; i < 20_000; i++) {
            byte[] bad = good.clone();
            for (int changes = random.nextInt(4); changes >= 0; changes--) {
                bad[random.nextInt(bad.length)] = (byte) random.nextInt();
            }
            decodes(bad); // throws nothing else
        }
    }

    /** Events until all these kinds have come, as one call would have taken them. */
    private byte[] takeBytesWith(EventKind... kinds) throws Exception {
        byte[] all = EngineEvents.take0(db.handle);
        while (!kindsOf(all).containsAll(List.of(kinds))) {
            Thread.sleep(1);
            byte[] more = EngineEvents.take0(db.handle);
            int had = all.length;
            all = Arrays.copyOf(all, had + more.length - Long.BYTES);
            System.arraycopy(more, Long.BYTES, all, had, more.length - Long.BYTES);
        }
        return all;
    }

    private static List<EventKind> kindsOf(byte[] events) throws Exception {
        return EngineEvents.decode(events).events().stream()
                .map(EngineEvent::kind)
                .collect(Collectors.toList());
    }

    private static byte[] changed(byte[] bytes, int at, int to) {
        byte[] changed = bytes.clone();
        changed[at] = (byte) to;
        return changed;
    }

    private static boolean decodes(byte[] bytes) {
        try {
            EngineEvents.decode(bytes).events().forEach(EngineEvent::toString);
            return true;
        } catch (LavaDBException e) {
            assertThat(e.getCode()).isEqualTo(Status.Code.INTERNAL);
            return false;
        }
    }

    @Test
    void theNativeLibraryHasTheSameKindsFiguresAndCauses() throws Exception {
        Decoder in = new Decoder(LavaLibrary.eventTables0());
        Map<String, List<String>> kinds = new LinkedHashMap<>();
        for (int i = in.int32(); i > 0; i--) {
            kinds.put(in.string(), in.strings());
        }
        Map<String, List<String>> causes = new LinkedHashMap<>();
        for (int i = in.int32(); i > 0; i--) {
            causes.put(in.string(), in.strings());
        }
        assertThat(in.hasMore()).isFalse();
        Map<String, List<String>> ours = new LinkedHashMap<>();
        for (EventKind kind : EventKind.values()) {
            ours.put(
                    kind.nativeName(),
                    kind.figures().stream()
                            .map(EventFigure::nativeName)
                            .collect(Collectors.toList()));
            String group = kind.nativeName().split("_")[0];
            if (!kind.causes().isEmpty()) {
                assertThat(texts(kind.causes())).as(kind.name()).isEqualTo(causes.get(group));
                assertThat(kind.causes())
                        .allMatch(cause -> cause.name().toLowerCase(Locale.ROOT).startsWith(group));
            }
        }
        assertThat(new ArrayList<>(ours.entrySet())).isEqualTo(new ArrayList<>(kinds.entrySet()));
        int all = causes.values().stream().mapToInt(List::size).sum();
        assertThat(EventCause.values()).hasSize(all);
    }

    private static List<String> texts(List<EventCause> causes) {
        return causes.stream().map(EventCause::text).collect(Collectors.toList());
    }

    private List<String> filesEndingWith(String end) throws Exception {
        try (var files = Files.list(path())) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(end))
                    .collect(Collectors.toList());
        }
    }
}

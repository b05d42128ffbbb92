// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** One log shared by an instance and the layer above it. */
class EntryLogTest extends LavaTestBase {
    private static final int VALUE_BYTES = 5000;

    private static byte[] value(int i) {
        byte[] value = new byte[VALUE_BYTES];
        new Random(i).nextBytes(value);
        return value;
    }

    private static byte[] key(int i) {
        return ("\1k" + i).getBytes(StandardCharsets.ISO_8859_1);
    }

    private static byte[] entry(int i, byte[] value, int lacks) {
        byte[] head = ("set " + i + ": ").getBytes(StandardCharsets.UTF_8);
        byte[] entry = Arrays.copyOf(head, head.length + value.length - lacks);
        System.arraycopy(value, lacks, entry, head.length, value.length - lacks);
        return entry;
    }

    private static TableHandle table(LavaDB db) throws LavaDBException {
        return db.createTable("t", new TableOptions().setSeparationBytes(100));
    }

    @Test
    void theLastPutIsBoundToItsEntryAndBothReadIt() throws Exception {
        try (Lease lease = lease();
                LavaDB db = open(lease)) {
            TableHandle t = table(db);
            EntryLog log = db.entryLog();
            assertThat(log.bindExternal(new byte[10])).as("nothing was put").isNull();
            List<EntryLocation> locations = new ArrayList<>();
            List<byte[]> entries = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                byte[] key = key(i);
                db.put(t, key, 0, key.length, 0, value(i), 0, VALUE_BYTES);
                entries.add(entry(i, value(i), i % 2));
                locations.add(log.bindExternal(entries.get(i)));
                assertThat(locations.get(i)).isNotNull();
                assertThat(log.bindExternal(entries.get(i))).as("again").isNull();
                assertThat(log.read(locations.get(i))).isEqualTo(entries.get(i));
                assertThat(log.readValue(log.getExternal(t, key, 0))).isEqualTo(value(i));
            }
            entries.add("no value".getBytes(StandardCharsets.UTF_8));
            locations.add(log.append(entries.get(10)));
            entries.add(entry(11, value(11), 0));
            locations.add(log.putExternal(t, key(11), 0, value(11), entries.get(11)));
            assertThat(log.getExternal(t, key(12), 0)).isNull();
            assertThatThrownBy(() -> log.putExternal(t, key(11), 0, value(11), value(12)))
                    .isInstanceOf(LavaDBException.class)
                    .hasMessageContaining("does not end with its value");
            long segment = locations.get(0).segment();
            assertThatThrownBy(() -> log.finish(segment)).hasMessageContaining("still go");
            log.roll();
            log.finish(segment);

            EntryLocation last = locations.get(11);
            Path file = directory.resolve("db").resolve(log.segmentName(segment));
            byte[] bytes = Files.readAllBytes(file);
            int from = (int) locations.get(3).offset();
            List<byte[]> decoded =
                    EntryLog.decode(
                            log.segmentName(segment), from, bytes, from, (int) last.end() - from);
            assertThat(decoded).hasSize(9);
            for (int i = 3; i < 12; i++) {
                assertThat(decoded.get(i - 3)).isEqualTo(entries.get(i));
            }
            assertThatThrownBy(() -> EntryLog.decode(log.segmentName(segment), 0, bytes, from, 100))
                    .isInstanceOf(LavaDBException.class)
                    .hasMessageContaining(log.segmentName(segment));

            db.flush();
            assertThat(db.getStatistics().externalValues()).isEqualTo(11);
            assertThat(db.getStatistics().entryBytes())
                    .isEqualTo(entries.stream().mapToLong(e -> e.length).sum());
            log.release(last.sequence());
            for (int i = 0; i < 12; i++) {
                byte[] key = key(i);
                assertThat(db.get(t, key, 0, key.length, 0)).isEqualTo(i == 10 ? null : value(i));
            }
            assertThat(Files.readAllBytes(file)).as("the same file").isEqualTo(bytes);
        }
    }

    @Test
    void whatIsReleasedGoes() throws Exception {
        try (Lease lease = lease();
                LavaDB db = open(lease)) {
            TableHandle t = table(db);
            EntryLog log = db.entryLog();
            EntryLocation location = log.putExternal(t, key(1), 0, value(1), entry(1, value(1), 0));
            Path file = directory.resolve("db").resolve(log.segmentName(location.segment()));
            db.delete(t, key(1), 0, key(1).length, 0);
            db.flush();
            assertThat(log.read(location)).isEqualTo(entry(1, value(1), 0));
            log.release(location.sequence());
            assertThat(file).doesNotExist();
            assertThatThrownBy(() -> log.read(location))
                    .isInstanceOf(LavaDBException.class)
                    .hasMessageContaining("was released");
        }
    }
}

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * All names that Flink's formats allow are valid names of tables. Some used to be refused, and some
 * were changed.
 */
class NameBytesTest extends LavaTestBase {

    private static final List<String> NAMES =
            List.of(
                    "",
                    "a",
                    "\0",
                    "a\0b",
                    "?",
                    "\ud800",
                    "\ud801",
                    "\udc00",
                    "\udc00\ud800",
                    "\ud83d\ude00",
                    "x\ud83dy\ude00z",
                    "\ud800\ud83d\ude00",
                    "\ud7ff\ue000",
                    "ß€",
                    "n".repeat(4096),
                    "n".repeat(4097),
                    "n".repeat(65535),
                    "\uffff".repeat(21845));

    @Test
    void namesAreDistinguishedAndReadBack() {
        Map<String, String> byBytes = new HashMap<>();
        for (String name : NAMES) {
            byte[] bytes = NameBytes.of(name);
            assertThat(NameBytes.toName(bytes)).isEqualTo(name);
            assertThat(byBytes.put(new String(bytes, StandardCharsets.ISO_8859_1), name)).isNull();
        }
        assertThat(NameBytes.of("ß€\ud83d\ude00"))
                .isEqualTo("ß€\ud83d\ude00".getBytes(StandardCharsets.UTF_8));
        // Other invalid bytes are decoded with replacement characters, as before.
        assertThat(NameBytes.toName(new byte[] {(byte) 0xed, (byte) 0xa0})).contains("\ufffd");
    }

    @Test
    void tablesOfAllNames() throws Exception {
        try (Lease lease = lease();
                LavaDB db = open(lease)) {
            Map<String, TableHandle> tables = new HashMap<>();
            for (String name : NAMES) {
                TableHandle table = db.createTable(name, new TableOptions());
                tables.put(name, table);
                put(db, table, "key", "of " + name.hashCode());
            }
            List<String> listed = new ArrayList<>();
            try (Snapshot s = db.getSnapshot()) {
                s.waitFlushed();
                for (TableInfo info : MetadataInfo.read(s.getFiles().metadata()).tables()) {
                    listed.add(info.name());
                }
            }
            assertThat(listed).containsExactlyInAnyOrderElementsOf(NAMES);
            assertThat(db.listTables().stream().map(TableInfo::name).collect(Collectors.toList()))
                    .containsExactlyInAnyOrderElementsOf(NAMES);
            byte[] key = key("key");
            for (String name : NAMES) {
                assertThat(db.get(tables.get(name), key, 0, key.length, 0))
                        .asString()
                        .isEqualTo("of " + name.hashCode());
            }
        }
    }
}

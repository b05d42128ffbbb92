// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/**
 * Loads the library; helps with keys and values. {@link NativeLeakCheck} runs after each test
 * class.
 */
abstract class LavaTestBase {

    static final long LEASE_BYTES = 64L << 20;

    @TempDir Path directory;

    @BeforeAll
    static void load() throws Exception {
        LavaDB.loadLibrary(null);
    }

    static Lease lease() throws LavaDBException {
        return Host.acquire(LEASE_BYTES, 0.5);
    }

    LavaDB open(Lease lease) throws LavaDBException {
        return open(lease, "db");
    }

    LavaDB open(Lease lease, String name) throws LavaDBException {
        return LavaDB.open(new DBOptions(), directory.resolve(name).toString(), lease, List.of());
    }

    /** Takes events until there is one of the kind; the instance keeps them in a buffer. */
    static EngineEvent awaitEvent(LavaDB db, EventKind kind) throws Exception {
        while (true) {
            for (EngineEvent event : db.takeEvents().events()) {
                if (event.kind() == kind) {
                    return event;
                }
            }
            Thread.sleep(1);
        }
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** A key in partition 1. */
    static byte[] key(String text) {
        return bytes("\u0001" + text);
    }

    static void put(LavaDB db, TableHandle t, String key, String value) throws LavaDBException {
        byte[] k = key(key);
        byte[] v = bytes(value);
        db.put(t, k, 0, k.length, 0, v, 0, v.length);
    }

    static String get(LavaDB db, TableHandle t, String key) throws LavaDBException {
        byte[] k = key(key);
        byte[] v = db.get(t, k, 0, k.length, 0);
        return v == null ? null : new String(v, StandardCharsets.UTF_8);
    }

    static DBStatistics s(LavaDB db) {
        return db.getStatistics();
    }

    static List<String> scanAll(LavaDB db, TableHandle t, ScanOptions o, Snapshot s)
            throws Exception {
        List<String> found = new ArrayList<>();
        ScanPage page = new ScanPage();
        do {
            db.scan(t, o, page, s);
            int count = 0;
            while (page.next()) {
                found.add(new String(page.key()) + "=" + new String(page.value()));
                count++;
            }
            assertThat(page.count()).isEqualTo(count);
            o.continueAfter(page);
        } while (!page.done());
        return found;
    }
}

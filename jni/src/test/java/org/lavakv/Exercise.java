// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * Uses most calls once, without any test library, so that other class loaders and JVMs can run it.
 * Returns the number of objects left open.
 */
public final class Exercise implements Callable<Long> {

    @Override
    public Long call() throws Exception {
        LavaDB.loadLibrary(null);
        Path directory = Files.createTempDirectory("lava-exercise-");
        try (Lease lease = Host.acquire(64L << 20, 0.5);
                LavaDB db =
                        LavaDB.open(
                                new DBOptions().setMemtableBytes(1 << 20),
                                directory.resolve("db").toString(),
                                lease,
                                List.of())) {
            use(db);
        } finally {
            deleteAll(directory);
        }
        return Host.openNativeObjects();
    }

    static void use(LavaDB db) throws LavaDBException {
        TableHandle t = db.createTable("t", new TableOptions().setSeparationBytes(1000));
        TableHandle l = db.createTable("l", new TableOptions().setKind(TableKind.LIST));
        byte[] value = new byte[2000];
        byte[] out = new byte[100];
        for (int i = 0; i < 2000; i++) {
            byte[] key = {1, (byte) (i >> 8), (byte) i};
            db.put(t, key, 0, 3, 0, value, 0, 100 + i % 1900);
            db.append(l, key, 0, 3, new byte[] {4, 'x'}, 0, 2);
            check(db.get(t, key, 0, 3, 0, out, 0) == 100 + i % 1900);
            check(db.get(t, key, 0, 3, 0).length == 100 + i % 1900);
            check(db.contains(t, key, 0, 3, 0));
        }
        db.deletePrefix(t, new byte[] {1, 0}, 0, 2);
        db.deleteRange(t, new byte[] {1, 1}, new byte[] {1, 2});
        db.delete(t, new byte[] {1, 3, 1}, 0, 3, 0);
        WriteBatch batch = new WriteBatch();
        batch.put(t, new byte[] {1, 9}, 0, 2, 0, value, 0, 10);
        db.write(batch);
        check(db.get(t, new byte[] {1, 9}, 0, 2, 0).length == 10);
        check(db.get(t, new byte[] {1, 8}, 0, 2, 0) == null);
        try (Snapshot s = db.getSnapshot()) {
            ScanOptions o = new ScanOptions();
            ScanPage page = new ScanPage();
            do {
                db.scan(t, o, page, s);
                while (page.next()) {
                    check(page.keyLength() > 0);
                }
                o.continueAfter(page);
            } while (!page.done());
            TablesScan several = new TablesScan(t.id() < l.id() ? List.of(t, l) : List.of(l, t));
            do {
                db.scanTables(several, page, s);
                while (page.nextSection()) {
                    check(page.sectionTable() < 2 && page.sectionPartition() >= 0);
                    check(page.next() && page.keyLength() > 0);
                }
                several.continueAfter(page);
            } while (!page.done());
            s.waitFlushed();
            CheckpointFiles files = s.getFiles();
            check(MetadataInfo.read(files.metadata()).files().size() == files.files().size());
        }
        db.flush();
        db.compactAll();
        check(db.listTables().size() >= 2);
        check(db.getStatistics().writes() > 0);
        check(db.getTableStatistics(t).records() >= 0);
        check(Host.getStatistics().instancesOpen() >= 1);
        try {
            db.put(t, new byte[2], 3, 1, 0, value, 0, 1);
            check(false);
        } catch (IndexOutOfBoundsException expected) {
            check(expected.getMessage() != null);
        }
        try {
            MetadataInfo.read(new byte[2]);
            check(false);
        } catch (LavaDBException expected) {
            check(expected.getCode() == Status.Code.CORRUPTION);
        }
    }

    static void check(boolean condition) {
        if (!condition) {
            throw new AssertionError("exercise of the bindings");
        }
    }

    static void deleteAll(Path path) throws java.io.IOException {
        try (var paths = Files.walk(path)) {
            for (Path p :
                    paths.sorted(java.util.Comparator.reverseOrder())
                            .collect(java.util.stream.Collectors.toList())) {
                Files.delete(p);
            }
        }
    }
}

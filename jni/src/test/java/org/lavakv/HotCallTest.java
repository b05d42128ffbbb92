// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Frequent calls allocate nothing, and the bindings follow their rules. */
class HotCallTest extends LavaTestBase {

    private static final int CALLS = 20_000;
    private static final int KEPT = 300_000;

    @Test
    void hotCallsAllocateNothingOnTheHeap() throws Exception {
        try (Lease lease = lease();
                LavaDB db = open(lease)) {
            TableHandle t = db.createTable("t", new TableOptions());
            TableHandle l = db.createTable("l", new TableOptions().setKind(TableKind.LIST));
            byte[] k = key("key");
            byte[] v = new byte[100];
            byte[] s = {4, 'x'};
            byte[] out = new byte[200];
            for (int i = 0; i < 50; i++) {
                put(db, t, "scanned" + i, "value");
            }
            ScanOptions o = new ScanOptions();
            ScanPage page = new ScanPage();
            NativeCalls.Call calls =
                    () -> {
                        db.put(t, k, 0, k.length, 0, v, 0, v.length);
                        db.get(t, k, 0, k.length, 0, out, 0);
                        db.contains(t, k, 0, k.length, 0);
                        db.append(l, k, 0, k.length, s, 0, s.length);
                        db.delete(l, k, 0, k.length, 0);
                        db.scan(t, o, page, null);
                        while (page.next()) {
                            out[0] = page.buffer()[page.valueOffset()];
                        }
                    };
            allocatedBy(calls);
            assertThat(allocatedBy(calls) / CALLS).as("bytes a round of calls").isLessThan(2);
        }
    }

    private static long allocatedBy(NativeCalls.Call calls) throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(id);
        for (int i = 0; i < CALLS; i++) {
            calls.call();
        }
        return threads.getThreadAllocatedBytes(id) - before;
    }

    /**
     * Memory that a call needs beyond the stack stays with its thread, within bounds, and is
     * charged.
     */
    @Test
    void whatThreadsKeepIsChargedUntilTheyEnd() throws Exception {
        try (Lease lease = lease();
                LavaDB db = open(lease)) {
            TableHandle t = db.createTable("t", new TableOptions());
            byte[] k = key("key");
            long before = Host.getStatistics().bindingBytes();
            List<Long> kept = new CopyOnWriteArrayList<>();
            CountDownLatch seen = new CountDownLatch(1);
            NativeCalls.Call calls =
                    () -> {
                        db.put(t, k, 0, k.length, 0, new byte[100], 0, 100);
                        kept.add(Host.getStatistics().bindingBytes() - before);
                        db.put(t, k, 0, k.length, 0, new byte[KEPT], 0, KEPT);
                        kept.add(Host.getStatistics().bindingBytes() - before);
                        // Written in pieces, which the thread does not keep.
                        db.put(t, k, 0, k.length, 0, new byte[8 * KEPT], 0, 8 * KEPT);
                        kept.add(Host.getStatistics().bindingBytes() - before);
                        WriteBatch large = new WriteBatch();
                        large.put(t, k, 0, k.length, 0, new byte[8 * KEPT], 0, 8 * KEPT);
                        db.write(large);
                        kept.add(Host.getStatistics().bindingBytes() - before);
                        WriteBatch batch = new WriteBatch();
                        for (int i = 0; i < 1000; i++) {
                            batch.delete(t, k, 0, k.length, 0);
                        }
                        db.write(batch);
                        kept.add(Host.getStatistics().bindingBytes() - before);
                        for (int i = 0; i < 200_000; i++) {
                            batch.delete(t, k, 0, k.length, 0);
                        }
                        db.write(batch);
                        kept.add(Host.getStatistics().bindingBytes() - before);
                    };
            Thread thread =
                    new Thread(
                            () -> {
                                try {
                                    calls.call();
                                    seen.await();
                                } catch (Exception e) {
                                    kept.add(Long.MIN_VALUE);
                                }
                            });
            thread.start();
            for (int i = 0; i < 6000 && kept.size() < 6 && thread.isAlive(); ++i) {
                Thread.sleep(5);
            }
            HostStatistics host = Host.getStatistics();
            assertThat(host.bindingBytes()).isEqualTo(before + kept.get(kept.size() - 1));
            assertThat(kept).hasSize(6);
            assertThat(kept.get(0)).as("the stack is enough").isZero();
            assertThat(kept.get(1)).isEqualTo(KEPT);
            assertThat(kept.get(2)).as("nothing more").isEqualTo(KEPT);
            assertThat(kept.get(3)).as("more than 1 MiB is not kept").isLessThan(1000);
            assertThat(kept.get(4)).as("the batch").isBetween(20_000L, 200_000L);
            assertThat(kept.get(5)).as("neither is more than 4 MiB of one").isLessThan(100);
            seen.countDown();
            thread.join();
            // The JVM reports the end of a thread before the operating system's thread frees its
            // memory.
            for (int i = 0; i < 6000 && Host.getStatistics().bindingBytes() != before; ++i) {
                Thread.sleep(5);
            }
            assertThat(Host.getStatistics().bindingBytes()).isEqualTo(before);
        }
        assertThat(Host.describeOpen()).isEmpty();
    }

    /** JNI functions that the bindings must not use for any reason. */
    @Test
    void theGlueUsesNothingForbidden() throws IOException {
        List<String> forbidden =
                List.of(
                        "PrimitiveArrayCritical",
                        "StringCritical",
                        "AttachCurrentThread",
                        "CallVoidMethod",
                        "CallObjectMethod",
                        "GetFieldID(",
                        "sigaction",
                        "signal(",
                        "mmap(");
        Path sources = Path.of("src/main/cpp");
        assertThat(sources).isDirectory();
        try (var files = Files.list(sources)) {
            for (Path file : files.collect(Collectors.toList())) {
                String text = Files.readString(file, StandardCharsets.UTF_8);
                // The build id is read once while loading.
                text = text.replace("GetStaticFieldID(", "");
                assertThat(text).as(file.toString()).doesNotContain(forbidden);
                assertThat(text.contains("JNIEXPORT")).isEqualTo(file.endsWith("library.cc"));
            }
        }
    }
}

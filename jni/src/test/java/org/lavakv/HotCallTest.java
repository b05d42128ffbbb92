package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The hot calls allocate nothing, and the glue keeps to its rules. */
class HotCallTest extends LavaTestBase {

    private static final int CALLS = 20_000;

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
            Entries.Entry calls =
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

    private static long allocatedBy(Entries.Entry calls) throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long id = Thread.currentThread().getId();
        long before = threads.getThreadAllocatedBytes(id);
        for (int i = 0; i < CALLS; i++) {
            calls.call();
        }
        return threads.getThreadAllocatedBytes(id) - before;
    }

    /** What the hazards' rules forbid in the glue, whatever the reason would be. */
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

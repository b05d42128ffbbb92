package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.lavakv.Host;

/**
 * Fails every test class of this module that leaves a native object open, or a byte of native
 * memory taken. Found through META-INF/services; JUnit 4's classes, which know no extensions, are
 * checked where their suite ends. A task may still be closing when its cluster has gone, so there
 * is a wait. Copies of Lava in a job's jar have a host of their own, which is not seen here.
 */
public final class NativeLeakCheck implements BeforeAllCallback, AfterAllCallback {

    private static final long WAIT_SECONDS = 60;

    /**
     * When a task is cancelled while the changelog's wrapper reads its handles, Flink forgets the
     * backend that it had made for it, and nobody can dispose of that. Its database goes when the
     * JVM finds it; its lease stays with the slot.
     */
    private static final Set<String> FLINK_FORGETS =
            Set.of("org.apache.flink.test.checkpointing.ChangelogLocalRecoveryITCase");

    /** Whether such a class has run in this JVM. */
    private static volatile boolean forgotten;

    private long leakedBefore;

    @Override
    public void beforeAll(ExtensionContext context) {
        leakedBefore = Host.leakedNativeObjects();
    }

    @Override
    public void afterAll(ExtensionContext context) throws InterruptedException {
        forgotten |= FLINK_FORGETS.contains(context.getRequiredTestClass().getName());
        assertNothingLeakedSince(leakedBefore);
    }

    /**
     * Waits until nothing native is open.
     *
     * @param leakedBefore what {@link Host#leakedNativeObjects()} said before
     */
    static void assertNothingLeakedSince(long leakedBefore) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (!open().isEmpty() && System.nanoTime() < deadline) {
            if (forgotten) {
                System.gc();
            }
            Thread.sleep(20);
        }
        assertThat(open()).as("what is open").isEmpty();
        if (!forgotten) {
            assertThat(Host.leakedNativeObjects())
                    .as("native objects that the garbage collector found open")
                    .isEqualTo(leakedBefore);
        }
    }

    /** What is open, but for leases that Flink has forgotten since this JVM began. */
    static String open() {
        String open = Host.describeOpen();
        // What is left of a forgotten backend.
        return forgotten ? open.replaceAll("^(\\d+) native objects, \\1 leases$", "") : open;
    }
}

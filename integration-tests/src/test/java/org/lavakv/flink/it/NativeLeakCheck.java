// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.lavakv.Host;

/**
 * Fails every test class of this module that leaves a native object open or native memory
 * allocated. Found through META-INF/services. JUnit 4 has no such extensions, so its classes are
 * checked at the end of their suite. A task may still be closing after its cluster has ended, so
 * the check waits. Copies of Lava in a job's jar have their own host, which is not checked here.
 */
public final class NativeLeakCheck implements BeforeAllCallback, AfterAllCallback {

    private static final long WAIT_SECONDS = 60;

    /**
     * When a task is cancelled while the changelog's wrapper reads its handles, Flink loses the
     * reference to the new backend, and nothing can dispose it. Its database is freed when the
     * JVM's garbage collector finds it; its lease stays with the slot.
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
     * Waits until no native object is open.
     *
     * @param leakedBefore an earlier result of {@link Host#leakedNativeObjects()}
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

    /** Describes open objects, except leases that Flink has lost since this JVM began. */
    static String open() {
        String open = Host.describeOpen();
        // The rest of a lost backend.
        return forgotten ? open.replaceAll("^(\\d+) native objects, \\1 leases$", "") : open;
    }
}

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

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

    private long leakedBefore;

    @Override
    public void beforeAll(ExtensionContext context) {
        leakedBefore = Host.leakedNativeObjects();
    }

    @Override
    public void afterAll(ExtensionContext context) throws InterruptedException {
        assertNothingLeakedSince(leakedBefore);
    }

    /**
     * Waits until nothing native is open.
     *
     * @param leakedBefore what {@link Host#leakedNativeObjects()} said before
     */
    static void assertNothingLeakedSince(long leakedBefore) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
        while (!Host.describeOpen().isEmpty() && System.nanoTime() < deadline) {
            Thread.sleep(20);
        }
        assertThat(Host.describeOpen()).as("what is open").isEmpty();
        assertThat(Host.leakedNativeObjects())
                .as("native objects that the garbage collector found open")
                .isEqualTo(leakedBefore);
    }
}

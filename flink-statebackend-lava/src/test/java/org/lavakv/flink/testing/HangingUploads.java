package org.lavakv.flink.testing;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;

/**
 * Storage for a checkpoint whose shared files hang, whatever interrupts them, until they are let
 * go. Threads: any.
 */
public final class HangingUploads extends ForwardingStreams {

    private final CountDownLatch hanging = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    public HangingUploads(CheckpointStreamFactory factory) {
        super(factory);
    }

    /** Waits until an upload hangs. */
    public void awaitHanging() throws InterruptedException {
        hanging.await();
    }

    /** Lets all of them go on. */
    public void release() {
        released.countDown();
    }

    @Override
    public CheckpointStateOutputStream createCheckpointStateOutputStream(
            CheckpointedStateScope scope) throws IOException {
        if (scope == CheckpointedStateScope.SHARED) {
            hanging.countDown();
            hang();
        }
        return super.createCheckpointStateOutputStream(scope);
    }

    private void hang() {
        while (true) {
            try {
                released.await();
                return;
            } catch (InterruptedException e) {
                // The point of this class: nothing wakes such an upload.
                continue;
            }
        }
    }
}

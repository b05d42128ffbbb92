// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.testing;

import java.io.IOException;
import java.util.Collection;
import java.util.concurrent.CountDownLatch;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Storage for a checkpoint in which uploads of shared files hang until they are released, even if
 * they are interrupted. Threads: any.
 */
public final class HangingUploads extends ForwardingStreams {

    private final CountDownLatch hanging = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    private final boolean behindUploads;

    /** Makes the uploads of shared files hang, which have threads of their own. */
    public HangingUploads(CheckpointStreamFactory factory) {
        this(factory, false);
    }

    /**
     * @param behindUploads whether the checkpoint's own thread hangs instead, after all uploads
     */
    public HangingUploads(CheckpointStreamFactory factory, boolean behindUploads) {
        super(factory);
        this.behindUploads = behindUploads;
    }

    /** Waits until an upload hangs. */
    public void awaitHanging() throws InterruptedException {
        hanging.await();
    }

    /** Releases all uploads. */
    public void release() {
        released.countDown();
    }

    @Override
    public CheckpointStateOutputStream createCheckpointStateOutputStream(
            CheckpointedStateScope scope) throws IOException {
        if (!behindUploads && scope == CheckpointedStateScope.SHARED) {
            hanging.countDown();
            hang();
        }
        return super.createCheckpointStateOutputStream(scope);
    }

    @Override
    public void reusePreviousStateHandle(Collection<? extends StreamStateHandle> reused) {
        if (behindUploads) {
            hanging.countDown();
            hang();
        }
        super.reusePreviousStateHandle(reused);
    }

    private void hang() {
        while (true) {
            try {
                released.await();
                return;
            } catch (InterruptedException e) {
                // Ignores the interrupt: nothing wakes such an upload.
                continue;
            }
        }
    }
}

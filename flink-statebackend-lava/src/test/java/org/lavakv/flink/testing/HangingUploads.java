package org.lavakv.flink.testing;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Storage for a checkpoint whose shared files hang, whatever interrupts them, until they are let
 * go. Threads: any.
 */
public final class HangingUploads implements CheckpointStreamFactory {

    private final CheckpointStreamFactory factory;
    private final CountDownLatch hanging = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);

    public HangingUploads(CheckpointStreamFactory factory) {
        this.factory = factory;
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
        return factory.createCheckpointStateOutputStream(scope);
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

    @Override
    public boolean canFastDuplicate(StreamStateHandle handle, CheckpointedStateScope scope)
            throws IOException {
        return factory.canFastDuplicate(handle, scope);
    }

    @Override
    public List<StreamStateHandle> duplicate(
            List<StreamStateHandle> handles, CheckpointedStateScope scope) throws IOException {
        return factory.duplicate(handles, scope);
    }
}

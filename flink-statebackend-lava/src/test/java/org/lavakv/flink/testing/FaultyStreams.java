// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.testing;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;

/**
 * Storage for a checkpoint in which some calls hang, fail, or silently lose bytes. Calls are the
 * creations, writes and closes of its streams, counted from 0 over all threads.
 *
 * <p>Threads: any.
 */
public final class FaultyStreams extends ForwardingStreams {

    /** Which calls are faulty, and how. {@link #NEVER}: none. */
    public static final class Plan {
        public static final int NEVER = Integer.MAX_VALUE;

        /** The call that hangs until it is released, even if it is interrupted. */
        public int hangs = NEVER;

        /** The first call that fails. */
        public int fails = NEVER;

        /** The first call that does not fail any more. */
        public int failsUntil = NEVER;

        /** The call that drops one byte, if it is a write. */
        public int loses = NEVER;
    }

    private final Plan plan;
    private final CountDownLatch released = new CountDownLatch(1);
    private int calls;
    private boolean hung;
    private boolean failed;
    private boolean lost;
    @Nullable private Runnable whenItHangs;

    public FaultyStreams(CheckpointStreamFactory factory, Plan plan) {
        super(factory);
        this.plan = plan;
    }

    /** Called once by the hanging thread. */
    public synchronized void whenItHangs(Runnable action) {
        whenItHangs = action;
    }

    /** Whether a call has failed. */
    public synchronized boolean failed() {
        return failed;
    }

    /** Whether a byte was lost. */
    public synchronized boolean lost() {
        return lost;
    }

    /** Whether a call hung, or is hanging. */
    public synchronized boolean hung() {
        return hung;
    }

    /** Releases the hanging call, or prevents it from hanging. */
    public void release() {
        released.countDown();
    }

    /** Returns whether the call loses a byte. */
    private boolean call(boolean writes) throws IOException {
        int number;
        Runnable action = null;
        boolean fails;
        synchronized (this) {
            number = calls++;
            fails = number >= plan.fails && number < plan.failsUntil;
            if (number == plan.hangs) {
                hung = true;
                action = whenItHangs;
            }
        }
        if (number == plan.hangs) {
            if (action != null) {
                action.run();
            }
            hang();
        }
        synchronized (this) {
            if (fails) {
                failed = true;
                throw new IOException("the storage is down");
            }
            boolean loses = writes && number == plan.loses;
            lost |= loses;
            return loses;
        }
    }

    private void hang() {
        boolean interrupted = false;
        while (true) {
            try {
                released.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public CheckpointStateOutputStream createCheckpointStateOutputStream(
            CheckpointedStateScope scope) throws IOException {
        call(false);
        return new Stream(super.createCheckpointStateOutputStream(scope));
    }

    private final class Stream extends ForwardingOutput {
        Stream(CheckpointStateOutputStream out) {
            super(out);
        }

        @Override
        public void write(int b) throws IOException {
            if (!call(true)) {
                out.write(b);
            }
        }

        @Override
        public void write(byte[] from, int off, int len) throws IOException {
            out.write(from, off, call(len > 0) ? len - 1 : len);
        }

        @Override
        public StreamStateHandle closeAndGetHandle() throws IOException {
            call(false);
            return out.closeAndGetHandle();
        }
    }
}

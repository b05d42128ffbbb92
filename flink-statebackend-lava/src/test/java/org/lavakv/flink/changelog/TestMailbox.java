// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.function.ThrowingRunnable;

/** A task's mailbox that runs on the test's thread. */
final class TestMailbox implements MailboxExecutor {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final LinkedBlockingQueue<ThrowingRunnable<? extends Exception>> mails =
            new LinkedBlockingQueue<>();
    private volatile boolean closed;

    @Override
    public void execute(
            MailOptions options,
            ThrowingRunnable<? extends Exception> command,
            String format,
            Object... arguments) {
        if (closed) {
            throw new RejectedExecutionException("the task has ended");
        }
        mails.add(command);
    }

    void close() {
        closed = true;
    }

    /** Processes mails until the future is done, and returns or throws its result. */
    <T> T await(Future<T> future) throws Exception {
        while (!future.isDone()) {
            yieldOnce();
        }
        return future.get();
    }

    private void yieldOnce() throws InterruptedException {
        ThrowingRunnable<? extends Exception> mail =
                mails.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        if (mail == null) {
            throw new AssertionError("no mail came");
        }
        run(mail);
    }

    @Override
    public void yield() throws InterruptedException {
        yieldOnce();
    }

    @Override
    public boolean tryYield() {
        ThrowingRunnable<? extends Exception> mail = mails.poll();
        if (mail != null) {
            run(mail);
        }
        return mail != null;
    }

    @Override
    public boolean shouldInterrupt() {
        return false;
    }

    private static void run(ThrowingRunnable<? extends Exception> mail) {
        try {
            mail.run();
        } catch (Exception e) {
            throw new FlinkRuntimeException(e);
        }
    }
}

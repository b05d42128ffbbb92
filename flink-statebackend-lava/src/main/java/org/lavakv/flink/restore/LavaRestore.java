// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.util.Collections;
import java.util.List;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.util.ExceptionUtils;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.StateTables;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens a backend's database with the content of the given handles.
 *
 * <p>Threads: the task's. The native library must be loaded.
 */
public final class LavaRestore {

    private static final Logger LOG = LoggerFactory.getLogger(LavaRestore.class);

    private LavaRestore() {}

    /**
     * Restores. After a failure, nothing is left on the local disk and nothing native stays open.
     * The checkpoint is never changed.
     *
     * @throws BackendBuildingException for every failure; its cause is a {@link
     *     CancelTaskException} when the task was cancelled meanwhile
     */
    public static <K> RestoreResult restore(RestoreRequest<K> request)
            throws BackendBuildingException {
        boolean done = false;
        try {
            RestoreResult result = dispatch(request);
            request.opener().finish();
            done = true;
            return result;
        } catch (Exception e) {
            throw translate(request, e);
        } finally {
            if (!done) {
                request.opener().abandon();
            }
        }
    }

    private static <K> RestoreResult dispatch(RestoreRequest<K> request) throws Exception {
        List<KeyedStateHandle> handles = request.stateHandles();
        if (handles.isEmpty()) {
            LavaInstance instance =
                    request.opener().open(Collections.emptyList(), request.cancelStreamRegistry());
            return RestoreResult.fresh(instance, new StateTables(instance), null);
        }
        LOG.info(
                "Restoring key groups {} from {} handles.",
                request.keyGroupRange().prettyPrintInterval(),
                handles.size());
        if (handles.get(0) instanceof IncrementalKeyedStateHandle) {
            return new NativeRestore<>(request).restore();
        }
        return new CanonicalRestore<>(request).restore();
    }

    private static BackendBuildingException translate(RestoreRequest<?> request, Exception e) {
        boolean interrupted =
                ExceptionUtils.findThrowable(e, InterruptedException.class).isPresent();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (interrupted
                || Thread.currentThread().isInterrupted()
                || request.cancelStreamRegistry().isClosed()) {
            LOG.info("The restore was cancelled.");
            return new BackendBuildingException("Task was cancelled", new CancelTaskException(e));
        }
        // Logged here because Flink tries other copies of the state first, and only then reports
        // this exception.
        LOG.warn("The restore failed.", e);
        if (e instanceof BackendBuildingException) {
            return (BackendBuildingException) e;
        }
        return new BackendBuildingException(
                "Restoring the keyed state of key groups "
                        + request.keyGroupRange().prettyPrintInterval()
                        + " failed: "
                        + e.getMessage(),
                e);
    }
}

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.AsyncKeyedStateBackend;
import org.apache.flink.runtime.state.BackendBuildingException;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.lavakv.flink.LavaStateBackend;

/**
 * Lava as a replacement for one of Flink's built-in backends: works like Lava's backend, and counts
 * the keyed backends that it created. It extends the heap's backend only because Flink expects this
 * type if a job configures {@code hashmap}.
 *
 * <p>Threads: as a {@link LavaStateBackend}; the count may be read from any thread.
 */
public final class CountedLava extends HashMapStateBackend {

    private static final long serialVersionUID = 1L;

    private static final AtomicLong KEYED_BACKENDS = new AtomicLong();

    private final LavaStateBackend lava;

    public CountedLava(ReadableConfig config, ClassLoader classLoader) {
        lava = new LavaStateBackend().configure(config, classLoader);
    }

    /** Number of keyed backends on Lava that tasks of this JVM got from backends like this. */
    public static long keyedBackends() {
        return KEYED_BACKENDS.get();
    }

    @Override
    public CountedLava configure(ReadableConfig config, ClassLoader classLoader) {
        return new CountedLava(config, classLoader);
    }

    @Override
    public String getName() {
        return lava.getName();
    }

    @Override
    public boolean useManagedMemory() {
        return lava.useManagedMemory();
    }

    @Override
    public boolean supportsNoClaimRestoreMode() {
        return lava.supportsNoClaimRestoreMode();
    }

    @Override
    public boolean supportsSavepointFormat(SavepointFormatType formatType) {
        return lava.supportsSavepointFormat(formatType);
    }

    @Override
    public <K> AbstractKeyedStateBackend<K> createKeyedStateBackend(
            KeyedStateBackendParameters<K> parameters) throws IOException {
        AbstractKeyedStateBackend<K> keyed = lava.createKeyedStateBackend(parameters);
        KEYED_BACKENDS.incrementAndGet();
        return keyed;
    }

    @Override
    public boolean supportsAsyncKeyedStateBackend() {
        return lava.supportsAsyncKeyedStateBackend();
    }

    @Override
    public <K> AsyncKeyedStateBackend<K> createAsyncKeyedStateBackend(
            KeyedStateBackendParameters<K> parameters) throws IOException {
        AsyncKeyedStateBackend<K> keyed = lava.createAsyncKeyedStateBackend(parameters);
        KEYED_BACKENDS.incrementAndGet();
        return keyed;
    }

    @Override
    public OperatorStateBackend createOperatorStateBackend(
            OperatorStateBackendParameters parameters) throws BackendBuildingException {
        try {
            return lava.createOperatorStateBackend(parameters);
        } catch (BackendBuildingException e) {
            throw e;
        } catch (Exception e) {
            throw new BackendBuildingException("Lava made no operator state backend", e);
        }
    }

    @Override
    public String toString() {
        return lava.toString();
    }
}

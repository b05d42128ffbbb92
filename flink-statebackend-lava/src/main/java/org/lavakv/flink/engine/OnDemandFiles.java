// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import java.io.IOException;
import java.util.Collection;
import org.apache.flink.core.fs.CloseableRegistry;

/**
 * The files of an instance that an on-demand restore fetches while the instance is used. Reads wait
 * for the files that they need by themselves.
 *
 * <p>Threads: any.
 */
public interface OnDemandFiles extends AutoCloseable {

    /** For an instance with all its files. */
    OnDemandFiles NONE =
            new OnDemandFiles() {
                @Override
                public void require(Collection<String> names, CloseableRegistry cancel) {}

                @Override
                public void close() {}
            };

    /**
     * Waits until files have been fetched. They are fetched before files for which nothing waits.
     *
     * @param names files; some may already be present
     * @param cancel closing it ends the wait
     * @throws IOException naming the file that could not be fetched, or when the wait was ended
     */
    void require(Collection<String> names, CloseableRegistry cancel)
            throws IOException, InterruptedException;

    /**
     * Abandons the files that have not been fetched: threads that wait for them get an exception.
     * Waits at most one second for a fetch that hangs. Repeating the call does nothing.
     */
    @Override
    void close();
}

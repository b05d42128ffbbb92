// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.lavakv.DBStatistics;

/** Makes backends collect the garbage of value files. Threads: one for each backend. */
public final class Collector {

    private Collector() {}

    /** Compacts, so that dead values become garbage, and waits for a collection. */
    public static void collect(LavaKeyedStateBackend<?> backend) throws Exception {
        long before = statistics(backend).collections();
        backend.compact();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        DBStatistics s = statistics(backend);
        while ((s.collections() == before || s.runningCollections() > 0)
                && System.nanoTime() < deadline) {
            Thread.sleep(5);
            s = statistics(backend);
        }
        assertThat(s.collections()).as("collections").isGreaterThan(before);
        assertThat(s.runningCollections()).isZero();
        assertThat(s.collectionBytesRead()).isPositive();
        assertThat(s.backgroundErrors()).isZero();
    }

    /** Bytes of values that collections moved to other files. */
    public static long bytesMoved(LavaKeyedStateBackend<?> backend) {
        return statistics(backend).collectionBytesWritten();
    }

    private static DBStatistics statistics(LavaKeyedStateBackend<?> backend) {
        return backend.instance().db().getStatistics();
    }
}

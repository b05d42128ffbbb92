// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.Host;

/**
 * After 200 jobs of one session cluster no native object is left, and resident memory has not
 * grown.
 */
@Timeout(600)
class SessionJobsITCase {

    private static final int STEP = 50;
    private static final int STEPS = 4;

    /**
     * Limit for the growth of resident memory from the 50th to the last job. Measured: 17 to 44
     * MiB, where the same jobs on Flink's hashmap grew by 23. Almost all of it is the JVM's heap
     * and classes, because Flink keeps some data of every job.
     */
    private static final long RESIDENT_BYTES = 80L << 20;

    /** The same outside the JVM's own pools. Measured: at most 11 MiB, 16 within the steps. */
    private static final long OUTSIDE_BYTES = 40L << 20;

    @TempDir Path directory;

    @Test
    void jobsLeaveNothing() throws Exception {
        long leaked = Host.leakedNativeObjects();
        try (SessionJobs session = new SessionJobs(directory)) {
            session.run(STEP);
            SessionJobs.Resident first = SessionJobs.residentWithNothingOpen();
            SessionJobs.Resident last = first;
            System.out.println("After " + STEP + " jobs: " + first);
            for (int step = 2; step <= STEPS; step++) {
                session.run(STEP);
                last = SessionJobs.residentWithNothingOpen();
                System.out.println("After " + step * STEP + " jobs: " + last);
            }
            assertThat(last.bytes - first.bytes)
                    .as("growth of resident memory, %s at first, now %s", first, last)
                    .isLessThan(RESIDENT_BYTES);
            assertThat(last.outsideBytes - first.outsideBytes)
                    .as("growth outside the JVM's pools, %s at first, now %s", first, last)
                    .isLessThan(OUTSIDE_BYTES);
            assertThat(session.leftovers()).isEmpty();
        }
        NativeLeakCheck.assertNothingLeakedSince(leaked);
    }
}

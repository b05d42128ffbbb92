// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.changelog;

import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.ReadableConfig;

/** Gives tests of other packages access to {@link ChangelogSettings}. */
public final class ChangelogConfiguration {

    private ChangelogConfiguration() {}

    /** Reads and checks all options, as for a new job. */
    public static void check(ReadableConfig config) {
        ChangelogSettings.of(new JobID(), config);
    }
}

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.it;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.changelog.fs.FsStateChangelogOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateChangelogOptions;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The cases with the changelog, in Flink's own storage. */
class RestartWaysFilesystemChangelogITCase extends RestartWays {

    @TempDir static Path changelog;

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            cluster(
                    () ->
                            new Configuration()
                                    .set(
                                            StateChangelogOptions.STATE_CHANGE_LOG_STORAGE,
                                            "filesystem")
                                    .set(
                                            FsStateChangelogOptions.BASE_PATH,
                                            changelog.toUri().toString()));

    static Stream<List<Run>> ways() {
        return RestartWays.ways()
                .filter(runs -> runs.stream().anyMatch(run -> run.around.has(Around.CHANGELOG)));
    }

    @Override
    String storage() {
        return "filesystem";
    }
}

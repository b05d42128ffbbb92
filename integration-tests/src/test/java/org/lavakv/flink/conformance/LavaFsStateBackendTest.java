// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.TestTemplate;
import org.lavakv.flink.LavaOptions;

/** Flink's conformance suite of state backends, with all files in a volume, restored on demand. */
class LavaFsStateBackendTest extends LavaStateBackendTest {

    @Override
    void configure(Configuration config) {
        config.set(LavaOptions.FILE_SYSTEM, LavaOptions.FileSystemType.LAVAFS);
        config.set(LavaOptions.RESTORE_ON_DEMAND, true);
        config.set(LavaOptions.LOCAL_DIRECTORIES, directory.resolve("instances").toString());
    }

    private long volumes() throws Exception {
        Path instances = directory.resolve("instances");
        if (!Files.exists(instances)) {
            return 0;
        }
        try (Stream<Path> files = Files.walk(instances)) {
            return files.filter(file -> file.toString().endsWith(".lavafs")).count();
        }
    }

    /** Otherwise this suite would repeat the other one. */
    @TestTemplate
    void testFilesAreInAVolume() throws Exception {
        CheckpointableKeyedStateBackend<Integer> backend =
                createKeyedBackend(IntSerializer.INSTANCE);
        try {
            assertThat(volumes()).isEqualTo(1);
        } finally {
            IOUtils.closeQuietly(backend);
            backend.dispose();
        }
    }

    @AfterEach
    void noVolumeIsLeft() throws Exception {
        assertThat(volumes()).isZero();
    }
}

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.TestTemplate;
import org.lavakv.flink.LavaConfigurableOptions;
import org.lavakv.flink.LavaKeyedStateBackend;
import org.lavakv.flink.LavaOptions;

/**
 * Flink's conformance suite of state backends, with every value of at least one byte in value
 * files.
 */
class LavaSeparatedStateBackendTest extends LavaStateBackendTest {

    @Override
    void configure(Configuration config) {
        config.set(LavaConfigurableOptions.VALUE_SEPARATION_THRESHOLD, new MemorySize(1));
        config.set(LavaOptions.LOCAL_DIRECTORIES, directory.resolve("instances").toString());
    }

    /** Otherwise this suite would repeat the other one. */
    @TestTemplate
    void testValuesAreInValueFiles() throws Exception {
        LavaKeyedStateBackend<Integer> backend =
                (LavaKeyedStateBackend<Integer>)
                        this.<Integer>createKeyedBackend(IntSerializer.INSTANCE);
        try {
            backend.setCurrentKey(1);
            MapState<Integer, Integer> map =
                    backend.getPartitionedState(
                            VoidNamespace.INSTANCE,
                            VoidNamespaceSerializer.INSTANCE,
                            new MapStateDescriptor<>(
                                    "map", IntSerializer.INSTANCE, IntSerializer.INSTANCE));
            map.put(1, 2);
            backend.compact();
            try (Stream<?> files =
                    Files.walk(directory.resolve("instances"))
                            .filter(file -> file.toString().endsWith(".vsst"))) {
                assertThat(files).hasSize(1);
            }
            assertThat(map.get(1)).isEqualTo(2);
        } finally {
            IOUtils.closeQuietly(backend);
            backend.dispose();
        }
    }
}

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.SerializedCompositeKeyBuilder;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Keys equal Flink's own byte for byte, with and without the lengths of ambiguous ones. */
class CompositeKeyBuilderTest {

    private static final String LONG = "x".repeat(70_000);

    static List<Object[]> cases() {
        Object[][] keys = {
            {IntSerializer.INSTANCE, Arrays.asList(0, -1, 42)},
            {StringSerializer.INSTANCE, Arrays.asList("", "key", LONG)}
        };
        Object[][] namespaces = {
            {VoidNamespaceSerializer.INSTANCE, Arrays.asList(VoidNamespace.INSTANCE)},
            {IntSerializer.INSTANCE, Arrays.asList(7, -7)},
            {new TimeWindow.Serializer(), Arrays.asList(new TimeWindow(1, 2))},
            {StringSerializer.INSTANCE, Arrays.asList("", "namespace", LONG)}
        };
        List<Object[]> cases = new ArrayList<>();
        for (int prefixBytes = 1; prefixBytes <= 2; prefixBytes++) {
            for (Object[] key : keys) {
                for (Object[] namespace : namespaces) {
                    cases.add(
                            new Object[] {prefixBytes, key[0], key[1], namespace[0], namespace[1]});
                }
            }
        }
        return cases;
    }

    @ParameterizedTest
    @MethodSource("cases")
    <K, N> void equalsFlinksKeys(
            int prefixBytes,
            TypeSerializer<K> keySerializer,
            List<K> keys,
            TypeSerializer<N> namespaceSerializer,
            List<N> namespaces)
            throws Exception {
        SerializedCompositeKeyBuilder<K> flink =
                new SerializedCompositeKeyBuilder<>(keySerializer, prefixBytes, 32);
        CompositeKeyBuilder<K> lava = new CompositeKeyBuilder<>(keySerializer, prefixBytes);
        NamespaceBytes<N> current = new NamespaceBytes<>(keySerializer, namespaceSerializer);
        for (K key : keys) {
            flink.setKeyAndKeyGroup(key, 100);
            lava.setKey(key, 100);
            for (N namespace : namespaces) {
                current.set(namespace);
                byte[] expected = flink.buildCompositeKeyNamespace(namespace, namespaceSerializer);
                assertThat(lava.copyWithNamespace(current)).isEqualTo(expected);
                // Again, with the namespace cached.
                assertThat(lava.copyWithNamespace(current)).isEqualTo(expected);
                for (String userKey : Arrays.asList("", "user", LONG)) {
                    byte[] whole =
                            flink.buildCompositeKeyNamesSpaceUserKey(
                                    namespace,
                                    namespaceSerializer,
                                    userKey,
                                    StringSerializer.INSTANCE);
                    int length = lava.withUserKey(userKey, StringSerializer.INSTANCE);
                    assertThat(Arrays.copyOf(lava.buffer(), length)).isEqualTo(whole);
                }
                assertThat(lava.withNamespace(current)).isEqualTo(expected.length);
            }
        }
    }

    @Test
    void statesInterleaveOnOneBuilder() {
        CompositeKeyBuilder<String> builder =
                new CompositeKeyBuilder<>(StringSerializer.INSTANCE, 1);
        NamespaceBytes<String> first =
                new NamespaceBytes<>(StringSerializer.INSTANCE, StringSerializer.INSTANCE);
        NamespaceBytes<Integer> second =
                new NamespaceBytes<>(StringSerializer.INSTANCE, IntSerializer.INSTANCE);
        builder.setKey("key", 1);
        first.set("a");
        second.set(1);
        byte[] ofFirst = builder.copyWithNamespace(first);
        byte[] ofSecond = builder.copyWithNamespace(second);
        assertThat(ofFirst).isNotEqualTo(ofSecond);
        assertThat(builder.copyWithNamespace(first)).isEqualTo(ofFirst);
        first.set("b");
        assertThat(builder.copyWithNamespace(first)).isNotEqualTo(ofFirst);
        builder.setKey("other", 1);
        first.set("a");
        assertThat(builder.copyWithNamespace(first)).isNotEqualTo(ofFirst);
        assertThat(builder.copyWithNamespace(second)).isNotEqualTo(ofSecond);
    }

    @Test
    void refusesAMissingKeyOrNamespace() {
        CompositeKeyBuilder<Integer> builder = new CompositeKeyBuilder<>(IntSerializer.INSTANCE, 1);
        NamespaceBytes<Integer> namespace =
                new NamespaceBytes<>(IntSerializer.INSTANCE, IntSerializer.INSTANCE);
        assertThatThrownBy(() -> builder.withNamespace(namespace))
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("No key set");
        builder.setKey(1, 1);
        assertThatThrownBy(() -> builder.withNamespace(namespace))
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("No namespace set");
        assertThatThrownBy(() -> builder.withUserKey("user", StringSerializer.INSTANCE))
                .isInstanceOf(IllegalStateException.class);
    }
}

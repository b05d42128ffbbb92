// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.runtime.state.SerializedCompositeKeyBuilder;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.junit.jupiter.api.Test;

/** Compares with Flink's own composite keys, in an order that a savepoint may have. */
class MapKeyPrefixTest {

    private static <K, N> void check(
            int prefixBytes, TypeSerializer<K> keys, TypeSerializer<N> namespaces, Object[][] all)
            throws IOException {
        MapKeyPrefix prefix = new MapKeyPrefix(keys, namespaces, prefixBytes);
        SerializedCompositeKeyBuilder<K> builder =
                new SerializedCompositeKeyBuilder<>(keys, prefixBytes, 16);
        for (Object[] one : all) {
            @SuppressWarnings("unchecked")
            K key = (K) one[0];
            @SuppressWarnings("unchecked")
            N namespace = (N) one[1];
            builder.setKeyAndKeyGroup(key, 5);
            int length = builder.buildCompositeKeyNamespace(namespace, namespaces).length;
            byte[] whole =
                    builder.buildCompositeKeyNamesSpaceUserKey(
                            namespace, namespaces, (String) one[2], StringSerializer.INSTANCE);
            assertThat(prefix.lengthIn(whole)).isEqualTo(length);
            assertThat(prefix.lengthIn(whole)).isEqualTo(length);
        }
    }

    @Test
    void fixedKeyAndVoidNamespace() throws IOException {
        check(
                1,
                IntSerializer.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                new Object[][] {
                    {1, VoidNamespace.INSTANCE, "a"},
                    {1, VoidNamespace.INSTANCE, "b"},
                    {2, VoidNamespace.INSTANCE, ""}
                });
    }

    @Test
    void bothOfVariableLengthHaveLengthsBehindThem() throws IOException {
        check(
                2,
                StringSerializer.INSTANCE,
                StringSerializer.INSTANCE,
                new Object[][] {
                    {"", "", "user"},
                    {"", "n", "user"},
                    {"k", "", "user"},
                    {"k", "name", "user"},
                    {"k".repeat(300), "n".repeat(70000), "user"},
                    {"kk", "name", "ser"}
                });
    }
}

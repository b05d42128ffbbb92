// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.queryablestate.client.state.serialization.KvStateSerializer;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.internal.InternalKvState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.Host;
import org.lavakv.flink.testing.BackendFixture;

/** Queryable state is read on other threads while the task writes and then disposes the backend. */
@Timeout(120)
class QueryAndDisposeTest {

    private static final int RUNS = 100;
    private static final int KEYS = 20;

    @TempDir Path root;

    private final ExecutorService queryThreads = Executors.newFixedThreadPool(3);
    private BackendFixture fixture;

    @BeforeEach
    void open() throws Exception {
        fixture = new BackendFixture(root);
    }

    @AfterEach
    void close() throws Exception {
        queryThreads.shutdownNow();
        assertThat(queryThreads.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
        fixture.close();
    }

    /** Reads and checks one key's state. */
    private interface Query {
        void check(int key) throws Exception;
    }

    @SuppressWarnings("unchecked")
    private static <V> byte[] serialized(Object state, int key) throws Exception {
        InternalKvState<Integer, VoidNamespace, V> queryable =
                (InternalKvState<Integer, VoidNamespace, V>) state;
        return queryable.getSerializedValue(
                KvStateSerializer.serializeKeyAndNamespace(
                        key,
                        IntSerializer.INSTANCE,
                        VoidNamespace.INSTANCE,
                        VoidNamespaceSerializer.INSTANCE),
                IntSerializer.INSTANCE,
                VoidNamespaceSerializer.INSTANCE,
                (TypeSerializer<V>) queryable.getValueSerializer().duplicate());
    }

    private static List<Query> queries(AbstractKeyedStateBackend<Integer> backend) {
        Object value = BackendFixture.value(backend);
        Object list = BackendFixture.list(backend);
        Object map = BackendFixture.map(backend);
        return List.of(
                key -> {
                    byte[] bytes = serialized(value, key);
                    assertThat(KvStateSerializer.deserializeValue(bytes, StringSerializer.INSTANCE))
                            .startsWith("value " + key + " of round ");
                },
                key -> {
                    byte[] bytes = serialized(list, key);
                    assertThat(KvStateSerializer.deserializeList(bytes, IntSerializer.INSTANCE))
                            .startsWith(key, key + 1);
                },
                key -> {
                    byte[] bytes = serialized(map, key);
                    Map<String, Integer> entries =
                            KvStateSerializer.deserializeMap(
                                    bytes, StringSerializer.INSTANCE, IntSerializer.INSTANCE);
                    assertThat(entries).containsEntry("always", key);
                });
    }

    /** The number of queries that were answered until the backend was disposed. */
    private static Callable<Integer> untilDisposed(Query query, CountDownLatch started) {
        return () -> {
            started.countDown();
            for (int answered = 0; ; answered++) {
                try {
                    query.check(answered % KEYS);
                } catch (IOException e) {
                    assertThat(e).hasMessageContaining("its backend was closed");
                    return answered;
                }
            }
        };
    }

    private static void write(AbstractKeyedStateBackend<Integer> backend, int round)
            throws Exception {
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            BackendFixture.value(backend).update("value " + key + " of round " + round);
            BackendFixture.list(backend).update(Arrays.asList(key, key + 1));
            BackendFixture.list(backend).add(round);
            BackendFixture.map(backend).put("always", key);
            BackendFixture.map(backend).put("round " + round % 3, round);
        }
    }

    @Test
    void answersAreRightOrTheStateIsClosed() throws Exception {
        Random random = new Random(5);
        long before = Host.openNativeObjects();
        int answered = 0;
        for (int run = 0; run < RUNS; run++) {
            LavaKeyedStateBackend<Integer> backend =
                    (LavaKeyedStateBackend<Integer>) fixture.create(BackendFixture.ALL);
            write(backend, 0);
            CountDownLatch started = new CountDownLatch(3);
            List<Future<Integer>> results = new ArrayList<>();
            for (Query query : queries(backend)) {
                results.add(queryThreads.submit(untilDisposed(query, started)));
            }
            started.await();
            int rounds = random.nextInt(5);
            for (int round = 1; round <= rounds; round++) {
                write(backend, round);
                if (random.nextInt(3) == 0) {
                    backend.instance().db().flush();
                }
            }
            fixture.close(backend);
            for (Future<Integer> result : results) {
                answered += result.get();
            }
            assertThat(Host.openNativeObjects()).isEqualTo(before);
        }
        assertThat(answered).isPositive();
    }
}

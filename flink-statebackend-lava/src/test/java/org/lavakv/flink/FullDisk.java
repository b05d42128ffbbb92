// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyGroupedInternalPriorityQueue;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.streaming.api.operators.TimerHeapInternalTimer;
import org.apache.flink.streaming.api.operators.TimerSerializer;
import org.lavakv.flink.testing.BackendFixture;

/**
 * The program that {@link FullDiskTest} runs in a separate process: the local disk becomes full and
 * has space again, while checkpoints are stored elsewhere.
 */
final class FullDisk {

    private static final int KEYS = 64;
    private static final int VALUE_CHARACTERS = 16 << 10;
    private static final long WRITES_MAX = 10_000;

    /** The disk for local files, which can be filled. */
    interface Disk {
        void fill() throws Exception;

        void free() throws Exception;
    }

    private final Path local;
    private final Disk disk;
    private final BackendFixture fixture;

    private FullDisk(Path local, Path elsewhere, Disk disk) throws Exception {
        this.local = local;
        this.disk = disk;
        this.fixture = new BackendFixture(elsewhere);
        useLava(LavaOptions.TimerService.LAVA);
    }

    /**
     * @param arguments the directory on the disk that becomes full; another directory; and "mount"
     *     if that disk is a small file system, or "limit" if the size of files is to be limited
     */
    public static void main(String[] arguments) throws Exception {
        Path local = Path.of(arguments[0]);
        Disk disk = arguments[2].equals("mount") ? new SmallFileSystem(local) : new SizeLimit();
        FullDisk test = new FullDisk(local, Path.of(arguments[1]), disk);
        test.checkpointFailsAndSucceedsLater();
        test.writeFailsAndSucceedsLater();
        test.restoresFailAndSucceedLater();
        test.fixture.close();
        System.out.println("passed on a full disk");
    }

    private static final class SmallFileSystem implements Disk {
        private final Path filler;

        SmallFileSystem(Path directory) {
            filler = directory.resolve("filler");
        }

        @Override
        public void fill() throws Exception {
            byte[] bytes = new byte[4096];
            try (OutputStream out = Files.newOutputStream(filler)) {
                while (true) {
                    out.write(bytes);
                }
            } catch (java.io.IOException e) {
                assertThat(e).hasMessageContaining("No space left on device");
            }
        }

        @Override
        public void free() throws Exception {
            Files.delete(filler);
        }
    }

    /** Limits the size of this process's files to a few bytes: needs no mount and no privileges. */
    private static final class SizeLimit implements Disk {
        @Override
        public void fill() throws Exception {
            limit("4096");
        }

        @Override
        public void free() throws Exception {
            limit("unlimited");
        }

        private static void limit(String bytes) throws Exception {
            Process process =
                    new ProcessBuilder(
                                    "prlimit",
                                    "--pid=" + ProcessHandle.current().pid(),
                                    "--fsize=" + bytes + ":unlimited")
                            .inheritIO()
                            .start();
            assertThat(process.waitFor()).isZero();
        }
    }

    private void useLava(LavaOptions.TimerService timers) throws Exception {
        fixture.use(
                fixture.newLava(true)
                        .set(LavaOptions.LOCAL_DIRECTORIES, local.toString())
                        .set(LavaOptions.TIMER_SERVICE_FACTORY, timers)
                        .set(LavaConfigurableOptions.MEMTABLE_SIZE, MemorySize.parse("256kb")));
    }

    private static String text(int key, int round) {
        Random random = new Random(31L * key + round);
        char[] characters = new char[VALUE_CHARACTERS];
        for (int i = 0; i < characters.length; i++) {
            characters[i] = (char) random.nextInt(128);
        }
        return new String(characters);
    }

    private static void write(AbstractKeyedStateBackend<Integer> backend, int keys, int round)
            throws Exception {
        for (int key = 0; key < keys; key++) {
            backend.setCurrentKey(key);
            BackendFixture.value(backend).update(text(key, round));
        }
    }

    private static void check(AbstractKeyedStateBackend<Integer> backend, int keys, int round)
            throws Exception {
        for (int key = 0; key < keys; key++) {
            backend.setCurrentKey(key);
            assertThat(BackendFixture.value(backend).value()).isEqualTo(text(key, round));
        }
    }

    private void checkpointFailsAndSucceedsLater() throws Exception {
        AbstractKeyedStateBackend<Integer> backend = fixture.create(BackendFixture.ALL);
        write(backend, 4, 0);
        disk.fill();
        for (int checkpoint = 1; checkpoint <= 2; checkpoint++) {
            int id = checkpoint;
            assertThatThrownBy(() -> fixture.checkpoint(backend, id))
                    .rootCause()
                    .hasMessageContaining(local.toString());
        }
        check(backend, 4, 0);
        disk.free();
        KeyedStateHandle handle = BackendFixture.remote(fixture.checkpoint(backend, 3));
        fixture.close(backend);
        AbstractKeyedStateBackend<Integer> restored = fixture.create(BackendFixture.ALL, handle);
        check(restored, 4, 0);
        fixture.close(restored);
        System.out.println("checkpoints");

        heapTimers();
    }

    private void heapTimers() throws Exception {
        useLava(LavaOptions.TimerService.HEAP);
        AbstractKeyedStateBackend<Integer> backend = fixture.create(BackendFixture.ALL);
        KeyGroupedInternalPriorityQueue<TimerHeapInternalTimer<Integer, VoidNamespace>> queue =
                backend.create(
                        "_timer_state/event_timers",
                        new TimerSerializer<>(
                                IntSerializer.INSTANCE, VoidNamespaceSerializer.INSTANCE));
        for (int key = 0; key < 10_000; key++) {
            queue.add(new TimerHeapInternalTimer<>(key, key, VoidNamespace.INSTANCE));
        }
        disk.fill();
        assertThatThrownBy(() -> fixture.checkpoint(backend, 4))
                .cause()
                .hasMessageContaining(local.toString());
        disk.free();
        fixture.checkpoint(backend, 5);
        fixture.close(backend);
        useLava(LavaOptions.TimerService.LAVA);
        System.out.println("timers on the heap");
    }

    private void writeFailsAndSucceedsLater() throws Exception {
        AbstractKeyedStateBackend<Integer> backend = fixture.create(BackendFixture.ALL);
        ValueState<String> value = BackendFixture.value(backend);
        write(backend, KEYS, 0);
        disk.fill();
        int[] written = {0};
        assertThatThrownBy(
                        () -> {
                            while (written[0] < WRITES_MAX) {
                                backend.setCurrentKey(written[0] % KEYS);
                                value.update(text(written[0], 1));
                                written[0]++;
                            }
                        })
                .hasMessageContaining("'the-value'")
                .hasMessageContaining(local.toString());
        disk.free();
        // The failed write changed nothing, and the successful ones are present.
        check(backend, written);
        value.update(text(written[0], 1));
        written[0]++;
        check(backend, written);
        KeyedStateHandle handle = BackendFixture.remote(fixture.checkpoint(backend, 6));
        fixture.close(backend);
        AbstractKeyedStateBackend<Integer> restored = fixture.create(BackendFixture.ALL, handle);
        check(restored, written);
        fixture.close(restored);
        System.out.println("writes, of which " + written[0] + " found space");
    }

    private static void check(AbstractKeyedStateBackend<Integer> backend, int[] written)
            throws Exception {
        for (int key = 0; key < KEYS; key++) {
            backend.setCurrentKey(key);
            int last = written[0] - 1 - Math.floorMod(written[0] - 1 - key, KEYS);
            assertThat(BackendFixture.value(backend).value())
                    .isEqualTo(last < 0 ? text(key, 0) : text(last, 1));
        }
        backend.setCurrentKey(written[0] % KEYS);
    }

    private void restoresFailAndSucceedLater() throws Exception {
        AbstractKeyedStateBackend<Integer> backend = fixture.create(BackendFixture.ALL);
        write(backend, KEYS, 0);
        KeyedStateHandle checkpoint = BackendFixture.remote(fixture.checkpoint(backend, 7));
        fixture.close(backend);
        fixture.use(new HashMapStateBackend());
        AbstractKeyedStateBackend<Integer> heap = fixture.create(BackendFixture.ALL);
        write(heap, 4 * KEYS, 0);
        KeyedStateHandle savepoint = BackendFixture.savepoint(heap);
        useLava(LavaOptions.TimerService.LAVA);
        for (KeyedStateHandle handle : new KeyedStateHandle[] {checkpoint, savepoint}) {
            disk.fill();
            assertThatThrownBy(() -> fixture.create(BackendFixture.ALL, handle))
                    .hasMessageContaining(local.toString());
            disk.free();
            assertThat(BackendFixture.filesIn(local)).isEmpty();
            AbstractKeyedStateBackend<Integer> restored =
                    fixture.create(BackendFixture.ALL, handle);
            check(restored, KEYS, 0);
            fixture.close(restored);
        }
        System.out.println("restores");
    }
}

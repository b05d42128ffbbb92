// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.core.fs.local.LocalFileSystem;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filesystem.FsCheckpointStreamFactory;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lavakv.FileInfo;
import org.lavakv.flink.storage.LocalFile;
import org.lavakv.flink.testing.BackendFixture;
import org.lavakv.flink.testing.ForwardingStreams;

/** An upload contains exactly the bytes that the engine wrote, or fails. */
class FileUploadTest {

    @TempDir Path root;
    private CheckpointStreamFactory storage;
    private final CloseableRegistry streams = new CloseableRegistry();

    @BeforeEach
    void open() {
        org.apache.flink.core.fs.Path to = new org.apache.flink.core.fs.Path(root.toUri());
        storage =
                new FsCheckpointStreamFactory(LocalFileSystem.getSharedInstance(), to, to, 0, 4096);
    }

    private static byte[] content(int bytes) {
        byte[] content = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            content[i] = (byte) (i * 31 + bytes);
        }
        return content;
    }

    /** A file whose content differs from the expected one. */
    private static FileUpload.Part part(String name, byte[] expected, byte[] actual) {
        CRC32C crc = new CRC32C();
        crc.update(expected, 0, expected.length);
        LocalFile file =
                new LocalFile() {
                    @Override
                    public InputStream open() throws IOException {
                        if (actual == null) {
                            throw new IOException(displayName() + " is gone");
                        }
                        return new ByteArrayInputStream(actual);
                    }

                    @Override
                    public String displayName() {
                        return "/local/" + name;
                    }
                };
        return new FileUpload.Part(file, new FileInfo(name, expected.length, (int) crc.getValue()));
    }

    private static FileUpload.Part part(String name, int bytes) {
        return part(name, content(bytes), content(bytes));
    }

    private StreamStateHandle upload(CheckpointStreamFactory to, FileUpload.Part... parts)
            throws IOException {
        return FileUpload.upload(
                List.of(parts), "the-upload", to, CheckpointedStateScope.SHARED, streams);
    }

    @Test
    void partsLieOneBehindTheOther() throws Exception {
        int[] sizes = {0, 1, 100_000, 65_536, 7};
        StreamStateHandle handle =
                upload(
                        storage,
                        Arrays.stream(sizes)
                                .mapToObj(bytes -> part("f" + bytes, bytes))
                                .toArray(FileUpload.Part[]::new));
        assertThat(handle.getStateSize()).isEqualTo(Arrays.stream(sizes).sum());
        try (InputStream in = handle.openInputStream()) {
            for (int bytes : sizes) {
                assertThat(in.readNBytes(bytes)).isEqualTo(content(bytes));
            }
            assertThat(in.read()).isEqualTo(-1);
        }
        assertThat(streams.isClosed()).isFalse();
        assertThat(streams.getNumberOfRegisteredCloseables()).isZero();
    }

    @Test
    void everyPartIsCheckedAndNothingStays() {
        byte[] good = content(70_000);
        byte[] flipped = good.clone();
        flipped[69_000] ^= 1;
        for (byte[] bad : Arrays.asList(flipped, Arrays.copyOf(good, 69_999), new byte[0], null)) {
            for (int at = 0; at < 3; at++) {
                FileUpload.Part[] parts = {part("a", 5), part("b", 6), part("c", 7)};
                parts[at] = part("the-bad-one", good, bad);
                assertThatThrownBy(() -> upload(storage, parts))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("Uploading the-upload into the checkpoint failed")
                        .hasMessageContaining("/local/the-bad-one");
            }
        }
        assertThat(BackendFixture.filesIn(root)).isEmpty();
        assertThat(streams.getNumberOfRegisteredCloseables()).isZero();
    }

    @Test
    void storageThatFailsIsToldWithWhatWasUploaded() {
        CheckpointStreamFactory full = new MemCheckpointStreamFactory(10);
        assertThatThrownBy(() -> upload(full, part("a", 9), part("b", 9)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Uploading the-upload into the checkpoint failed: Size");
    }

    @Test
    void storageThatKeepsLessFailsTheUpload() throws Exception {
        StreamStateHandle less = new ByteStreamStateHandle("less", new byte[13]);
        List<StreamStateHandle> answers = Stream.of(less, null).collect(Collectors.toList());
        for (StreamStateHandle answer : answers) {
            CheckpointStreamFactory lossy =
                    new ForwardingStreams(storage) {
                        @Override
                        public CheckpointStateOutputStream createCheckpointStateOutputStream(
                                CheckpointedStateScope scope) throws IOException {
                            return new MemCheckpointStreamFactory.MemoryCheckpointOutputStream(
                                    100) {
                                @Override
                                public StreamStateHandle closeAndGetHandle() {
                                    return answer;
                                }
                            };
                        }
                    };
            assertThatThrownBy(() -> upload(lossy, part("a", 7), part("b", 7)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("the-upload")
                    .hasMessageContaining((answer == null ? 0 : 13) + " of 14 bytes");
        }
    }

    @Test
    void cancelledUploadLeavesNothing() throws Exception {
        streams.close();
        assertThatThrownBy(() -> upload(storage, part("a", 7))).isInstanceOf(IOException.class);
        assertThat(BackendFixture.filesIn(root)).isEmpty();
    }
}

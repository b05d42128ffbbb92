// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.zip.CRC32C;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.CheckpointStateOutputStream;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.CheckpointedStateScope;
import org.apache.flink.runtime.state.StateUtil;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.IOUtils;
import org.lavakv.FileInfo;
import org.lavakv.flink.storage.LocalFile;

/**
 * Copies files into a checkpoint, and checks during the copy that they are unchanged since the
 * engine wrote them.
 *
 * <p>Threads: any, without state. Errors: IOException naming the file; the checkpoint then keeps
 * nothing of it.
 */
final class FileUpload {

    private static final int BUFFER_BYTES = 64 << 10;

    /** A local file with its expected length and checksum. Threads: immutable. */
    static final class Part {
        private final LocalFile file;
        private final FileInfo expected;

        Part(LocalFile file, FileInfo expected) {
            this.file = file;
            this.expected = expected;
        }

        /** The file's name in its instance's directory. */
        String name() {
            return expected.name();
        }

        /** A part with bytes from memory. */
        static Part of(byte[] bytes, String name) {
            CRC32C crc = new CRC32C();
            crc.update(bytes, 0, bytes.length);
            LocalFile file =
                    new LocalFile() {
                        @Override
                        public InputStream open() {
                            return new ByteArrayInputStream(bytes);
                        }

                        @Override
                        public String displayName() {
                            return name;
                        }
                    };
            return new Part(file, new FileInfo(name, bytes.length, (int) crc.getValue()));
        }
    }

    private FileUpload() {}

    /**
     * Uploads parts as one file.
     *
     * @param parts at least one; the result contains them one after the other
     * @param name the name of the whole file, for messages
     * @param streams everything that may block is registered here while it is open
     */
    static StreamStateHandle upload(
            List<Part> parts,
            String name,
            CheckpointStreamFactory factory,
            CheckpointedStateScope scope,
            CloseableRegistry streams)
            throws IOException {
        try {
            return copy(parts, factory, scope, streams);
        } catch (IOException e) {
            throw failed(name, e);
        }
    }

    private static StreamStateHandle copy(
            List<Part> parts,
            CheckpointStreamFactory factory,
            CheckpointedStateScope scope,
            CloseableRegistry streams)
            throws IOException {
        CheckpointStateOutputStream out = factory.createCheckpointStateOutputStream(scope);
        boolean open = true;
        long total = 0;
        try {
            streams.registerCloseable(out);
            for (Part part : parts) {
                copy(part, out, streams);
                total += part.expected.bytes();
            }
            if (!streams.unregisterCloseable(out)) {
                open = false;
                throw new IOException("it was cancelled.");
            }
            StreamStateHandle handle = out.closeAndGetHandle();
            open = false;
            checkWhole(handle, total);
            return handle;
        } finally {
            if (open) {
                streams.unregisterCloseable(out);
                IOUtils.closeQuietly(out);
            }
        }
    }

    /**
     * Checks how many bytes the storage reports as stored.
     *
     * @throws IOException when bytes are missing; the stored file is then deleted
     */
    static void checkWhole(@Nullable StreamStateHandle handle, long bytes) throws IOException {
        long kept = handle == null ? 0 : handle.getStateSize();
        if (handle == null || kept != bytes) {
            StateUtil.discardStateObjectQuietly(handle);
            throw new IOException(
                    "the checkpoint storage kept "
                            + kept
                            + " of "
                            + bytes
                            + " bytes. Check the storage.");
        }
    }

    /** An exception that names the file. */
    static IOException failed(String name, IOException e) {
        return new IOException(
                "Uploading " + name + " into the checkpoint failed: " + e.getMessage(), e);
    }

    private static void copy(Part part, OutputStream out, CloseableRegistry streams)
            throws IOException {
        CRC32C crc = new CRC32C();
        long total = 0;
        InputStream in = part.file.open();
        streams.registerCloseable(in);
        try {
            byte[] buffer = new byte[BUFFER_BYTES];
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                crc.update(buffer, 0, n);
                out.write(buffer, 0, n);
                total += n;
            }
        } finally {
            if (streams.unregisterCloseable(in)) {
                IOUtils.closeQuietly(in);
            }
        }
        FileInfo expected = part.expected;
        if (total != expected.bytes() || (int) crc.getValue() != expected.crc32c()) {
            throw new IOException(
                    "The local file "
                            + part.file.displayName()
                            + " has changed since it was written: it has "
                            + total
                            + " bytes instead of "
                            + expected.bytes()
                            + ", or another checksum. The checkpoint fails. Check the disk, and"
                            + " restart the job from an earlier checkpoint.");
        }
    }
}

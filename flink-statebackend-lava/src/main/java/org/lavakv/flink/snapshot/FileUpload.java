package org.lavakv.flink.snapshot;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
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
 * Copies one file into a checkpoint, and checks on the way that it still is what the engine wrote.
 *
 * <p>Threads: any, without state. Errors: IOException, then nothing stays in the checkpoint.
 */
final class FileUpload {

    private static final int BUFFER_BYTES = 64 << 10;

    private FileUpload() {}

    /** Uploads a local file. */
    static StreamStateHandle upload(
            LocalFile file,
            FileInfo expected,
            CheckpointStreamFactory factory,
            CheckpointedStateScope scope,
            CloseableRegistry streams)
            throws IOException {
        InputStream in = file.open();
        streams.registerCloseable(in);
        try {
            return copy(in, file.displayName(), expected, factory, scope, streams);
        } finally {
            if (streams.unregisterCloseable(in)) {
                IOUtils.closeQuietly(in);
            }
        }
    }

    /** Uploads bytes from memory. */
    static StreamStateHandle upload(
            byte[] bytes,
            String name,
            CheckpointStreamFactory factory,
            CheckpointedStateScope scope,
            CloseableRegistry streams)
            throws IOException {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, bytes.length);
        return copy(
                new ByteArrayInputStream(bytes),
                name,
                new FileInfo(name, bytes.length, (int) crc.getValue()),
                factory,
                scope,
                streams);
    }

    private static StreamStateHandle copy(
            InputStream in,
            String name,
            FileInfo expected,
            CheckpointStreamFactory factory,
            CheckpointedStateScope scope,
            CloseableRegistry streams)
            throws IOException {
        CheckpointStateOutputStream out;
        try {
            out = factory.createCheckpointStateOutputStream(scope);
        } catch (IOException e) {
            throw failed(name, 0, e);
        }
        boolean open = true;
        try {
            streams.registerCloseable(out);
            byte[] buffer = new byte[BUFFER_BYTES];
            CRC32C crc = new CRC32C();
            long total = 0;
            try {
                for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                    crc.update(buffer, 0, n);
                    out.write(buffer, 0, n);
                    total += n;
                }
            } catch (IOException e) {
                throw failed(name, total, e);
            }
            if (total != expected.bytes() || (int) crc.getValue() != expected.crc32c()) {
                throw new IOException(
                        "The local file "
                                + name
                                + " is not what was written: "
                                + total
                                + " bytes instead of "
                                + expected.bytes()
                                + ", or another checksum. The checkpoint fails; check the disk and"
                                + " restart the job from an earlier checkpoint.");
            }
            if (!streams.unregisterCloseable(out)) {
                open = false;
                throw new IOException("The upload of " + name + " was cancelled.");
            }
            StreamStateHandle handle;
            try {
                handle = out.closeAndGetHandle();
            } catch (IOException e) {
                throw failed(name, total, e);
            }
            open = false;
            checkWhole(handle, name, total);
            return handle;
        } finally {
            if (open) {
                streams.unregisterCloseable(out);
                IOUtils.closeQuietly(out);
            }
        }
    }

    /** Says which file it was that the storage refused, and how far it had come. */
    static IOException failed(String name, long offset, IOException e) {
        return new IOException(
                "Uploading "
                        + name
                        + " failed at offset "
                        + offset
                        + ": "
                        + e.getMessage()
                        + ". The checkpoint fails, and the next one will try again.",
                e);
    }

    /**
     * Checks what the storage says that it kept.
     *
     * @throws IOException when that is not all; then nothing of it stays
     */
    static void checkWhole(@Nullable StreamStateHandle handle, String name, long bytes)
            throws IOException {
        long kept = handle == null ? 0 : handle.getStateSize();
        if (handle == null || kept != bytes) {
            StateUtil.discardStateObjectQuietly(handle);
            throw new IOException(
                    "The checkpoint storage kept "
                            + kept
                            + " of the "
                            + bytes
                            + " bytes of "
                            + name
                            + ". The checkpoint fails; check the storage.");
        }
    }
}

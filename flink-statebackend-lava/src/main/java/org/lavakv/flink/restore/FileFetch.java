// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.function.LongConsumer;
import java.util.zip.CRC32C;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.util.IOUtils;
import org.lavakv.FileInfo;
import org.lavakv.LavaDBException;
import org.lavakv.flink.engine.RestoreProgress;
import org.lavakv.flink.storage.InstanceFiles;

/**
 * Copies one file of a checkpoint to the instance's files and checks every byte of it. A sealed
 * file only gets another name.
 *
 * <p>Threads: any, without state. Errors: IOException naming file, offset and state. The copy is
 * then removed; the checkpoint's file is unchanged.
 */
final class FileFetch {

    private static final int BUFFER_BYTES = 64 << 10;

    private FileFetch() {}

    /**
     * Fetches a file.
     *
     * @param name its name in {@code files}, which must not exist there
     * @param progress informed of every byte; the bytes are subtracted again when the fetch fails
     * @return the name
     */
    static String fetch(
            FileSource source,
            InstanceFiles files,
            String name,
            CloseableRegistry streams,
            RestoreProgress progress)
            throws IOException {
        long[] counted = {0};
        LongConsumer count =
                bytes -> {
                    counted[0] += bytes;
                    progress.copied(bytes);
                };
        try {
            Copied copied;
            if (source.local() != null && files.link(source.local(), name)) {
                if (source.isSealed()) {
                    count.accept(source.info().bytes());
                    return name;
                }
                try (OutputStream nowhere = OutputStream.nullOutputStream()) {
                    copied = copy(source, nowhere, streams, count);
                }
            } else {
                try (OutputStream out = files.create(name)) {
                    copied = copy(source, out, streams, count);
                }
            }
            // Not before the file is closed: until then it is incomplete, and the engine may have
            // to read it.
            check(source, copied, files, name);
            return name;
        } catch (IOException | RuntimeException | Error e) {
            progress.copied(-counted[0]);
            try {
                files.deleteIfExists(name);
            } catch (IOException suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }

    private static Copied copy(
            FileSource source, OutputStream out, CloseableRegistry streams, LongConsumer count)
            throws IOException {
        CRC32C crc = new CRC32C();
        long total = 0;
        InputStream in = source.open();
        streams.registerCloseable(in);
        try {
            byte[] buffer = new byte[BUFFER_BYTES];
            // A file that has grown is not read to its end, which may be far away.
            for (int n = read(in, buffer, source, total);
                    n >= 0 && total <= source.info().bytes();
                    n = read(in, buffer, source, total)) {
                crc.update(buffer, 0, n);
                out.write(buffer, 0, n);
                total += n;
                count.accept(n);
            }
        } finally {
            if (streams.unregisterCloseable(in)) {
                IOUtils.closeQuietly(in);
            }
        }
        if (streams.isClosed()) {
            throw new IOException("Fetching " + source.displayName() + " was cancelled.");
        }
        return new Copied(total, (int) crc.getValue());
    }

    private static int read(InputStream in, byte[] buffer, FileSource source, long offset)
            throws IOException {
        try {
            return in.read(buffer);
        } catch (IOException e) {
            throw source.unreadable(offset, e);
        }
    }

    private static void check(FileSource source, Copied copied, InstanceFiles files, String name)
            throws IOException {
        FileInfo expected = source.info();
        if (copied.bytes != expected.bytes()) {
            throw damaged(
                    source,
                    "at offset "
                            + Math.min(copied.bytes, expected.bytes())
                            + (copied.bytes < expected.bytes()
                                    ? " the file ends, but should have "
                                            + expected.bytes()
                                            + " bytes"
                                    : " the file should end, but continues"));
        }
        if (copied.crc32c != expected.crc32c()) {
            throw damaged(source, whereTheChecksumFails(source, files, name));
        }
    }

    /** Asks the engine which block is damaged, and to which state it belongs. */
    private static String whereTheChecksumFails(
            FileSource source, InstanceFiles files, String name) {
        if (!source.tables().isEmpty()) {
            try {
                files.verify(name, source.tables());
            } catch (LavaDBException e) {
                // The local copy no longer exists when somebody reads this message.
                return e.getMessage().replace(files.file(name).displayName() + ": ", "");
            }
        }
        return "at offset 0, " + source.info().bytes() + " bytes have a wrong checksum";
    }

    private static IOException damaged(FileSource source, String what) {
        return new IOException(
                "The checkpoint file "
                        + source.displayName()
                        + " is damaged: "
                        + what
                        + ". The file belongs to a checkpoint of the states "
                        + source.stateNames()
                        + ". The file is unchanged. Restore from another checkpoint.");
    }

    /** The length and checksum of the bytes that were copied. */
    private static final class Copied {
        private final long bytes;
        private final int crc32c;

        Copied(long bytes, int crc32c) {
            this.bytes = bytes;
            this.crc32c = crc32c;
        }
    }
}

package org.lavakv.flink.restore;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.util.IOUtils;
import org.lavakv.FileInfo;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.flink.snapshot.HardLinks;
import org.lavakv.flink.snapshot.LocalFileOutput;

/**
 * Brings one file of a checkpoint into the instance's directory and checks every byte of it.
 *
 * <p>Threads: any, without state. Errors: IOException naming file, offset and state; the file is
 * then gone from the directory, and the checkpoint's is as it was.
 */
final class FileFetch {

    private static final int BUFFER_BYTES = 64 << 10;

    private FileFetch() {}

    /**
     * Fetches.
     *
     * @param target where to; must not exist
     */
    static Path fetch(FileSource source, Path target, CloseableRegistry streams)
            throws IOException {
        boolean done = false;
        try {
            if (source.localPath() != null) {
                HardLinks.linkOrCopy(source.localPath(), target);
                try (OutputStream nowhere = OutputStream.nullOutputStream()) {
                    copy(source, target, nowhere, streams);
                }
            } else {
                try (OutputStream out = new LocalFileOutput(target)) {
                    copy(source, target, out, streams);
                }
            }
            done = true;
            return target;
        } finally {
            if (!done) {
                Files.deleteIfExists(target);
            }
        }
    }

    private static void copy(
            FileSource source, Path target, OutputStream out, CloseableRegistry streams)
            throws IOException {
        FileInfo expected = source.info();
        CRC32C crc = new CRC32C();
        long total = 0;
        InputStream in = source.open();
        streams.registerCloseable(in);
        try {
            byte[] buffer = new byte[BUFFER_BYTES];
            // A file that has grown is not read to its end, which may be far.
            for (int n = in.read(buffer);
                    n >= 0 && total <= expected.bytes();
                    n = in.read(buffer)) {
                crc.update(buffer, 0, n);
                out.write(buffer, 0, n);
                total += n;
            }
        } finally {
            if (streams.unregisterCloseable(in)) {
                IOUtils.closeQuietly(in);
            }
        }
        if (streams.isClosed()) {
            throw new IOException("Fetching " + source.displayName() + " was cancelled.");
        }
        out.flush();
        if (total != expected.bytes()) {
            throw damaged(
                    source,
                    "at offset "
                            + Math.min(total, expected.bytes())
                            + (total < expected.bytes()
                                    ? " it ends, and should have " + expected.bytes() + " bytes"
                                    : " it should end, and goes on"));
        }
        if ((int) crc.getValue() != expected.crc32c()) {
            throw damaged(source, whereTheChecksumFails(source, target));
        }
    }

    /** Asks the engine which block it is, and whose. */
    private static String whereTheChecksumFails(FileSource source, Path target) {
        if (!source.tables().isEmpty()) {
            try {
                LavaDB.verifyFile(target.toString(), source.tables());
            } catch (LavaDBException e) {
                // The local copy is gone when somebody reads this.
                return e.getMessage().replace(target + ": ", "");
            }
        }
        return "at offset 0 begin "
                + source.info().bytes()
                + " bytes whose checksum is not the recorded one";
    }

    private static IOException damaged(FileSource source, String what) {
        return new IOException(
                "The checkpoint file "
                        + source.displayName()
                        + " is damaged: "
                        + what
                        + ". The file belongs to a checkpoint of the states "
                        + source.stateNames()
                        + ". It was left as it is; restore from another one.");
    }
}

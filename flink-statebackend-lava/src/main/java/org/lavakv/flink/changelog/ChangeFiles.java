package org.lavakv.flink.changelog;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.filesystem.FileStateHandle;
import org.apache.flink.util.IOUtils;

/** Writes the files of one job's changelog. Threads: any. */
class ChangeFiles {
    private static final int BUFFER_BYTES = 64 << 10;

    private final FileSystem fileSystem;
    private final Path directory;
    private final boolean compress;

    /**
     * @throws IOException when there is no file system for the directory
     */
    ChangeFiles(ChangelogSettings settings) throws IOException {
        this.directory = settings.directory;
        this.compress = settings.compress;
        this.fileSystem = directory.getFileSystem();
    }

    /**
     * Writes a file with these sets, in their order.
     *
     * @return where each is
     * @throws IOException naming the file, of which nothing stays
     */
    List<UploadedChanges> write(List<ChangeSet> sets) throws IOException {
        Path path = new Path(directory, UUID.randomUUID().toString());
        List<Long> offsets = new ArrayList<>();
        long end = 0;
        boolean whole = false;
        OutputStream out = null;
        try {
            out =
                    new BufferedOutputStream(
                            fileSystem.create(path, FileSystem.WriteMode.NO_OVERWRITE),
                            BUFFER_BYTES);
            for (ChangeSet set : sets) {
                offsets.add(end);
                end += ChangeFormat.write(set, compress, out);
            }
            out.close();
            whole = true;
        } catch (IOException e) {
            throw new IOException("Uploading changes to " + path + " failed: " + e.getMessage(), e);
        } finally {
            if (!whole) {
                IOUtils.closeQuietly(out);
                IOUtils.closeQuietly(() -> fileSystem.delete(path, false));
            }
        }
        FileStateHandle file = new FileStateHandle(path, end);
        List<UploadedChanges> places = new ArrayList<>();
        for (int i = 0; i < sets.size(); i++) {
            long next = i + 1 < sets.size() ? offsets.get(i + 1) : end;
            places.add(new UploadedChanges(file, offsets.get(i), next - offsets.get(i)));
        }
        return places;
    }
}

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.bench;

import java.io.IOException;
import java.net.URI;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.core.fs.BlockLocation;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemFactory;
import org.apache.flink.core.fs.Path;
import org.apache.flink.core.fs.local.LocalFileSystem;

/**
 * The machine's file system with its own scheme, {@code counted:}, which counts the bytes written
 * to its files, separately for files of a changelog. Files that are discarded later count as well.
 * Threads: any.
 */
public final class XllFileSystem extends FileSystem {
    static final String SCHEME = "counted";

    /** A directory with this name belongs to the changelog. */
    static final String CHANGELOG = "changelog";

    static final AtomicLong CHANGELOG_BYTES = new AtomicLong();
    static final AtomicLong OTHER_BYTES = new AtomicLong();

    private final LocalFileSystem files = new LocalFileSystem();

    /** For Flink's loader. */
    public static final class Factory implements FileSystemFactory {
        @Override
        public String getScheme() {
            return SCHEME;
        }

        @Override
        public FileSystem create(URI uri) {
            return new XllFileSystem();
        }
    }

    private static Path local(Path path) {
        return new Path(path.getPath());
    }

    @Override
    public FSDataOutputStream create(Path path, WriteMode overwrite) throws IOException {
        boolean changelog = path.getPath().contains("/" + CHANGELOG + "/");
        return new Counting(
                files.create(local(path), overwrite), changelog ? CHANGELOG_BYTES : OTHER_BYTES);
    }

    @Override
    public Path getWorkingDirectory() {
        return files.getWorkingDirectory();
    }

    @Override
    public Path getHomeDirectory() {
        return files.getHomeDirectory();
    }

    @Override
    public URI getUri() {
        return URI.create(SCHEME + ":///");
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        return files.getFileStatus(local(path));
    }

    @Override
    public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length)
            throws IOException {
        return files.getFileBlockLocations(file, start, length);
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        return files.open(local(path), bufferSize);
    }

    @Override
    public FSDataInputStream open(Path path) throws IOException {
        return files.open(local(path));
    }

    @Override
    public FileStatus[] listStatus(Path path) throws IOException {
        return files.listStatus(local(path));
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
        return files.delete(local(path), recursive);
    }

    @Override
    public boolean mkdirs(Path path) throws IOException {
        return files.mkdirs(local(path));
    }

    @Override
    public boolean rename(Path from, Path to) throws IOException {
        return files.rename(local(from), local(to));
    }

    @Override
    public boolean isDistributedFS() {
        return true;
    }

    /** One thread at a time. */
    private static final class Counting extends FSDataOutputStream {
        private final FSDataOutputStream out;
        private final AtomicLong bytes;

        private Counting(FSDataOutputStream out, AtomicLong bytes) {
            this.out = out;
            this.bytes = bytes;
        }

        @Override
        public long getPos() throws IOException {
            return out.getPos();
        }

        @Override
        public void write(int b) throws IOException {
            out.write(b);
            bytes.incrementAndGet();
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            out.write(from, offset, length);
            bytes.addAndGet(length);
        }

        @Override
        public void flush() throws IOException {
            out.flush();
        }

        @Override
        public void sync() throws IOException {
            out.sync();
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }
}

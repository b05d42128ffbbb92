// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.testing;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.BlockLocation;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileStatus;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.FileSystemFactory;
import org.apache.flink.core.fs.Path;

/**
 * A Flink file system in memory, {@code memory-storage:///}, for checkpoints of tests. Deleted
 * files are gone, and reads can be made to fail. Directories exist implicitly.
 *
 * <p>Threads: any. Ownership: files stay until {@link #clear}.
 */
public final class MemoryStorage extends FileSystem {

    public static final String SCHEME = "memory-storage";

    private static final MemoryStorage INSTANCE = new MemoryStorage();

    private final ConcurrentSkipListMap<String, Content> files = new ConcurrentSkipListMap<>();
    private final Map<String, ReadFault> faults = new ConcurrentHashMap<>();

    private MemoryStorage() {}

    /** Found through META-INF/services. */
    public static final class Factory implements FileSystemFactory {
        @Override
        public String getScheme() {
            return SCHEME;
        }

        @Override
        public FileSystem create(URI uri) {
            return INSTANCE;
        }
    }

    /** A directory that is unique if the name is. */
    public static Path directory(String name) {
        return new Path(SCHEME + ":///" + name);
    }

    /** The files below a directory. */
    public static List<String> filesIn(Path directory) {
        String prefix = prefix(directory);
        return new ArrayList<>(
                INSTANCE.files.subMap(prefix, prefix + Character.MAX_VALUE).keySet());
    }

    /** The length of a file, or -1 when it does not exist. */
    public static long length(Path file) {
        Content content = INSTANCE.files.get(file.getPath());
        return content == null ? -1 : content.length();
    }

    /** Deletes the files below a directory. */
    public static void clear(Path directory) {
        String prefix = prefix(directory);
        INSTANCE.files.subMap(prefix, prefix + Character.MAX_VALUE).clear();
        INSTANCE.faults.remove(prefix);
    }

    /** Replaces a file's content by its first bytes. */
    public static void cut(Path file, int bytes) {
        Content whole = INSTANCE.files.get(file.getPath());
        Content cut = new Content();
        cut.append(whole.copy(0, bytes), 0, bytes);
        INSTANCE.files.put(file.getPath(), cut);
    }

    /** From now on one of the streams opened below the directory is faulty; null: none. */
    public static void failReads(Path directory, @Nullable ReadFault fault) {
        if (fault == null) {
            INSTANCE.faults.remove(prefix(directory));
        } else {
            INSTANCE.faults.put(prefix(directory), fault);
        }
    }

    private static String prefix(Path directory) {
        return directory.getPath() + "/";
    }

    @Override
    public FSDataInputStream open(Path path) throws IOException {
        Content content = files.get(path.getPath());
        if (content == null) {
            throw new FileNotFoundException("There is no file " + path + " (any more)");
        }
        for (Map.Entry<String, ReadFault> fault : faults.entrySet()) {
            if (path.getPath().startsWith(fault.getKey())) {
                return fault.getValue().open(path, content);
            }
        }
        return new Input(content);
    }

    @Override
    public FSDataInputStream open(Path path, int bufferSize) throws IOException {
        return open(path);
    }

    @Override
    public FSDataOutputStream create(Path path, WriteMode mode) throws IOException {
        Content content = new Content();
        if (mode == WriteMode.OVERWRITE) {
            files.put(path.getPath(), content);
        } else if (files.putIfAbsent(path.getPath(), content) != null) {
            throw new IOException("There is a file " + path + " already.");
        }
        return new Output(content);
    }

    @Override
    public boolean delete(Path path, boolean recursive) throws IOException {
        boolean any = files.remove(path.getPath()) != null;
        List<String> below = filesIn(path);
        if (!below.isEmpty() && !recursive) {
            throw new IOException("The directory " + path + " is not empty: " + below);
        }
        below.forEach(files::remove);
        return any || !below.isEmpty();
    }

    @Override
    public FileStatus getFileStatus(Path path) throws IOException {
        Content content = files.get(path.getPath());
        if (content == null && filesIn(path).isEmpty()) {
            throw new FileNotFoundException("There is nothing called " + path + ".");
        }
        return new Status(path, content);
    }

    @Override
    public FileStatus[] listStatus(Path path) {
        String prefix = prefix(path);
        return filesIn(path).stream()
                .map(file -> file.substring(prefix.length()).split("/")[0])
                .distinct()
                .map(name -> new Path(path, name))
                .map(child -> new Status(child, files.get(child.getPath())))
                .toArray(FileStatus[]::new);
    }

    @Override
    public boolean mkdirs(Path path) {
        return true;
    }

    @Override
    public boolean rename(Path from, Path to) {
        Content content = files.remove(from.getPath());
        return content != null && files.putIfAbsent(to.getPath(), content) == null;
    }

    @Override
    public boolean isDistributedFS() {
        return true;
    }

    @Override
    public BlockLocation[] getFileBlockLocations(FileStatus file, long start, long length) {
        return new BlockLocation[0];
    }

    @Override
    public Path getWorkingDirectory() {
        return directory("");
    }

    @Override
    public Path getHomeDirectory() {
        return directory("");
    }

    @Override
    public URI getUri() {
        return URI.create(SCHEME + ":///");
    }

    /** The fault of one stream. Threads: any. */
    public static final class ReadFault {

        /** The kind of fault. */
        public enum Kind {
            DOES_NOT_OPEN,
            BREAKS_OFF,
            ENDS_EARLY,
            /** No fault, but the action of {@link #whenStruck} runs before the stream opens. */
            OPENS
        }

        private final Kind kind;
        private final double place;
        private int opensBefore;
        private boolean chosen;
        @Nullable private Path struck;
        private Runnable whenStruck = () -> {};

        /**
         * @param opensBefore how many streams are opened without fault before
         * @param place relative position at which the file breaks off or ends, from 0 to less than
         *     1
         */
        public ReadFault(Kind kind, int opensBefore, double place) {
            this.kind = kind;
            this.opensBefore = opensBefore;
            this.place = place;
        }

        public Kind kind() {
            return kind;
        }

        /** Sets an action for the thread that opens the faulty stream, run before the open. */
        public ReadFault whenStruck(Runnable action) {
            whenStruck = action;
            return this;
        }

        /** The faulty file, or null while there is none. */
        @Nullable
        public synchronized Path struck() {
            return struck;
        }

        private synchronized FSDataInputStream open(Path path, Content content) throws IOException {
            if (chosen || opensBefore-- > 0 || content.length() == 0) {
                return new Input(content);
            }
            chosen = true;
            if (kind == Kind.DOES_NOT_OPEN || kind == Kind.OPENS) {
                strike(path);
            }
            if (kind == Kind.DOES_NOT_OPEN) {
                throw new IOException("the storage is down");
            }
            if (kind == Kind.OPENS) {
                return new Input(content);
            }
            // Of a pack, possibly only a part before this position is read.
            int end = (int) (content.length() * place);
            return new Input(content, end, kind == Kind.BREAKS_OFF, () -> strike(path));
        }

        private synchronized void strike(Path path) {
            if (struck == null) {
                struck = path;
                whenStruck.run();
            }
        }
    }

    /** The bytes of a file, which may be read while the file is written. */
    private static final class Content {
        private byte[] bytes = new byte[256];
        private int length;

        synchronized void append(byte[] from, int off, int len) {
            if (length + len > bytes.length) {
                bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, length + len));
            }
            System.arraycopy(from, off, bytes, length, len);
            length += len;
        }

        synchronized byte[] copy(int off, int len) {
            return Arrays.copyOfRange(bytes, off, off + len);
        }

        synchronized int read(int position, byte[] into, int off, int len, int end) {
            int n = Math.min(len, Math.min(end, length) - position);
            if (n > 0) {
                System.arraycopy(bytes, position, into, off, n);
            }
            return n > 0 || len == 0 ? n : -1;
        }

        synchronized int length() {
            return length;
        }
    }

    private static final class Input extends FSDataInputStream {
        private final Content content;
        private final int end;
        private final boolean breaksOff;
        private final Runnable whenAtEnd;
        private int position;

        Input(Content content) {
            this(content, Integer.MAX_VALUE, false, () -> {});
        }

        Input(Content content, int end, boolean breaksOff, Runnable whenAtEnd) {
            this.content = content;
            this.end = end;
            this.breaksOff = breaksOff;
            this.whenAtEnd = whenAtEnd;
        }

        @Override
        public void seek(long to) {
            position = (int) to;
        }

        @Override
        public long getPos() {
            return position;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] into, int off, int len) throws IOException {
            int n = content.read(position, into, off, len, end);
            if (n < 0 || (n < len && position + n >= end)) {
                whenAtEnd.run();
            }
            if (n < 0 && breaksOff) {
                throw new IOException("the connection was reset");
            }
            position += Math.max(n, 0);
            return n;
        }

        @Override
        public int available() {
            return Math.max(0, Math.min(end, content.length()) - position);
        }
    }

    private static final class Output extends FSDataOutputStream {
        private final Content content;

        Output(Content content) {
            this.content = content;
        }

        @Override
        public void write(int b) {
            content.append(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] from, int off, int len) {
            content.append(from, off, len);
        }

        @Override
        public long getPos() {
            return content.length();
        }

        @Override
        public void flush() {}

        @Override
        public void sync() {}

        @Override
        public void close() {}
    }

    private static final class Status implements FileStatus {
        private final Path path;
        @Nullable private final Content content;

        Status(Path path, @Nullable Content content) {
            this.path = path;
            this.content = content;
        }

        @Override
        public long getLen() {
            return content == null ? 0 : content.length();
        }

        @Override
        public boolean isDir() {
            return content == null;
        }

        @Override
        public Path getPath() {
            return path;
        }

        @Override
        public long getBlockSize() {
            return getLen();
        }

        @Override
        public short getReplication() {
            return 1;
        }

        @Override
        public long getModificationTime() {
            return 0;
        }

        @Override
        public long getAccessTime() {
            return 0;
        }
    }
}

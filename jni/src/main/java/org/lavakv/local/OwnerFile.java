package org.lavakv.local;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.lavakv.log.LibraryLog;

/**
 * A file in a directory that says, by its lock, whether the process lives that made it; what this
 * process makes there has the file's token in its name. The lock is held before anything with the
 * token is made, and the file goes after everything with the token has gone: so at each moment at
 * which a process may be killed its file is there for whatever else is.
 *
 * <p>Threads: any; all is under the lock of the class.
 *
 * <p>Ownership: one file for each directory and copy of these classes; users are counted.
 */
final class OwnerFile {

    private static final LibraryLog LOG = LibraryLog.of(OwnerFile.class);

    static final String PREFIX = "lava-owner-";
    private static final Pattern NAME = Pattern.compile(PREFIX + "(([0-9a-f]{32})-\\d+-\\d+)");
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");
    private static final int ATTEMPTS = 100;

    /**
     * Of the process, with all copies of these classes, which only the JDK's classes know of: the
     * JDK's locks are the process's, and end when it closes any channel of the file. So a process
     * never opens a file of its own again.
     */
    private static final String PROCESS = ofProcess();

    private static final Object COPY =
            System.getProperties().merge("org.lavakv.local.copies", "1", OwnerFile::next);

    private static final Map<Path, OwnerFile> HELD = new HashMap<>();
    private static int files;

    private final Path directory;
    private final String token;
    private final FileChannel locked; // null: the file system has no locks
    private long users;
    private long names;
    private boolean leavesSomething;

    private OwnerFile(Path directory, String token, FileChannel locked) {
        this.directory = directory;
        this.token = token;
        this.locked = locked;
    }

    private static String ofProcess() {
        String fresh = UUID.randomUUID().toString().replace("-", "");
        Object first = System.getProperties().putIfAbsent("org.lavakv.local.process", fresh);
        return first == null ? fresh : first.toString();
    }

    private static Object next(Object count, Object one) {
        return String.valueOf(Long.parseLong(count.toString()) + 1);
    }

    /** The one of a directory, with one more user; the first removes what dead processes left. */
    static OwnerFile use(Path directory) throws IOException {
        Path real = directory.toRealPath();
        OwnerFile file;
        boolean isNew;
        synchronized (OwnerFile.class) {
            file = HELD.get(real);
            isNew = file == null;
            if (isNew) {
                file = make(real);
                HELD.put(real, file);
            }
            ++file.users;
        }
        // Not under the lock: there may be much of it, and others do not need it gone.
        if (isNew && file.locked != null) {
            Leftovers.remove(real, file.token);
        }
        return file;
    }

    /**
     * A name that nobody had before.
     *
     * @param path of the directory, as the caller names it
     */
    Path newName(Path path, String begin, String end) {
        synchronized (OwnerFile.class) {
            return path.toAbsolutePath().resolve(begin + token + "-" + ++names + end);
        }
    }

    /**
     * One user less; with the last one the file goes.
     *
     * @param leftSomething whether a name that the user had is there still: then the file stays,
     *     for the next process
     */
    void release(boolean leftSomething) {
        synchronized (OwnerFile.class) {
            leavesSomething |= leftSomething;
            if (--users > 0) {
                return;
            }
            HELD.remove(directory);
            try (locked) {
                if (!leavesSomething || locked == null) {
                    Files.deleteIfExists(directory.resolve(PREFIX + token));
                }
            } catch (IOException e) {
                LOG.log(Level.DEBUG, "removing the owner file of " + directory + " failed", e);
            }
        }
    }

    private static OwnerFile make(Path directory) throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS; ++attempt) {
            String token = PROCESS + "-" + COPY + "-" + ++files;
            Path path = directory.resolve(PREFIX + token);
            FileChannel channel = PrivateFiles.create(path);
            boolean ready = false;
            try {
                // Another process may have found the file before it was locked, and removed it.
                if (lock(channel, path) && Files.exists(path)) {
                    channel.write(ByteBuffer.wrap(bytes("1 " + bootId() + "\n")));
                    ready = true;
                    return new OwnerFile(directory, token, channel);
                }
            } catch (NoLocksException e) {
                LOG.log(
                        Level.WARNING,
                        "The file system of "
                                + directory
                                + " has no locks, so what this process leaves there if it is"
                                + " killed is not found again: "
                                + e.getCause());
                return new OwnerFile(directory, token, null);
            } finally {
                if (!ready) {
                    channel.close();
                    Files.deleteIfExists(path);
                }
            }
        }
        throw new IOException("other processes removed every owner file at once");
    }

    /** Whether this process has the lock now. */
    private static boolean lock(FileChannel channel, Path path) throws NoLocksException {
        try {
            return channel.tryLock() != null;
        } catch (IOException e) {
            throw new NoLocksException(path, e);
        }
    }

    private static final class NoLocksException extends IOException {
        private static final long serialVersionUID = 1L;

        NoLocksException(Path path, IOException cause) {
            super("locking " + path + " failed", cause);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static String bootId() {
        try {
            return Files.readString(BOOT).trim();
        } catch (IOException unknown) {
            return "";
        }
    }

    /** The token of an owner file of another process; null: the name is of something else. */
    static String tokenOfAnother(String name) {
        Matcher matcher = NAME.matcher(name);
        return matcher.matches() && !matcher.group(2).equals(PROCESS) ? matcher.group(1) : null;
    }

    /** Whether what an owner file says was written since this machine's start. */
    static boolean isOfThisBoot(String content) {
        String boot = bootId();
        return !boot.isEmpty() && content.equals("1 " + boot + "\n");
    }
}

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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
 * A file in a directory whose lock shows whether the process that created it lives. Files that this
 * process creates in the directory have the file's token in their names. The lock is held before
 * any file with the token is created, and the owner file is removed after all files with the token.
 * Therefore, whenever a process is killed, its owner file exists as long as any of its other files.
 *
 * <p>Threads: any; everything is guarded by the lock of the class.
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
     * Identifies the process for all copies of these classes, which have only the JDK's classes in
     * common. File locks belong to the process and end when the process closes any channel of the
     * file. Therefore a process never opens its own owner file again.
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

    /**
     * The owner file of a directory, with one more user. The first use removes the files of dead
     * processes.
     */
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
        // Not under the lock: there may be many files, and other threads need not wait for their
        // removal.
        if (isNew && file.locked != null) {
            Leftovers.remove(real, file.token);
        }
        return file;
    }

    /**
     * A new, unique name.
     *
     * @param path of the directory, as the caller names it
     */
    Path newName(Path path, String begin, String end) {
        synchronized (OwnerFile.class) {
            return path.toAbsolutePath().resolve(begin + token + "-" + ++names + end);
        }
    }

    /**
     * Removes a user. The last one deletes the file.
     *
     * @param leftSomething whether a name of the user still exists: then the owner file is kept,
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
                                + " has no locks. If this process is killed, no other process"
                                + " will remove its files there: "
                                + e.getCause());
                return new OwnerFile(directory, token, null);
            } finally {
                if (!ready) {
                    channel.close();
                    Files.deleteIfExists(path);
                }
            }
        }
        throw new IOException("other processes removed each new owner file at once");
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

    /** The token of another process's owner file; null if the name is not that of an owner file. */
    static String tokenOfAnother(String name) {
        Matcher matcher = NAME.matcher(name);
        return matcher.matches() && !matcher.group(2).equals(PROCESS) ? matcher.group(1) : null;
    }

    /** Whether an owner file's content was written since this machine started. */
    static boolean isOfThisBoot(String content) {
        String boot = bootId();
        return !boot.isEmpty() && content.equals("1 " + boot + "\n");
    }
}

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.local;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import org.lavakv.log.LibraryLog;

/**
 * Creates local files and directories that only their user can read and enter (0600 and 0700),
 * whatever the process's umask is. They have these permissions from the first moment on;
 * permissions that a umask takes away from the user are restored. A file system without
 * permissions, such as another system's disk, decides by itself; that is no error.
 *
 * <p>Threads: any, without state. Errors: as {@link Files}.
 */
public final class PrivateFiles {

    private static final LibraryLog LOG = LibraryLog.of(PrivateFiles.class);

    private static final Set<PosixFilePermission> FILE =
            PosixFilePermissions.fromString("rw-------");
    private static final Set<PosixFilePermission> DIRECTORY =
            PosixFilePermissions.fromString("rwx------");
    private static final FileAttribute<?> FILE_MODE = PosixFilePermissions.asFileAttribute(FILE);
    private static final FileAttribute<?> DIRECTORY_MODE =
            PosixFilePermissions.asFileAttribute(DIRECTORY);

    private PrivateFiles() {}

    /**
     * Creates a directory with its missing parents. An existing directory is not changed: its
     * creator decides on the rights of others.
     */
    public static void createDirectories(Path directory) throws IOException {
        if (Files.isDirectory(directory)) {
            return;
        }
        Path parent = directory.toAbsolutePath().getParent();
        if (parent != null) {
            createDirectories(parent);
        }
        try {
            createDirectory(directory);
        } catch (FileAlreadyExistsException e) {
            // Another thread or process may have created it meanwhile.
            if (!Files.isDirectory(directory)) {
                throw e;
            }
        }
    }

    /** Creates a directory, which must not exist. */
    public static void createDirectory(Path directory) throws IOException {
        Files.createDirectory(directory, DIRECTORY_MODE);
        restore(directory, DIRECTORY);
    }

    /** Creates a file, which must not exist. The caller closes it. */
    public static FileChannel create(Path file) throws IOException {
        FileChannel made =
                FileChannel.open(
                        file,
                        Set.of(
                                StandardOpenOption.CREATE_NEW,
                                StandardOpenOption.READ,
                                StandardOpenOption.WRITE),
                        FILE_MODE);
        restore(file, FILE);
        return made;
    }

    /** See {@link #create}. */
    public static OutputStream newOutputStream(Path file) throws IOException {
        return Channels.newOutputStream(create(file));
    }

    /** Creates a file with this content. An existing file is replaced by a new one. */
    public static void write(Path file, byte[] content) throws IOException {
        Files.deleteIfExists(file);
        try (OutputStream out = newOutputStream(file)) {
            out.write(content);
        }
    }

    /** Copies a file; the copy must not exist. After a failure there is no copy. */
    public static void copy(Path from, Path to) throws IOException {
        try (FileChannel in = FileChannel.open(from, StandardOpenOption.READ);
                FileChannel out = create(to)) {
            long bytes = in.size();
            for (long done = 0; done < bytes; ) {
                long more = in.transferTo(done, bytes - done, out);
                if (more <= 0) {
                    throw new IOException(
                            from + " ends after " + done + " of its " + bytes + " bytes");
                }
                done += more;
            }
        } catch (FileAlreadyExistsException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            Files.deleteIfExists(to);
            throw e;
        }
    }

    /**
     * Gives a file a second name. Other users lose their rights to the file if it belongs to the
     * user who owns the second name's directory. A file of another user is not changed.
     */
    public static void link(Path from, Path to) throws IOException {
        Files.createLink(to, from);
        try {
            Set<PosixFilePermission> now =
                    Files.getPosixFilePermissions(to, LinkOption.NOFOLLOW_LINKS);
            if (!DIRECTORY.containsAll(now) && userOf(to).equals(userOf(to.getParent()))) {
                Set<PosixFilePermission> narrow = EnumSet.copyOf(DIRECTORY);
                narrow.retainAll(now);
                Files.setPosixFilePermissions(to, narrow);
            }
        } catch (UnsupportedOperationException e) {
            LOG.log(Level.DEBUG, to + " is on a file system without permissions.", e);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "Others may be able to read " + to + ": " + e.getMessage(), e);
        }
    }

    /** A number that identifies the user who owns a file. */
    static Object userOf(Path path) throws IOException {
        return Files.getAttribute(path, "unix:uid", LinkOption.NOFOLLOW_LINKS);
    }

    /** Restores the user's own permissions, which a umask may have taken away. */
    private static void restore(Path made, Set<PosixFilePermission> wanted) {
        try {
            if (!Files.getPosixFilePermissions(made, LinkOption.NOFOLLOW_LINKS).equals(wanted)) {
                Files.setPosixFilePermissions(made, wanted);
            }
        } catch (UnsupportedOperationException e) {
            LOG.log(Level.DEBUG, made + " is on a file system without permissions.", e);
        } catch (IOException e) {
            LOG.log(
                    Level.WARNING,
                    "The permissions of " + made + " could not be changed: " + e.getMessage(),
                    e);
        }
    }
}

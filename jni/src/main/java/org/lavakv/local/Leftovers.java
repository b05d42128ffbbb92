// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.local;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Set;
import org.lavakv.log.LibraryLog;

/**
 * Finds and removes files that killed processes left behind. A process is certainly dead when the
 * lock of its owner file is free and, in addition, either only this kernel can use the file system,
 * or the file was written since this kernel started. On a network file system mounted without
 * locks, a process of another host may hold a lock that this host cannot see, so its files are
 * kept. The age of files never matters.
 *
 * <p>Threads: any, without state; concurrent processes may remove the same files.
 *
 * <p>Errors: none; a failed removal is logged, and the next process tries again.
 */
final class Leftovers {

    private static final LibraryLog LOG = LibraryLog.of(Leftovers.class);

    private static final int CONTENT_BYTES_MAX = 256;

    /** File systems that only one kernel can use at a time, by their names in /proc/mounts. */
    private static final Set<String> OF_ONE_KERNEL =
            Set.of(
                    "ext2",
                    "ext3",
                    "ext4",
                    "xfs",
                    "btrfs",
                    "f2fs",
                    "zfs",
                    "bcachefs",
                    "jfs",
                    "nilfs2",
                    "reiserfs",
                    "tmpfs",
                    "ramfs",
                    "overlay",
                    "aufs");

    private Leftovers() {}

    /**
     * Removes the files of dead processes in a directory.
     *
     * @param token of an owner file of this process in the directory
     */
    static void remove(Path directory, String token) {
        try (DirectoryStream<Path> owners =
                Files.newDirectoryStream(directory, OwnerFile.PREFIX + "*")) {
            Object user = PrivateFiles.userOf(directory.resolve(OwnerFile.PREFIX + token));
            for (Path owner : owners) {
                String dead = OwnerFile.tokenOfAnother(owner.getFileName().toString());
                if (dead != null) {
                    removeIfDead(owner, dead, user);
                }
            }
        } catch (IOException | DirectoryIteratorException e) {
            LOG.log(
                    Level.WARNING,
                    "Looking in "
                            + directory
                            + " for files of killed processes failed: "
                            + e
                            + ". The files stay until another process opens the directory.");
        }
    }

    private static void removeIfDead(Path owner, String token, Object user) {
        try {
            if (!Files.isRegularFile(owner, LinkOption.NOFOLLOW_LINKS)
                    || !PrivateFiles.userOf(owner).equals(user)) {
                return;
            }
            try (FileChannel channel =
                    FileChannel.open(owner, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                if (channel.tryLock() != null && Files.exists(owner) && isDead(owner, channel)) {
                    removeAllOf(owner, token);
                }
            }
        } catch (OverlappingFileLockException e) {
            LOG.log(Level.DEBUG, "another copy of these classes removes the files of {0}", owner);
        } catch (NoSuchFileException e) {
            LOG.log(Level.DEBUG, "another process removed the files of {0}", owner);
        } catch (IOException e) {
            LOG.log(
                    Level.WARNING,
                    "Removing the files of the killed process with the owner file "
                            + owner
                            + " failed: "
                            + e
                            + ". The next process that opens the directory tries again.");
        }
    }

    /** Requires the lock. */
    private static boolean isDead(Path owner, FileChannel channel) throws IOException {
        String type = Files.getFileStore(owner).type();
        ByteBuffer bytes = ByteBuffer.allocate(CONTENT_BYTES_MAX);
        channel.read(bytes, 0);
        String content = new String(bytes.array(), 0, bytes.position(), StandardCharsets.US_ASCII);
        if (isDead(content, type)) {
            return true;
        }
        LOG.log(
                Level.INFO,
                "The owner file {0} was written by another host, or by this host before its last"
                        + " start. A file system of type {1} does not show which. If the process"
                        + " that wrote the owner file is gone, delete the owner file, and all"
                        + " files whose names contain the end of its name.",
                owner,
                type);
        return false;
    }

    static boolean isDead(String content, String fileSystem) {
        return OF_ONE_KERNEL.contains(fileSystem) || OwnerFile.isOfThisBoot(content);
    }

    private static void removeAllOf(Path owner, String token) throws IOException {
        IOException failure = null;
        int removed = 0;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(owner.getParent())) {
            for (Path entry : entries) {
                if (entry.equals(owner) || !entry.getFileName().toString().contains(token + "-")) {
                    continue;
                }
                try {
                    delete(entry);
                    ++removed;
                } catch (IOException e) {
                    failure = e;
                }
            }
        } catch (DirectoryIteratorException e) {
            failure = e.getCause();
        }
        if (failure != null) {
            throw failure;
        }
        Files.deleteIfExists(owner);
        if (removed > 0) {
            LOG.log(
                    Level.INFO,
                    "Removed {0} files and directories of a killed process in {1}.",
                    removed,
                    owner.getParent());
        }
    }

    /** Deletes a file, or a directory with its content; does not follow links. */
    static void delete(Path path) throws IOException {
        if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Deletion deletion = new Deletion();
        Files.walkFileTree(path, deletion);
        if (deletion.failure != null) {
            throw deletion.failure;
        }
    }

    /** Continues after a file that cannot be deleted. */
    private static final class Deletion extends SimpleFileVisitor<Path> {
        private IOException failure;

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            return delete(file);
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException e) {
            failed(e);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, IOException e) {
            return delete(directory);
        }

        private FileVisitResult delete(Path path) {
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                failed(e);
            }
            return FileVisitResult.CONTINUE;
        }

        private void failed(IOException e) {
            if (failure == null && !(e instanceof NoSuchFileException)) {
                failure = e;
            }
        }
    }
}

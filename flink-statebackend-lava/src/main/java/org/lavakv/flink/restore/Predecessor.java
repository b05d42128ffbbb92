// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.util.IOUtils;
import org.lavakv.FileInfo;
import org.lavakv.LavaDBException;
import org.lavakv.MetadataInfo;
import org.lavakv.TableInfo;
import org.lavakv.flink.checkpoint.CheckpointDescription;
import org.lavakv.flink.checkpoint.HeapTimerFile;
import org.lavakv.flink.checkpoint.PackedFiles;
import org.lavakv.flink.engine.InstanceOpener;
import org.lavakv.flink.storage.CopySeal;
import org.lavakv.flink.storage.KeptFiles;
import org.lavakv.flink.storage.PosixFile;

/**
 * One handle of a checkpoint, read as far as needed to adopt it: its files, their locations, and
 * their descriptions. Everything read was checked.
 *
 * <p>Threads: immutable.
 *
 * <p>Ownership: the caller closes it once its files were fetched.
 */
final class Predecessor implements AutoCloseable {

    private static final int BUFFER_BYTES = 16 << 10;

    private final IncrementalKeyedStateHandle handle;
    private final KeyGroupRange shown;
    private final CheckpointDescription description;
    private final MetadataInfo metadata;
    private final byte[] stateMeta;
    private final List<FileSource> files;
    @Nullable private final FileSource timers;
    private final Located located;

    private Predecessor(
            IncrementalKeyedStateHandle handle,
            KeyGroupRange shown,
            CheckpointDescription description,
            MetadataInfo metadata,
            byte[] stateMeta,
            List<FileSource> files,
            @Nullable FileSource timers,
            Located located) {
        this.handle = handle;
        this.shown = shown;
        this.description = description;
        this.metadata = metadata;
        this.stateMeta = stateMeta;
        this.files = files;
        this.timers = timers;
        this.located = located;
    }

    /**
     * Reads a handle's descriptions.
     *
     * @param shown the wanted ones of its key groups
     * @param opener finds files kept on this machine
     * @param streams open streams are registered here
     * @throws IOException when the handle is not Lava's, or damaged; names the file
     */
    static Predecessor read(
            IncrementalKeyedStateHandle handle,
            KeyGroupRange shown,
            InstanceOpener opener,
            CloseableRegistry streams)
            throws IOException {
        Located located =
                handle instanceof IncrementalLocalKeyedStateHandle
                        ? locate((IncrementalLocalKeyedStateHandle) handle, opener)
                        : locate((IncrementalRemoteKeyedStateHandle) handle);
        boolean done = false;
        try {
            Predecessor read = read(handle, shown, located, streams);
            done = true;
            return read;
        } finally {
            if (!done) {
                located.close();
            }
        }
    }

    private static Predecessor read(
            IncrementalKeyedStateHandle handle,
            KeyGroupRange shown,
            Located located,
            CloseableRegistry streams)
            throws IOException {
        byte[] bytes = readAll(located.description, streams);
        String name = located.description.displayName();
        CheckpointDescription description = CheckpointDescription.parse(bytes, name);
        FileSource metaSource =
                FileSource.remote(
                        new FileInfo("state description", -1, 0), handle.getMetaDataStateHandle());
        byte[] stateMeta = readAll(metaSource, streams);
        description.checkStateMeta(
                stateMeta, handle.getKeyGroupRange(), metaSource.displayName(), name);
        MetadataInfo metadata;
        try {
            metadata = MetadataInfo.read(description.engineMetadata());
        } catch (LavaDBException e) {
            throw new IOException(
                    "The checkpoint file " + name + " cannot be used: " + e.getMessage(), e);
        }
        String states =
                metadata.tables().stream().map(TableInfo::name).collect(Collectors.joining(", "));
        located.claimSeal(metadata.files(), shown);
        List<FileSource> files = new ArrayList<>();
        for (FileInfo file : metadata.files()) {
            files.add(
                    located.source(file, description.packed().of(file.name()), name)
                            .withStates(metadata.tables(), states));
        }
        FileSource timers =
                description.timers() == null
                        ? null
                        : located.source(description.timers(), null, name)
                                .withStates(Collections.emptyList(), "timers, " + states);
        return new Predecessor(
                handle, shown, description, metadata, stateMeta, files, timers, located);
    }

    private static Located locate(IncrementalLocalKeyedStateHandle handle, InstanceOpener opener)
            throws IOException {
        Path directory = handle.getDirectoryStateHandle().getDirectory();
        return new Located(
                directory,
                opener.kept(directory),
                null,
                FileSource.local(
                        new FileInfo(CheckpointDescription.FILE_NAME, -1, 0),
                        new PosixFile(directory.resolve(CheckpointDescription.FILE_NAME))));
    }

    private static Located locate(IncrementalRemoteKeyedStateHandle handle) throws IOException {
        Map<String, StreamStateHandle> byName = new TreeMap<>();
        for (HandleAndLocalPath file : handle.getSharedState()) {
            byName.put(file.getLocalPath(), file.getHandle());
        }
        for (HandleAndLocalPath file : handle.getPrivateState()) {
            byName.put(file.getLocalPath(), file.getHandle());
        }
        StreamStateHandle description = byName.get(CheckpointDescription.FILE_NAME);
        if (description == null) {
            throw new IOException(
                    "Checkpoint "
                            + handle.getCheckpointId()
                            + " was not written by Lava: it has no file "
                            + CheckpointDescription.FILE_NAME
                            + ", but "
                            + firstNames(byName)
                            + ". Checkpoints and native savepoints of another state backend,"
                            + " such as RocksDB or ForSt, contain files of that backend. To"
                            + " switch, take a canonical savepoint on that backend (flink"
                            + " savepoint --type canonical), and start the job on Lava from that"
                            + " savepoint.");
        }
        return new Located(
                null,
                null,
                byName,
                FileSource.remote(
                        new FileInfo(CheckpointDescription.FILE_NAME, -1, 0), description));
    }

    private static String firstNames(Map<String, StreamStateHandle> byName) {
        if (byName.isEmpty()) {
            return "no files at all";
        }
        List<String> names = new ArrayList<>(byName.keySet());
        int shown = Math.min(5, names.size());
        return String.join(", ", names.subList(0, shown))
                + (shown < names.size() ? " and " + (names.size() - shown) + " more" : "");
    }

    private static byte[] readAll(FileSource source, CloseableRegistry streams) throws IOException {
        InputStream in = source.open();
        streams.registerCloseable(in);
        try {
            byte[] bytes = readAll(in, source);
            if (bytes.length > CheckpointDescription.BYTES_MAX) {
                throw new IOException(
                        "The checkpoint file "
                                + source.displayName()
                                + " is damaged: it is larger than the maximum of "
                                + CheckpointDescription.BYTES_MAX
                                + " bytes for a description.");
            }
            return bytes;
        } finally {
            if (streams.unregisterCloseable(in)) {
                IOUtils.closeQuietly(in);
            }
        }
    }

    private static byte[] readAll(InputStream in, FileSource source) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] buffer = new byte[BUFFER_BYTES];
        try {
            for (int n = in.read(buffer);
                    n >= 0 && bytes.size() <= CheckpointDescription.BYTES_MAX;
                    n = in.read(buffer)) {
                bytes.write(buffer, 0, n);
            }
        } catch (IOException e) {
            throw source.unreadable(bytes.size(), e);
        }
        return bytes.toByteArray();
    }

    IncrementalKeyedStateHandle handle() {
        return handle;
    }

    /** The wanted ones of its key groups. */
    KeyGroupRange shown() {
        return shown;
    }

    CheckpointDescription description() {
        return description;
    }

    MetadataInfo metadata() {
        return metadata;
    }

    /** Flink's description of the states. */
    byte[] stateMeta() {
        return stateMeta;
    }

    /** The engine's files. */
    List<FileSource> files() {
        return files;
    }

    /** The file of timers on the heap, or null. */
    @Nullable
    FileSource timers() {
        return timers;
    }

    @Override
    public void close() {
        located.close();
    }

    /**
     * The location of a handle's files. Either they are on this machine, the engine's files where
     * they were kept for a directory and the other files in the directory itself; or each has its
     * own handle.
     */
    private static final class Located {
        @Nullable private final Path directory;
        @Nullable private final KeptFiles kept;
        @Nullable private final Map<String, StreamStateHandle> byName;
        private final FileSource description;
        private boolean sealed;

        Located(
                @Nullable Path directory,
                @Nullable KeptFiles kept,
                @Nullable Map<String, StreamStateHandle> byName,
                FileSource description) {
            this.directory = directory;
            this.kept = kept;
            this.byName = byName;
            this.description = description;
        }

        /** Determines whether the engine's files must be read to verify them. */
        void claimSeal(List<FileInfo> files, KeyGroupRange shown) {
            sealed =
                    directory != null
                            && files.stream().allMatch(file -> FileSource.isPlainName(file.name()))
                            && CopySeal.claim(
                                    directory,
                                    files.stream().map(FileInfo::name).collect(Collectors.toSet()),
                                    shown.getStartKeyGroup() + "-" + shown.getEndKeyGroup());
        }

        /**
         * @param location the file's location in a pack according to the description, or null
         */
        FileSource source(
                FileInfo file, @Nullable PackedFiles.Location location, String descriptionName)
                throws IOException {
            if (!FileSource.isPlainName(file.name())) {
                throw new IOException(
                        "The checkpoint file "
                                + descriptionName
                                + " is damaged: a file name in it is not a plain name.");
            }
            if (directory != null) {
                if (file.name().equals(HeapTimerFile.FILE_NAME)) {
                    return FileSource.local(file, new PosixFile(directory.resolve(file.name())));
                }
                return sealed
                        ? FileSource.sealed(file, kept.file(file.name()))
                        : FileSource.local(file, kept.file(file.name()));
            }
            if (location == null) {
                return FileSource.remote(file, handle(file.name(), descriptionName));
            }
            StreamStateHandle pack = handle(location.pack(), descriptionName);
            if (location.bytes() != file.bytes() || !location.liesWithin(pack.getStateSize())) {
                throw new IOException(
                        "The checkpoint file "
                                + descriptionName
                                + " contradicts the checkpoint: it says that "
                                + file
                                + " is "
                                + location
                                + ", which has "
                                + pack.getStateSize()
                                + " bytes. Restore from another checkpoint.");
            }
            return FileSource.packed(file, pack, location);
        }

        private StreamStateHandle handle(String name, String descriptionName) throws IOException {
            StreamStateHandle handle = byName.get(name);
            if (handle == null) {
                throw new IOException(
                        "The checkpoint is incomplete: "
                                + descriptionName
                                + " names the file "
                                + name
                                + ", which the checkpoint does not contain. Restore from another"
                                + " checkpoint.");
            }
            return handle;
        }

        void close() {
            if (kept != null) {
                kept.close();
            }
        }
    }
}

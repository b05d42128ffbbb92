// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.io.IOException;
import java.io.InputStream;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import javax.annotation.Nullable;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import org.apache.flink.runtime.state.StreamStateHandle;
import org.apache.flink.runtime.state.filemerging.SegmentFileStateHandle;
import org.lavakv.FileInfo;
import org.lavakv.TableInfo;
import org.lavakv.flink.checkpoint.PackedFiles;
import org.lavakv.flink.storage.LocalFile;

/**
 * One file of a checkpoint: its expected length and checksum, and its location.
 *
 * <p>Threads: immutable.
 */
final class FileSource {

    private static final Pattern PLAIN_NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,254}");

    private final FileInfo info;
    @Nullable private final StreamStateHandle handle;
    @Nullable private final PackedFiles.Location location;
    @Nullable private final LocalFile local;
    private final boolean sealed;
    private final List<TableInfo> tables;
    private final String stateNames;

    private FileSource(
            FileInfo info,
            @Nullable StreamStateHandle handle,
            @Nullable PackedFiles.Location location,
            @Nullable LocalFile local,
            boolean sealed,
            List<TableInfo> tables,
            String stateNames) {
        this.info = info;
        this.handle = handle;
        this.location = location;
        this.local = local;
        this.sealed = sealed;
        this.tables = tables;
        this.stateNames = stateNames;
    }

    static FileSource remote(FileInfo info, StreamStateHandle handle) {
        return new FileSource(info, handle, null, null, false, Collections.emptyList(), "");
    }

    /** A file within a pack, whose location must fit into the length of the pack. */
    static FileSource packed(FileInfo info, StreamStateHandle pack, PackedFiles.Location location) {
        return new FileSource(info, pack, location, null, false, Collections.emptyList(), "");
    }

    static FileSource local(FileInfo info, LocalFile local) {
        return new FileSource(info, null, null, local, false, Collections.emptyList(), "");
    }

    /**
     * A file that is known to be unchanged since it was written on this machine, and need not be
     * read to verify it.
     */
    static FileSource sealed(FileInfo info, LocalFile local) {
        return new FileSource(info, null, null, local, true, Collections.emptyList(), "");
    }

    /**
     * The same source with the states of its checkpoint, for messages.
     *
     * @param tables the tables of the engine's file, or empty for another file
     */
    FileSource withStates(List<TableInfo> tables, String stateNames) {
        return new FileSource(info, handle, location, local, sealed, tables, stateNames);
    }

    /** Whether a name from a checkpoint may be used as a file's name. */
    static boolean isPlainName(String name) {
        return PLAIN_NAME.matcher(name).matches();
    }

    FileInfo info() {
        return info;
    }

    /** Whether the fetch is worth postponing until the file is needed. */
    boolean isFar() {
        return local == null;
    }

    /** Null unless the file is on this machine. */
    @Nullable
    LocalFile local() {
        return local;
    }

    boolean isSealed() {
        return sealed;
    }

    List<TableInfo> tables() {
        return tables;
    }

    String stateNames() {
        return stateNames;
    }

    /**
     * Opens the file.
     *
     * @throws IOException naming the file
     */
    InputStream open() throws IOException {
        try {
            if (local != null) {
                return local.open();
            }
            FSDataInputStream in = handle.openInputStream();
            return location == null ? in : PackedInput.of(in, location);
        } catch (IOException e) {
            throw unreadable(0, e);
        }
    }

    /** An exception that says which file could not be read, and from where. */
    IOException unreadable(long offset, IOException e) {
        return new IOException(
                "The checkpoint file "
                        + displayName()
                        + " cannot be read from offset "
                        + offset
                        + ": "
                        + e.getMessage()
                        + ". The file is unchanged. Retry the restore once the storage is"
                        + " available.",
                e);
    }

    /** The location of the file, for people. */
    String displayName() {
        if (local != null) {
            return local.displayName();
        }
        String whole = whole();
        return location == null
                ? whole
                : info.name() + " at offset " + location.offset() + " of the pack " + whole;
    }

    /** The file, or the pack that contains it. */
    private String whole() {
        String name = location == null ? info.name() : location.pack();
        if (handle instanceof SegmentFileStateHandle) {
            SegmentFileStateHandle segment = (SegmentFileStateHandle) handle;
            return name
                    + " (which begins at byte "
                    + segment.getStartPos()
                    + " of "
                    + segment.getFilePath()
                    + ")";
        }
        return handle.maybeGetPath()
                .map(Path::toString)
                .orElseGet(
                        () -> name + " (" + handle.getStreamStateHandleID().getKeyString() + ")");
    }
}

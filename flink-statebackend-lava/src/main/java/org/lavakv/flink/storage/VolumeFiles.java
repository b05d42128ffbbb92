// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.storage;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import org.lavakv.DBOptions;
import org.lavakv.ImportSource;
import org.lavakv.LavaClosedException;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.Lease;
import org.lavakv.Status;
import org.lavakv.TableInfo;
import org.lavakv.Volume;
import org.lavakv.VolumeFigures;
import org.lavakv.VolumeOptions;

/**
 * Files in a directory of a volume.
 *
 * <p>Threads: any. Ownership: owns the directory and a reference to the volume. The last reference
 * unmounts the volume.
 */
public final class VolumeFiles implements InstanceFiles {

    private final Volume volume;
    private final String directory;

    private VolumeFiles(Volume volume, String directory) {
        this.volume = volume;
        this.directory = directory;
    }

    /**
     * A directory of the process's volume.
     *
     * @param volumes the directory of the machine that contains the volume; created if missing
     * @param options take effect if this call mounts the volume
     * @param directory a directory of the volume, which does not exist yet
     */
    public static VolumeFiles open(File volumes, VolumeOptions options, String directory)
            throws IOException {
        Volume volume;
        try {
            volume = Volume.open(volumes.getPath(), options);
        } catch (LavaDBException e) {
            throw new IOException(
                    "Opening a LavaFS volume in " + volumes + " failed: " + e.getMessage(), e);
        }
        Mounts.opened(volume, options);
        return new VolumeFiles(volume, directory);
    }

    /**
     * Removes the volumes in a directory that no process uses and in which nothing is kept. A
     * killed process may have left them, and instances without volumes open none there.
     *
     * @param volumes as for {@link #open}; need not exist
     */
    public static void removeUnused(File volumes) {
        LingeringVolumes.lingers(volumes.getPath());
    }

    @Override
    public LavaDB open(DBOptions options, Lease lease, List<ImportSource> imports)
            throws LavaDBException {
        return LavaDB.open(options.setVolume(volume), directory, lease, imports);
    }

    @Override
    public LocalFile file(String name) {
        return new VolumeFile(volume, directory, name);
    }

    @Override
    public OutputStream create(String name) throws IOException {
        try {
            return volume.createFile(directory, name);
        } catch (LavaDBException | LavaClosedException e) {
            throw failure("Creating " + file(name).displayName(), e);
        }
    }

    @Override
    public boolean link(LocalFile from, String name) throws IOException {
        if (!(from instanceof VolumeFile)
                || !((VolumeFile) from).volume().path().equals(volume.path())) {
            return false;
        }
        VolumeFile file = (VolumeFile) from;
        try {
            volume.linkFile(file.directory(), file.name(), directory, name);
            return true;
        } catch (LavaDBException | LavaClosedException e) {
            throw failure("Giving " + from.displayName() + " a second name in " + this, e);
        }
    }

    @Override
    public void deleteIfExists(String name) throws IOException {
        try {
            volume.removeFile(directory, name);
        } catch (LavaDBException | LavaClosedException e) {
            if (!(e instanceof LavaDBException)
                    || ((LavaDBException) e).getCode() != Status.Code.NOT_FOUND) {
                throw failure("Deleting " + file(name).displayName(), e);
            }
        }
    }

    @Override
    public void verify(String name, List<TableInfo> tables) throws LavaDBException {
        LavaDB.verifyFile(volume, directory + "/" + name, tables);
    }

    /** Uses a marker file; the files are kept as long as the marker exists. */
    @Override
    public void keep(Path to, List<String> names) throws IOException {
        try {
            volume.pin(KeptFiles.marker(to), directory, names);
        } catch (LavaDBException | LavaClosedException e) {
            throw failure("Pinning the files of " + this + " for " + to, e);
        }
    }

    @Override
    public void releaseKept() throws IOException {
        try {
            volume.dropStalePins();
        } catch (LavaDBException | LavaClosedException e) {
            throw failure("Dropping unused pins in " + volume.path(), e);
        }
    }

    @Override
    public String volumePath() {
        return volume.path();
    }

    @Override
    public VolumeFigures volumeFigures() {
        return volume.figures();
    }

    @Override
    public String toString() {
        return volume.path() + ":" + directory;
    }

    @Override
    public void close() throws IOException {
        try {
            volume.removeDirectory(directory);
        } catch (LavaClosedException closed) {
            return;
        } catch (LavaDBException e) {
            throw failure("Removing " + this, e);
        } finally {
            Mounts.closing(volume);
            volume.close();
            LingeringVolumes.ALL.closed(volume);
        }
    }

    private static IOException failure(String what, Exception e) {
        return new IOException(what + " failed: " + e.getMessage(), e);
    }
}

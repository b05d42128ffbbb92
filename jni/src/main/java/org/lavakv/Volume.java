// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;
import java.util.Objects;

/**
 * One large file in a directory of the machine, which contains the files of all instances of the
 * process that use the directory. A volume has one level of directories, whose names may contain
 * slashes.
 *
 * <p>Threads: any thread.
 *
 * <p>Ownership: the caller closes it. This object is one reference. Instances and open files have
 * their own references, so the order of closing does not matter. The last one unmounts the volume,
 * and removes its file unless files are pinned in it.
 *
 * <p>Errors: NOT_FOUND, INVALID_ARGUMENT (a name), IO_ERROR, CORRUPTION; NO_SPACE with the volume's
 * figures. After a failure of its metadata all changes of this volume fail with that error, and the
 * next open of the directory gets another volume. After close every method except {@link #path},
 * {@link #leftBehind} and close throws {@link LavaClosedException}.
 */
public final class Volume extends NativeObject {

    private final String path;
    private final String pinnedDirectory;
    private final List<String> leftBehind;

    private Volume(long handle, String where) throws LavaDBException {
        super(handle, "a volume (org.lavakv.Volume) of " + where);
        try {
            Decoder in = new Decoder(description0(handle));
            path = in.string();
            pinnedDirectory = in.string();
            leftBehind = List.copyOf(in.strings());
        } catch (LavaDBException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /**
     * The process's volume in a directory of the machine, created for its user only if it is
     * missing. Several processes may use one directory: each has its own volume.
     *
     * @param o takes effect if this call mounts the volume
     */
    public static Volume open(String directory, VolumeOptions o) throws LavaDBException {
        Objects.requireNonNull(directory, "directory");
        long[] options = o.toNative();
        LavaLibrary.checkLoaded();
        return new Volume(
                open0(Encoder.utf8(directory), options, Encoder.utf8(o.capacitySetting())),
                directory);
    }

    /**
     * Opens the files that {@link #pin} kept, by their marker. Mounts the volume if the process has
     * not mounted it.
     *
     * @param o takes effect if this call mounts the volume
     * @throws LavaDBException NOT_FOUND when the marker, the volume or the pin is gone; CORRUPTION
     *     of the marker; BUSY when another process has mounted the volume
     */
    public static PinnedFiles openPinned(String marker, VolumeOptions o) throws LavaDBException {
        Objects.requireNonNull(marker, "marker");
        long[] options = o.toNative();
        LavaLibrary.checkLoaded();
        Volume volume =
                new Volume(
                        openPinned0(
                                Encoder.utf8(marker), options, Encoder.utf8(o.capacitySetting())),
                        marker);
        return new PinnedFiles(volume, volume.pinnedDirectory);
    }

    /**
     * Removes the volumes of a directory that no process has mounted and in which nothing is
     * pinned. For callers that closed a volume with pins: possibly nothing opens the directory
     * again.
     *
     * @return the number of volumes that are kept because something is pinned in them
     */
    public static int removeStale(String directory) throws LavaDBException {
        Objects.requireNonNull(directory, "directory");
        LavaLibrary.checkLoaded();
        return removeStale0(Encoder.utf8(directory));
    }

    /** The volume's file. */
    public String path() {
        return path;
    }

    /** Files in the directory that the open found and could not read; they are unchanged. */
    public List<String> leftBehind() {
        return leftBehind;
    }

    /** The counters. */
    public VolumeFigures figures() {
        long[] numbers = new long[VolumeFigures.NUMBERS];
        figures0(handle, numbers);
        return new VolumeFigures(numbers);
    }

    /**
     * Opens a file for reading; NOT_FOUND when it does not exist. The stream is for one thread, but
     * any thread may close it. The caller closes it. Its failures are IOExceptions that name the
     * file.
     */
    public InputStream openFile(String directory, String name) throws LavaDBException {
        byte[] in = Encoder.utf8(directory);
        String file = nameOf(directory, name);
        return new VolumeInputStream(
                new VolumeInput(openFile0(handle, in, Encoder.utf8(name)), file), file);
    }

    /**
     * Creates a file, and the directory if necessary; IO_ERROR when the file exists. The stream is
     * for one thread, but any thread may close it. The caller closes it: the file is complete only
     * after a close without failure. Its failures are IOExceptions that name the file.
     */
    public OutputStream createFile(String directory, String name) throws LavaDBException {
        byte[] in = Encoder.utf8(directory);
        String file = nameOf(directory, name);
        return new VolumeOutputStream(
                new VolumeOutput(createFile0(handle, in, Encoder.utf8(name)), file), file);
    }

    /**
     * Gives a file a second name, and creates the directory of that name. IO_ERROR when the name
     * exists, NOT_FOUND without the file.
     */
    public void linkFile(String directory, String name, String toDirectory, String toName)
            throws LavaDBException {
        linkFile0(
                handle,
                Encoder.utf8(directory),
                Encoder.utf8(name),
                Encoder.utf8(toDirectory),
                Encoder.utf8(toName));
    }

    /** Removes a file; NOT_FOUND when it does not exist. */
    public void removeFile(String directory, String name) throws LavaDBException {
        removeFile0(handle, Encoder.utf8(directory), Encoder.utf8(name));
    }

    /** The names of a directory's files; NOT_FOUND when the directory does not exist. */
    public List<String> listFiles(String directory) throws LavaDBException {
        return new Decoder(listFiles0(handle, Encoder.utf8(directory))).strings();
    }

    /** Removes a directory with its files; does nothing when it does not exist. */
    public void removeDirectory(String directory) throws LavaDBException {
        removeDirectory0(handle, Encoder.utf8(directory));
    }

    /**
     * Keeps these files of a directory as long as a marker exists. The marker is a file outside the
     * volume that this call writes. Deleting it drops the pin. See {@link #openPinned}.
     *
     * @throws LavaDBException also IO_ERROR when the marker already exists
     */
    public void pin(String marker, String directory, List<String> names) throws LavaDBException {
        pin0(handle, Encoder.utf8(marker), Encoder.utf8(directory), Encoder.strings(names));
    }

    /** Drops pins whose markers are gone. Cheap; should be called from time to time. */
    public void dropStalePins() throws LavaDBException {
        dropStalePins0(handle);
    }

    /** Drops this reference. Repeating it does nothing. */
    @Override
    public void close() {
        super.close();
    }

    private String nameOf(String directory, String name) {
        return path + ":" + directory + "/" + name;
    }

    private static native long open0(byte[] directory, long[] options, byte[] capacitySetting)
            throws LavaDBException;

    private static native long openPinned0(byte[] marker, long[] options, byte[] capacitySetting)
            throws LavaDBException;

    private static native int removeStale0(byte[] directory) throws LavaDBException;

    /** Path, pinned directory (empty: none), and files left behind. */
    private native byte[] description0(long handle) throws LavaDBException;

    private native void figures0(long handle, long[] numbers);

    private native long openFile0(long handle, byte[] directory, byte[] name)
            throws LavaDBException;

    private native long createFile0(long handle, byte[] directory, byte[] name)
            throws LavaDBException;

    private native void linkFile0(
            long handle, byte[] directory, byte[] name, byte[] toDirectory, byte[] toName)
            throws LavaDBException;

    private native void removeFile0(long handle, byte[] directory, byte[] name)
            throws LavaDBException;

    private native byte[] listFiles0(long handle, byte[] directory) throws LavaDBException;

    private native void removeDirectory0(long handle, byte[] directory) throws LavaDBException;

    private native void pin0(long handle, byte[] marker, byte[] directory, byte[] names)
            throws LavaDBException;

    private native void dropStalePins0(long handle) throws LavaDBException;
}

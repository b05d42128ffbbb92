package org.lavakv.flink.storage;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import javax.annotation.Nullable;
import org.lavakv.DBOptions;
import org.lavakv.ImportSource;
import org.lavakv.LavaDB;
import org.lavakv.LavaDBException;
import org.lavakv.Lease;
import org.lavakv.TableInfo;
import org.lavakv.VolumeFigures;

/**
 * The directory in which an instance has its files.
 *
 * <p>Threads: any; a file is made by one.
 *
 * <p>Ownership: {@link #close} gives back what this holds.
 *
 * <p>Errors: IOException that names the file.
 */
public interface InstanceFiles extends AutoCloseable {

    /** Opens the instance; the caller closes it before this. */
    LavaDB open(DBOptions options, Lease lease, List<ImportSource> imports) throws LavaDBException;

    /** A file of the directory, which need not be there. */
    LocalFile file(String name);

    /** Makes a file, which must not be there; the caller closes it, and only then it is whole. */
    OutputStream create(String name) throws IOException;

    /**
     * Gives a file of another directory a second name here.
     *
     * @return false when it cannot be the same file here, and must be copied
     */
    boolean link(LocalFile from, String name) throws IOException;

    /** Removes a file. */
    void deleteIfExists(String name) throws IOException;

    /**
     * Reads every byte of one of the engine's files and checks it.
     *
     * @param tables to name the table whose data is hit
     * @throws LavaDBException CORRUPTION, naming the file
     */
    void verify(String name, List<TableInfo> tables) throws LavaDBException;

    /**
     * Keeps files for local recovery, until somebody deletes the directory that is given. {@link
     * KeptFiles} finds them again.
     *
     * @param directory an ordinary one, which is there
     */
    void keep(Path directory, List<String> names) throws IOException;

    /** Lets go what was kept for directories that are gone. Cheap. */
    void releaseKept() throws IOException;

    /** Where the volume is, for people; null when the files are in no volume. */
    @Nullable
    String volumePath();

    /** The counters of the volume; null when the files are in no volume. */
    @Nullable
    VolumeFigures volumeFigures();

    /** Where the directory is, for people. */
    @Override
    String toString();

    /**
     * Removes the files of a volume's directory and lets go of the volume; ordinary files are whose
     * their directory is. Repeating it does nothing.
     */
    @Override
    void close() throws IOException;
}

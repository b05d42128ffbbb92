// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.lavakv.local.OwnedPath;
import org.lavakv.local.PrivateFiles;
import org.lavakv.log.LibraryLog;

/**
 * Copies the native library out of the jar and loads the copy. Each class loader needs its own
 * file, because the JVM refuses to load one file twice. On Linux the copy can be deleted as soon as
 * it is loaded.
 *
 * <p>Threads: one at a time ({@link LavaLibrary#load}).
 */
final class NativeLibraryLoader {

    static final String RESOURCE = "/org/lavakv/native/linux-x86_64/liblavakvjni.so";

    /** The Flink plugin's option for the directory, for messages. */
    static final String DIRECTORY_OPTION = "state.backend.lava.library.dir";

    /**
     * Number of copies loaded in this process by all class loaders. A system property, because each
     * class loader has its own static fields.
     */
    static final String COPIES_PROPERTY = "org.lavakv.library.copies";

    private static final LibraryLog LOG = LibraryLog.of(NativeLibraryLoader.class);

    private static final int ELF_MAGIC = 0x7f454c46;
    private static final int ELF_HEADER_BYTES = 64;
    private static final int ELF_SECTIONS_OFFSET = 40;
    private static final int ELF_SECTION_BYTES_OFFSET = 58;
    private static final int ELF_SECTION_COUNT_OFFSET = 60;

    private final Source source;
    private final Consumer<String> systemLoad;

    /** The source of the library's bytes. */
    interface Source {
        InputStream open() throws IOException;
    }

    NativeLibraryLoader() {
        this(NativeLibraryLoader::openResource, System::load);
    }

    /** For tests: with another library and another way to load it. */
    NativeLibraryLoader(Source source, Consumer<String> systemLoad) {
        this.source = source;
        this.systemLoad = systemLoad;
    }

    /** Loads a copy below directory, or below java.io.tmpdir if directory is null. */
    void load(File directory) throws IOException {
        Platform.current().check();
        Path parent =
                directory == null
                        ? Path.of(System.getProperty("java.io.tmpdir"))
                        : directory.toPath();
        // A process that is killed meanwhile leaves megabytes behind; the next process removes
        // them.
        OwnedPath own = makeDirectory(parent);
        try {
            Path copy = own.path().resolve("liblavakvjni.so");
            extract(copy);
            loadCopy(copy, parent);
        } finally {
            delete(own);
        }
        int copies =
                Integer.parseInt(
                        (String)
                                System.getProperties()
                                        .merge(COPIES_PROPERTY, "1", NativeLibraryLoader::sum));
        if (copies > 1) {
            warn(
                    "Loaded copy number "
                            + copies
                            + " of Lava's native library in this process, for another class loader."
                            + " Each copy in use has its own threads and block cache; memory leases"
                            + " add up. To share one, put Lava's jar into Flink's lib directory and"
                            + " not into the job's jar.",
                    null);
        }
    }

    private static void warn(String message, IOException cause) {
        LOG.log(Level.WARNING, message, cause);
    }

    private static String sum(Object a, Object b) {
        return String.valueOf(Integer.parseInt((String) a) + Integer.parseInt((String) b));
    }

    private static OwnedPath makeDirectory(Path parent) throws IOException {
        OwnedPath own = null;
        try {
            own = OwnedPath.claim(parent, "lavakv-library-", "");
            PrivateFiles.createDirectory(own.path());
            return own;
        } catch (IOException e) {
            delete(own);
            throw new IOException(
                    "cannot make a directory for Lava's native library below "
                            + parent
                            + "; set "
                            + DIRECTORY_OPTION
                            + " to a directory that this process may"
                            + " write to: "
                            + e,
                    e);
        }
    }

    private void extract(Path copy) throws IOException {
        byte[] library;
        try (InputStream in = source.open()) {
            library = in.readAllBytes();
        }
        checkComplete(library);
        try {
            PrivateFiles.write(copy, library);
        } catch (IOException e) {
            throw new IOException(
                    "cannot write a copy of Lava's native library to "
                            + copy
                            + "; set "
                            + DIRECTORY_OPTION
                            + " to a directory with "
                            + library.length
                            + " bytes of space: "
                            + e,
                    e);
        }
    }

    /**
     * Loading a truncated library file kills the process (SIGBUS) instead of failing. The section
     * table is the last part of the file, and the header contains its offset and size.
     */
    private static void checkComplete(byte[] library) throws IOException {
        if (library.length >= ELF_HEADER_BYTES) {
            ByteBuffer header = ByteBuffer.wrap(library).order(ByteOrder.LITTLE_ENDIAN);
            long sections = header.getLong(ELF_SECTIONS_OFFSET);
            int bytesEach = Short.toUnsignedInt(header.getShort(ELF_SECTION_BYTES_OFFSET));
            int count = Short.toUnsignedInt(header.getShort(ELF_SECTION_COUNT_OFFSET));
            if (header.order(ByteOrder.BIG_ENDIAN).getInt(0) == ELF_MAGIC
                    && sections > 0
                    && sections <= library.length
                    && sections + (long) bytesEach * count <= library.length) {
                return;
            }
        }
        throw new IOException(
                "the native library in Lava's jar ("
                        + RESOURCE
                        + ") is incomplete: it has "
                        + library.length
                        + " bytes; replace the jar");
    }

    static InputStream openResource() throws IOException {
        InputStream in = NativeLibraryLoader.class.getResourceAsStream(RESOURCE);
        if (in == null) {
            throw new IOException(
                    "the class path has no " + RESOURCE + ": Lava's jar is incomplete");
        }
        return in;
    }

    private void loadCopy(Path copy, Path parent) throws IOException {
        try {
            systemLoad.accept(copy.toAbsolutePath().toString());
        } catch (LinkageError e) {
            throw new IOException(explain(String.valueOf(e.getMessage()), parent), e);
        }
    }

    /** Adds advice to the message of a failed load. */
    static String explain(String message, Path parent) {
        String what = "cannot load Lava's native library from a copy below " + parent + ": ";
        if (message.contains("failed to map segment")
                || message.contains("Operation not permitted")
                || message.contains("ermission denied")) {
            return what
                    + "the directory seems to be on a file system mounted noexec; set "
                    + DIRECTORY_OPTION
                    + " to a directory that is not. ("
                    + message
                    + ")";
        }
        if (message.contains("GLIBC_")) {
            return what + "it needs glibc 2.34 or newer. (" + message + ")";
        }
        return what + message;
    }

    private static void delete(OwnedPath own) {
        if (own != null) {
            try {
                own.close();
            } catch (IOException e) {
                warn("cannot delete the copy of the native library in " + own.path(), e);
            }
        }
    }
}

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loading the library: supported platforms, the location of the copy, and messages of failures. */
class LibraryTest {

    private static final String NOEXEC_MESSAGE =
            "/x/liblavakvjni.so: failed to map segment from shared object: Operation not permitted";

    @TempDir Path directory;

    @Test
    void otherPlatformsAreToldWhatIsSupported() {
        for (Platform p :
                List.of(
                        new Platform("Mac OS X", "amd64", ""),
                        new Platform("Linux", "aarch64", ""),
                        new Platform("Linux", "amd64", "7f00 r-x /lib/ld-musl-x86_64.so.1\n"),
                        new Platform("Linux", "amd64", "7f00 /lib/libc.musl-x86_64.so.1\n"))) {
            assertThatThrownBy(p::check)
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("Linux on x86-64")
                    .hasMessageContaining("glibc 2.34");
        }
        assertThatThrownBy(new Platform("Linux", "aarch64", "")::check)
                .hasMessageContaining("this processor is aarch64");
        assertThatThrownBy(new Platform("Linux", "amd64", "/lib/ld-musl-x86_64.so.1")::check)
                .hasMessageContaining("musl");
        assertThatCode(new Platform("Linux", "x86_64", "7f00 /lib/libc.so.6")::check)
                .doesNotThrowAnyException();
        assertThatCode(Platform.current()::check).doesNotThrowAnyException();
    }

    @Test
    void theCopyIsPrivateAndGoneAfterwards() throws Exception {
        Path parent = directory.resolve("made/when/missing");
        List<String> seen = new ArrayList<>();
        Consumer<String> look =
                file -> {
                    try {
                        Path copy = Path.of(file);
                        seen.add(
                                PosixFilePermissions.toString(Files.getPosixFilePermissions(copy)));
                        seen.add(
                                PosixFilePermissions.toString(
                                        Files.getPosixFilePermissions(copy.getParent())));
                        seen.add(copy.getParent().getParent().toString());
                    } catch (IOException e) {
                        throw new AssertionError(e);
                    }
                };
        new NativeLibraryLoader(NativeLibraryLoader::openResource, look).load(parent.toFile());
        forgetOneCopy();
        assertThat(seen).containsExactly("rw-------", "rwx------", parent.toString());
        assertThat(parent).isEmptyDirectory();
    }

    @Test
    void noexecNamesTheOption() {
        Consumer<String> refuse =
                file -> {
                    throw new UnsatisfiedLinkError(NOEXEC_MESSAGE);
                };
        NativeLibraryLoader loader =
                new NativeLibraryLoader(NativeLibraryLoader::openResource, refuse);
        assertThatThrownBy(() -> loader.load(directory.toFile()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("noexec")
                .hasMessageContaining("state.backend.lava.library.dir")
                .hasMessageContaining(directory.toString())
                .hasMessageContaining(NOEXEC_MESSAGE);
        assertThat(directory).isEmptyDirectory();
    }

    /** The same with a real file system, if this process may mount one. */
    @Test
    void realNoexecDirectory() throws Exception {
        Path mount = Files.createDirectory(directory.resolve("noexec"));
        boolean mounted =
                run("mount", "-t", "tmpfs", "-o", "noexec,size=200m", "tmpfs", mount.toString());
        boolean unmounted = true;
        String message = NOEXEC_MESSAGE;
        if (mounted) {
            try {
                new NativeLibraryLoader().load(mount.toFile());
                message = "loaded from a noexec directory";
            } catch (IOException e) {
                message = e.getMessage();
            } finally {
                unmounted = run("umount", "-l", mount.toString());
            }
        } else {
            message = NativeLibraryLoader.explain(message, mount);
        }
        assertThat(unmounted).as("the file system is unmounted").isTrue();
        assertThat(message).contains("noexec", "state.backend.lava.library.dir");
    }

    private static boolean run(String... command) throws Exception {
        try {
            Process process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start();
            return process.waitFor(20, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void unwritableDirectoryNamesTheOption() throws Exception {
        Path file = Files.createFile(directory.resolve("file"));
        assertThatThrownBy(() -> new NativeLibraryLoader().load(file.toFile()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("state.backend.lava.library.dir")
                .hasMessageContaining(file.toString());
    }

    @Test
    void oldGlibcIsExplained() {
        assertThat(
                        NativeLibraryLoader.explain(
                                "/lib/libc.so.6: version `GLIBC_2.34' not found", directory))
                .contains("needs glibc 2.34 or newer");
    }

    @Test
    void anotherVersionIsRefused() throws Exception {
        byte[] library = resource();
        String marker = "lava-build-id:" + LavaLibrary.BUILD_ID;
        int at = new String(library, StandardCharsets.ISO_8859_1).indexOf(marker);
        assertThat(at).isPositive();
        library[at + marker.length() - 1] = '?';
        NativeLibraryLoader loader =
                new NativeLibraryLoader(() -> new ByteArrayInputStream(library), System::load);
        assertThatThrownBy(() -> loader.load(directory.toFile()))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("two versions of Lava")
                .hasMessageContaining(LavaLibrary.BUILD_ID);
        // The correct library can still be loaded, or is already loaded.
        LavaDB.loadLibrary(directory.toFile());
        assertThat(Host.openNativeObjects()).isZero();
    }

    @Test
    void damagedLibraryIsAnExceptionNotACrash() throws Exception {
        byte[] library = resource();
        for (int length : new int[] {0, 10, 64, 1000, library.length / 2, library.length - 1}) {
            NativeLibraryLoader loader =
                    new NativeLibraryLoader(
                            () -> new ByteArrayInputStream(library, 0, length), System::load);
            assertThatThrownBy(() -> loader.load(directory.toFile()))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("incomplete");
        }
        NativeLibraryLoader missing =
                new NativeLibraryLoader(
                        () -> {
                            throw new IOException("the class path has no library");
                        },
                        System::load);
        assertThatThrownBy(() -> missing.load(directory.toFile())).isInstanceOf(IOException.class);
        assertThat(directory).isEmptyDirectory();
    }

    private static byte[] resource() throws IOException {
        try (InputStream in = NativeLibraryLoader.openResource()) {
            return in.readAllBytes();
        }
    }

    /** The fake load above counted as a copy. */
    private static void forgetOneCopy() {
        String copies = System.getProperty(NativeLibraryLoader.COPIES_PROPERTY);
        if (copies.equals("1")) {
            System.clearProperty(NativeLibraryLoader.COPIES_PROPERTY);
        } else {
            System.setProperty(
                    NativeLibraryLoader.COPIES_PROPERTY,
                    String.valueOf(Integer.parseInt(copies) - 1));
        }
    }
}

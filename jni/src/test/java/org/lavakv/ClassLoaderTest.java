// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/**
 * Each of several class loaders in one JVM has a working copy of the library, which is unloaded
 * with the loader.
 */
class ClassLoaderTest extends LavaTestBase {

    private static final int LOADERS = Integer.getInteger("lava.test.class.loaders", 50);

    /** Loads its own classes of the bindings, even if its parent has them. */
    private static class ChildFirst extends URLClassLoader {
        private final String changedClass;
        private final String from;
        private final String to;

        ChildFirst() throws IOException {
            this(null, null, null);
        }

        /**
         * Replaces a text in a class by another one of the same length, which makes an incompatible
         * version.
         */
        ChildFirst(String changedClass, String from, String to) throws IOException {
            super(
                    new URL[] {
                        LavaDB.class.getProtectionDomain().getCodeSource().getLocation(),
                        Exercise.class.getProtectionDomain().getCodeSource().getLocation()
                    },
                    ClassLoader.getPlatformClassLoader());
            this.changedClass = changedClass;
            this.from = from;
            this.to = to;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            if (!name.equals(changedClass)) {
                return super.findClass(name);
            }
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                String text = new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
                assertThat(text).contains(from);
                byte[] changed = text.replace(from, to).getBytes(StandardCharsets.ISO_8859_1);
                return defineClass(name, changed, 0, changed.length);
            } catch (IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }

        @SuppressWarnings("unchecked")
        long exercise() throws Exception {
            Callable<Long> exercise =
                    (Callable<Long>)
                            loadClass(Exercise.class.getName())
                                    .getDeclaredConstructor()
                                    .newInstance();
            // Runs on a thread that ends: the thread's resources of the library must not outlive
            // it.
            FutureTask<Long> task = new FutureTask<>(exercise);
            Thread thread = new Thread(task);
            thread.start();
            thread.join();
            return task.get();
        }
    }

    @Test
    void twoLoadersWorkSideBySide() throws Exception {
        int copies = Integer.parseInt(System.getProperty(NativeLibraryLoader.COPIES_PROPERTY));
        try (Lease lease = lease();
                LavaDB db = open(lease);
                ChildFirst one = new ChildFirst();
                ChildFirst two = new ChildFirst()) {
            assertThat(one.loadClass(LavaDB.class.getName())).isNotSameAs(LavaDB.class);
            assertThat(one.exercise()).isZero();
            assertThat(two.exercise()).isZero();
            assertThat(one.exercise()).isZero();
            TableHandle t = db.createTable("t", new TableOptions());
            put(db, t, "k", "v");
            assertThat(get(db, t, "k")).isEqualTo("v");
        }
        assertThat(System.getProperty(NativeLibraryLoader.COPIES_PROPERTY))
                .isEqualTo(String.valueOf(copies + 2));
    }

    @Test
    void unusedLoadersAndTheirCopiesGo() throws Exception {
        long mappedBefore = mappedCopies();
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        for (int i = 0; i < LOADERS; i++) {
            loaders.add(useOne());
        }
        long alive = loaders.size();
        for (int i = 0; i < 200 && alive > 0; i++) {
            System.gc();
            Thread.sleep(20);
            alive = loaders.stream().filter(l -> l.get() != null).count();
        }
        assertThat(alive).as("class loaders still alive").isZero();
        long mapped = mappedCopies();
        for (int i = 0; i < 200 && mapped > mappedBefore + 1; i++) {
            System.gc();
            Thread.sleep(20);
            mapped = mappedCopies();
        }
        assertThat(mapped).as("copies still mapped").isLessThanOrEqualTo(mappedBefore + 1);
    }

    private static WeakReference<ClassLoader> useOne() throws Exception {
        try (ChildFirst loader = new ChildFirst()) {
            assertThat(loader.exercise()).isZero();
            return new WeakReference<>(loader);
        }
    }

    /** Deleted files stay in the memory map under their names until they are unmapped. */
    private static long mappedCopies() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/maps"), StandardCharsets.ISO_8859_1)) {
            return lines.filter(l -> l.contains("liblavakvjni.so"))
                    .map(l -> l.substring(l.indexOf('/')))
                    .distinct()
                    .count();
        }
    }

    @Test
    void aClassThatDoesNotFitFailsTheWholeLoad() throws Exception {
        try (ChildFirst loader = new ChildFirst("org.lavakv.Lease", "number0", "numberX")) {
            assertThatThrownBy(loader::exercise)
                    .rootCause()
                    .isInstanceOf(LinkageError.class)
                    .hasMessageContaining("number0");
            // Nothing is half loaded: a method of another class is not linked either.
            assertThatThrownBy(
                            () -> {
                                var method =
                                        loader.loadClass("org.lavakv.LavaLibrary")
                                                .getDeclaredMethod("setFault0", int.class);
                                method.setAccessible(true);
                                method.invoke(null, 0);
                            })
                    .rootCause()
                    .isInstanceOf(UnsatisfiedLinkError.class);
        }
    }

    @Test
    void beforeLoadingCallsSayWhatToDo() throws Exception {
        try (ChildFirst loader = new ChildFirst()) {
            var statistics = loader.loadClass("org.lavakv.Host").getMethod("getStatistics");
            assertThatThrownBy(() -> statistics.invoke(null))
                    .rootCause()
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("loadLibrary");
            var open = loader.loadClass("org.lavakv.Host").getMethod("openNativeObjects");
            assertThat(open.invoke(null)).isEqualTo(0L);
        }
    }
}

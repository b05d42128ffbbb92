package org.lavakv;

import java.io.File;
import java.io.IOException;

/**
 * Whether the native library is there for this class loader, and the part of it that concerns all.
 *
 * <p>Threads: any thread.
 */
final class LavaLibrary {

    /**
     * What Java and native code must agree on. The native build reads it from this file, and the
     * library refuses to load beside another one. Change the last number with every change of a
     * native method or of the bytes that pass the boundary.
     */
    static final String BUILD_ID = "lavakv-jni 0.1.0-SNAPSHOT interface 14";

    private static volatile boolean loaded;

    private LavaLibrary() {}

    static synchronized void load(File directory) throws IOException {
        if (!loaded) {
            new NativeLibraryLoader().load(directory);
            loaded = true;
        }
    }

    static boolean isLoaded() {
        return loaded;
    }

    static void checkLoaded() {
        if (!loaded) {
            throw new IllegalStateException(
                    "the native library is not loaded: call LavaDB.loadLibrary first");
        }
    }

    /**
     * For tests: makes every native call fail on its way in. 0: no; 1: a C++ exception; 2: out of
     * memory; 3: something that is no exception class; 4: writes and waits answer Busy; 5: closing
     * a database does; 6 and 7: it does what AddressSanitizer and UndefinedBehaviorSanitizer must
     * report, in a library that was built with them.
     */
    static native void setFault0(int fault);

    /** For tests: how many numbers {@link DBOptions} has, and the name and default of each. */
    static native byte[] dbOptions0();

    /** For tests: the kinds of events with their figures, and the causes with their names. */
    static native byte[] eventTables0();
}

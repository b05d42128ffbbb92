// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.io.File;
import java.io.IOException;

/**
 * Whether the native library is loaded for this class loader, and native functions of the library
 * as a whole.
 *
 * <p>Threads: any thread.
 */
final class LavaLibrary {

    /**
     * The version on which Java and native code must agree. The native build reads it from this
     * file, and the library refuses to load with other classes. Increase the last number with every
     * change of a native method or of the data passed between Java and native code.
     */
    static final String BUILD_ID = "lavakv-jni 0.1.0-SNAPSHOT interface 18";

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
     * For tests: makes every native call fail at its start. 0: no fault; 1: a C++ exception; 2: out
     * of memory; 3: a thrown object that is no exception class; 4: writes and waits return Busy; 5:
     * closing a database returns Busy; 6 and 7: errors that AddressSanitizer and
     * UndefinedBehaviorSanitizer must report, in a library built with them.
     */
    static native void setFault0(int fault);

    /** For tests: the number of native options, and the name and default of each. */
    static native byte[] dbOptions0();

    /** For tests: the kinds of events with their figures, and the causes with their names. */
    static native byte[] eventTables0();
}

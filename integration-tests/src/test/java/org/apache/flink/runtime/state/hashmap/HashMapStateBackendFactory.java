package org.apache.flink.runtime.state.hashmap;

import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.runtime.state.StateBackendFactory;
import org.lavakv.flink.it.CountedLava;

/**
 * Stands before Flink's class of this name on the test class path. Makes what Flink's does, unless
 * a suite asked for Lava: many of Flink's own end-to-end tests say {@code hashmap}, or nothing.
 */
public class HashMapStateBackendFactory implements StateBackendFactory<HashMapStateBackend> {

    private static volatile boolean lava;

    /** From now on {@code hashmap} in this JVM is Lava, or is itself again. Threads: any. */
    public static void makeLava(boolean wanted) {
        lava = wanted;
    }

    @Override
    public HashMapStateBackend createFromConfig(ReadableConfig config, ClassLoader classLoader) {
        return lava
                ? new CountedLava(config, classLoader)
                : new HashMapStateBackend().configure(config, classLoader);
    }
}

package org.lavakv.flink;

import org.lavakv.flink.engine.LavaInstance;

/** For tests of other packages. */
public final class BackendInstance {
    private BackendInstance() {}

    public static LavaInstance of(LavaKeyedStateBackend<?> backend) {
        return backend.instance();
    }
}

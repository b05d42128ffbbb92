package org.lavakv.flink.restore;

import java.io.IOException;
import java.util.List;
import org.lavakv.ImportSource;
import org.lavakv.LavaDBException;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.LavaInstanceFactory;

/** Opens the instance, and knows how to leave nothing behind. Threads: one. */
final class InstanceOpener {

    private final LavaInstanceFactory factory;
    private LavaInstance instance;

    InstanceOpener(LavaInstanceFactory factory) {
        this.factory = factory;
    }

    LavaInstance open(List<ImportSource> imports) throws IOException, LavaDBException {
        instance = factory.open(imports);
        return instance;
    }

    /** After a failure: closes what is open and deletes what lies on disk. */
    void abandon() {
        if (instance != null) {
            instance.close();
        } else {
            factory.discard();
        }
    }
}

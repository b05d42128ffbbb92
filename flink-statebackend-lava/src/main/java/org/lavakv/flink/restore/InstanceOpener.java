package org.lavakv.flink.restore;

import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import org.apache.flink.core.fs.CloseableRegistry;
import org.lavakv.ImportSource;
import org.lavakv.LavaDBException;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.LavaInstanceFactory;

/**
 * Opens the instance, and knows how to leave nothing behind. Until the restore is finished, closing
 * the task's registry closes the database, which ends a write that waits for background work, and
 * gives up files that a read waits for.
 *
 * <p>Threads: one.
 */
final class InstanceOpener {

    private final LavaInstanceFactory factory;
    private final CloseableRegistry cancel;
    private LavaInstance instance;
    private Closeable closing;

    InstanceOpener(LavaInstanceFactory factory, CloseableRegistry cancel) {
        this.factory = factory;
        this.cancel = cancel;
    }

    /**
     * Opens.
     *
     * @throws IOException also when the registry is closed
     */
    LavaInstance open(List<ImportSource> imports) throws IOException, LavaDBException {
        instance = factory.open(imports);
        closing =
                () -> {
                    instance.lateFiles().close();
                    instance.db().close();
                };
        cancel.registerCloseable(closing);
        return instance;
    }

    /** The registry closes the database no more; fails if it has done so. */
    void finish() throws IOException {
        if (!cancel.unregisterCloseable(closing)) {
            throw new IOException("The restore was cancelled.");
        }
    }

    /** After a failure: closes what is open and deletes what lies on disk. */
    void abandon() {
        if (instance != null) {
            cancel.unregisterCloseable(closing);
            instance.close();
        } else {
            factory.discard();
        }
    }
}

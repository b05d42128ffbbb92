package org.lavakv.flink.engine;

import java.io.IOException;
import java.util.Collection;
import org.apache.flink.core.fs.CloseableRegistry;

/**
 * The files of an instance that come while it is used: an on-demand restore fetches them. Reads
 * need not care, they wait for what they need by themselves.
 *
 * <p>Threads: any.
 */
public interface LateFiles extends AutoCloseable {

    /** Of an instance whose files are all there. */
    LateFiles NONE =
            new LateFiles() {
                @Override
                public void require(Collection<String> names, CloseableRegistry cancel) {}

                @Override
                public void close() {}
            };

    /**
     * Waits until files are there; they come before those that nobody waits for.
     *
     * @param names some of them may have come already, or never have been away
     * @param cancel closing it ends the wait
     * @throws IOException naming the file that could not be fetched, or when the wait was ended
     */
    void require(Collection<String> names, CloseableRegistry cancel)
            throws IOException, InterruptedException;

    /**
     * Gives up what has not come: who waits for it gets an exception. Does not wait for a fetch
     * that hangs longer than a second. Repeating it does nothing.
     */
    @Override
    void close();
}

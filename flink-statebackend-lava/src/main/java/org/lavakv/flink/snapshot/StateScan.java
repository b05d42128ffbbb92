package org.lavakv.flink.snapshot;

import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.StateSnapshotTransformer;
import org.lavakv.LavaDBException;
import org.lavakv.ScanOptions;
import org.lavakv.ScanPage;
import org.lavakv.Snapshot;
import org.lavakv.TableHandle;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.ListSegments;
import org.lavakv.flink.engine.TableCursor;

/**
 * How to read one state of the engine for a canonical savepoint.
 *
 * <p>Threads: the transformer is of one thread only, so that a scan is opened once.
 */
final class StateScan {

    private static final int PAGE_BYTES = 256 << 10;
    private static final int PAGE_ENTRIES = 4096;

    private final String name;
    private final TableHandle table;
    private final boolean list;
    @Nullable private final StateSnapshotTransformer<byte[]> transformer;

    /**
     * @param list whether values are the engine's list segments
     * @param transformer works on canonical values; null leaves them as they are
     */
    StateScan(
            String name,
            TableHandle table,
            boolean list,
            @Nullable StateSnapshotTransformer<byte[]> transformer) {
        this.name = name;
        this.table = table;
        this.list = list;
        this.transformer = transformer;
    }

    /** Begins to read what the snapshot shows. */
    KeyGroupSource open(LavaInstance instance, Snapshot snapshot) {
        return new Source(instance, snapshot);
    }

    private final class Source implements KeyGroupSource {
        private final LavaInstance instance;
        private final Snapshot snapshot;
        private final ScanOptions options = new ScanOptions();
        private final ScanPage page = new ScanPage();
        private boolean last = true;
        private byte[] key;
        private byte[] value;

        Source(LavaInstance instance, Snapshot snapshot) {
            this.instance = instance;
            this.snapshot = snapshot;
            options.setEntriesMax(PAGE_ENTRIES).setBytesMax(PAGE_BYTES);
        }

        @Override
        public void seek(int keyGroup) throws IOException {
            int prefixBytes = instance.keyGroupPrefixBytes();
            // Flink has at most 32768 key groups, so there is always a next number to end at.
            byte[] lower = TableCursor.keyGroupBytes(keyGroup, prefixBytes);
            byte[] upper = TableCursor.keyGroupBytes(keyGroup + 1, prefixBytes);
            options.setLower(lower, 0, prefixBytes).setLowerExclusive(false);
            options.setUpper(upper, 0, prefixBytes);
            load();
        }

        @Override
        public boolean next() throws IOException {
            while (true) {
                while (!page.next()) {
                    if (last) {
                        return false;
                    }
                    options.continueAfter(page);
                    load();
                }
                value = canonicalValue();
                if (value != null) {
                    key = page.key();
                    return true;
                }
            }
        }

        private void load() throws IOException {
            try {
                instance.db().scan(table, options, page, snapshot);
            } catch (LavaDBException e) {
                throw failure(e);
            }
            last = page.done() || page.count() == 0;
        }

        /** Null when the entry does not belong into the savepoint. */
        @Nullable
        private byte[] canonicalValue() throws IOException {
            byte[] canonical = list ? joined() : page.value();
            return transformer == null ? canonical : transformer.filterOrTransform(canonical);
        }

        private byte[] joined() throws IOException {
            try {
                return ListSegments.join(page.buffer(), page.valueOffset(), page.valueLength());
            } catch (IOException e) {
                throw failure(e);
            }
        }

        private IOException failure(Exception e) {
            return new IOException(
                    "Reading the state " + name + " for a savepoint failed: " + e.getMessage(), e);
        }

        @Override
        public byte[] key() {
            return key;
        }

        @Override
        public byte[] value() {
            return value;
        }
    }
}

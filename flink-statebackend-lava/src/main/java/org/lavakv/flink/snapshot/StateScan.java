// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.snapshot;

import java.io.IOException;
import javax.annotation.Nullable;
import org.apache.flink.runtime.state.StateSnapshotTransformer;
import org.lavakv.ScanPage;
import org.lavakv.TableHandle;
import org.lavakv.flink.engine.ListSegments;

/**
 * One state of the engine in a canonical savepoint. The thread of {@link PagesAhead} reads its
 * entries, and the thread that writes the savepoint converts them to canonical form.
 *
 * <p>Threads: the transformer is used by one thread only, so a scan may be opened once.
 */
final class StateScan {

    private final String name;
    private final TableHandle table;
    private final boolean list;
    private final boolean ordered;
    @Nullable private final StateSnapshotTransformer<byte[]> transformer;

    /**
     * @param list whether values are the engine's list segments
     * @param ordered whether the order of entries matters
     * @param transformer is applied to canonical values; null leaves them unchanged
     */
    StateScan(
            String name,
            TableHandle table,
            boolean list,
            boolean ordered,
            @Nullable StateSnapshotTransformer<byte[]> transformer) {
        this.name = name;
        this.table = table;
        this.list = list;
        this.ordered = ordered;
        this.transformer = transformer;
    }

    TableHandle table() {
        return table;
    }

    /**
     * Converts the pages that were read.
     *
     * @param state the number of this state in the pages
     */
    KeyGroupSource source(PagesAhead pages, int state) {
        return new Source(pages, state);
    }

    private IOException failure(Exception e) {
        return new IOException(
                "Reading the state " + name + " for a savepoint failed: " + e.getMessage(), e);
    }

    private final class Source implements KeyGroupSource {
        private final PagesAhead pages;
        private final int state;
        private int keyGroup;
        @Nullable private ScanPage page;
        private byte[] value;

        Source(PagesAhead pages, int state) {
            this.pages = pages;
            this.state = state;
        }

        @Override
        public void seek(int keyGroup) {
            this.keyGroup = keyGroup;
        }

        @Override
        public boolean next() throws IOException {
            while (move()) {
                value = canonicalValue();
                if (value != null) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public boolean isOrdered() {
            return ordered;
        }

        @Override
        public void writeRest(CanonicalEntryOutput out) throws IOException {
            if (list || transformer != null) {
                KeyGroupSource.super.writeRest(out);
                return;
            }
            while (move()) {
                // Directly from the page.
                byte[] from = page.buffer();
                out.write(
                        from,
                        page.keyOffset(),
                        page.keyLength(),
                        from,
                        page.valueOffset(),
                        page.valueLength());
            }
        }

        /** Moves to the next entry in the engine. */
        private boolean move() throws IOException {
            while (page == null || !page.next()) {
                page = pages.next(keyGroup, state);
                if (page == null) {
                    return false;
                }
            }
            return true;
        }

        /** Null when the entry does not belong in the savepoint. */
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

        @Override
        public byte[] key() {
            return page.key();
        }

        @Override
        public byte[] value() {
            return value;
        }
    }
}

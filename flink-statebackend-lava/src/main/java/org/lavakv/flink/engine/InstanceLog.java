// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import java.io.IOException;
import java.io.InputStream;
import java.util.TreeMap;
import javax.annotation.Nullable;
import org.apache.flink.util.ResourceGuard;
import org.lavakv.EntryLocation;
import org.lavakv.EntryLog;
import org.lavakv.LavaClosedException;
import org.lavakv.LavaDBException;
import org.lavakv.flink.shared.SharedLog;
import org.lavakv.flink.shared.SharedUploads;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of an instance, for the changelog above the instance. Threads and ownership: as {@link
 * SharedLog}.
 */
final class InstanceLog implements SharedLog {
    private static final Logger LOG = LoggerFactory.getLogger(InstanceLog.class);

    private final LavaInstance instance;
    private final EntryLog log;
    private final SharedUploads uploads = new SharedUploads();
    private long segment = -1;
    @Nullable private String file;
    private boolean failed;
    private boolean used;

    /** Changelog segments that the changelog needs, with their first entries; guarded by itself. */
    private final TreeMap<Long, Long> needed = new TreeMap<>();

    /** The last entry; guarded by {@code needed}. */
    private long newest;

    InstanceLog(LavaInstance instance) {
        this.instance = instance;
        this.log = instance.db().entryLog();
    }

    @Override
    public void use(boolean binds) {
        used = true;
        if (binds) {
            bind(new byte[0]);
        }
    }

    /** Whether a changelog is above this instance. Threads: the task's. */
    boolean isUsed() {
        return used;
    }

    @Override
    @Nullable
    public Location bind(byte[] change) {
        try {
            EntryLocation at = log.bindExternal(change);
            if (at == null) {
                return null;
            }
            if (at.segment() != segment) {
                file = log.segmentName(at.segment());
                segment = at.segment();
            }
            synchronized (needed) {
                needed.putIfAbsent(segment, at.sequence());
                newest = at.sequence();
            }
            return new Location(segment, file, at.offset(), at.bytes());
        } catch (LavaDBException | LavaClosedException e) {
            // The value stays where it is, and the changelog writes the change itself.
            if (!failed) {
                LOG.warn(
                        "A large value of {} could not be shared with the changelog, so it is"
                                + " written twice. Further occurrences are not logged.",
                        instance.files(),
                        e);
            }
            failed = true;
            return null;
        }
    }

    @Override
    public void roll() {
        try {
            log.roll();
        } catch (LavaDBException | LavaClosedException e) {
            LOG.debug("The log of {} could not start a new segment.", instance.files(), e);
        }
    }

    @Override
    public InputStream open(long segment) throws IOException {
        try (ResourceGuard.Lease lease = instance.resourceGuard().acquireResource()) {
            String name = log.segmentName(segment);
            try {
                log.finish(segment);
            } catch (LavaDBException e) {
                // The segment's changes are intact; the instance stores its values elsewhere.
                LOG.warn(
                        "Changelog segment {} of {} could not be finished. The segment's changes"
                                + " are intact.",
                        name,
                        instance.files(),
                        e);
            }
            return instance.files().file(name).open();
        } catch (LavaDBException | LavaClosedException e) {
            throw new IOException("Opening a segment of the log failed: " + e.getMessage(), e);
        }
    }

    @Override
    public void done(long segment) {
        long through;
        synchronized (needed) {
            needed.remove(segment);
            through = needed.isEmpty() ? newest : needed.firstEntry().getValue() - 1;
        }
        try (ResourceGuard.Lease lease = instance.resourceGuard().acquireResource()) {
            log.release(through);
        } catch (IOException | LavaDBException | LavaClosedException e) {
            LOG.debug(
                    "A segment of the log of {} was not released. The segment is deleted with"
                            + " the instance.",
                    instance.files(),
                    e);
        }
    }

    @Override
    public SharedUploads uploads() {
        return uploads;
    }
}

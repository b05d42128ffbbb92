// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.engine;

import java.io.File;
import java.io.IOException;
import java.util.IdentityHashMap;
import java.util.Map;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.util.ResourceGuard;
import org.lavakv.LavaDB;
import org.lavakv.TableHandle;
import org.lavakv.flink.shared.SharedLog;
import org.lavakv.flink.storage.InstanceFiles;
import org.lavakv.local.OwnedPath;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One open LavaKV instance of one keyed state backend, and everything with the same lifetime: the
 * memory lease, the files, the local directory, and the guard that keeps the instance open while
 * threads other than the task's use it.
 *
 * <p>Threads: the getters may be called from any thread. So may {@link #close}; repeating it does
 * nothing.
 *
 * <p>Ownership: owns the LavaDB, the lease (through {@code leaseRelease}), the files including
 * those that an on-demand restore still fetches, and the directory. {@link #close} frees all of
 * them.
 *
 * <p>Errors: {@link #close} never throws; failures are logged.
 */
public final class LavaInstance implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(LavaInstance.class);

    private final LavaDB db;
    private final AutoCloseable leaseRelease;
    private final OwnedPath home;
    private final InstanceFiles files;
    private final int keyGroupPrefixBytes;
    private final KeyGroupRange keyGroupRange;
    private final Separation separation;
    private final ResourceGuard resourceGuard = new ResourceGuard();
    private volatile OnDemandFiles onDemandFiles = OnDemandFiles.NONE;
    private final InstanceLog sharedLog;
    private final ViewSnapshots viewSnapshots;
    private final EventCounts eventCounts = new EventCounts();
    private final Map<TableHandle, CursorViews> views = new IdentityHashMap<>();
    private boolean closed;

    /**
     * Takes over an open instance of the engine.
     *
     * @param leaseRelease returns this instance's share of native memory; called once, after the
     *     instance was closed
     * @param home the name of the instance's directory, deleted on close
     * @param files the instance's files
     * @param separation minimum size of values that go to value files
     */
    public LavaInstance(
            LavaDB db,
            AutoCloseable leaseRelease,
            OwnedPath home,
            InstanceFiles files,
            int keyGroupPrefixBytes,
            KeyGroupRange keyGroupRange,
            Separation separation) {
        this.db = db;
        this.leaseRelease = leaseRelease;
        this.home = home;
        this.files = files;
        this.keyGroupPrefixBytes = keyGroupPrefixBytes;
        this.keyGroupRange = keyGroupRange;
        this.separation = separation;
        this.sharedLog = new InstanceLog(this);
        this.viewSnapshots = new ViewSnapshots(db);
    }

    public LavaDB db() {
        return db;
    }

    /** The instance's own ordinary directory; {@link #close} deletes it with its content. */
    public File directory() {
        return home.path().toFile();
    }

    /** The instance's files: inside {@link #directory}, or in a volume. */
    public InstanceFiles files() {
        return files;
    }

    /** Counts of the instance's events that have been read so far. */
    public EventCounts eventCounts() {
        return eventCounts;
    }

    /** The log that is shared with a changelog above. */
    public SharedLog sharedLog() {
        return sharedLog;
    }

    /** The files that have not been fetched yet. */
    public OnDemandFiles onDemandFiles() {
        return onDemandFiles;
    }

    /** Takes over the object that fetches files. */
    public void setOnDemandFiles(OnDemandFiles files) {
        onDemandFiles = files;
    }

    /** Number of leading bytes of every key that contain the key group: 1 or 2. */
    public int keyGroupPrefixBytes() {
        return keyGroupPrefixBytes;
    }

    public KeyGroupRange keyGroupRange() {
        return keyGroupRange;
    }

    /**
     * Minimum size of values of a newly registered state that go to value files; 0: none do. The
     * size may differ under a changelog. Threads: the task's.
     */
    public long separationBytes() {
        return separation.bytes(sharedLog.isUsed());
    }

    /**
     * Threads other than the task's hold a lease of this guard while they use the instance; {@link
     * #close} waits for all leases.
     */
    public ResourceGuard resourceGuard() {
        return resourceGuard;
    }

    /**
     * The views of iterators over a table, which must be told of each write before it happens.
     * Threads: the task's.
     */
    public CursorViews views(TableHandle table) {
        return views.computeIfAbsent(table, key -> new CursorViews(db, key, viewSnapshots));
    }

    /** Drops the views of a table that was dropped. Threads: the task's. */
    void forgetViews(TableHandle table) {
        views.remove(table);
    }

    /** Frees the resources of abandoned iterators. Threads: the task's. */
    public void forgetUnreachableViews() {
        views.values().forEach(CursorViews::forgetUnreachable);
    }

    /** Number of snapshots that iterators read from. */
    public int viewSnapshotCount() {
        return viewSnapshots.size();
    }

    /** Waits for the leases, closes the instance, returns its memory and deletes its files. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        // Readers that wait for a file hold the guard, so the waits must end first.
        onDemandFiles.close();
        resourceGuard.closeUninterruptibly();
        viewSnapshots.close();
        try {
            db.close();
        } catch (Exception e) {
            LOG.warn("Closing the LavaKV instance in {} failed.", files, e);
        }
        try {
            files.close();
        } catch (IOException | RuntimeException e) {
            LOG.warn(
                    "Deleting the files of the instance in {} failed. The files are deleted once"
                            + " no instance uses the volume.",
                    files,
                    e);
        }
        try {
            leaseRelease.close();
        } catch (Exception e) {
            LOG.warn("Returning the native memory of the instance in {} failed.", files, e);
        }
        try {
            home.close();
        } catch (IOException e) {
            LOG.warn(
                    "Deleting the instance's directory {} failed. The next process that opens"
                            + " the parent directory tries again.",
                    home.path(),
                    e);
        }
    }
}

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
 * One open LavaKV database of one keyed state backend, and everything whose life is tied to it: the
 * memory lease, its files, the local directory and the guard that keeps it open while others than
 * the task's thread use it.
 *
 * <p>Threads: the getters may be called from any thread; {@link #close} once from any thread, and
 * again without effect.
 *
 * <p>Ownership: owns the database, the lease (through {@code leaseRelease}), the files with those
 * that come later, and the directory; all are gone after {@link #close}.
 *
 * <p>Errors: {@link #close} never throws; what goes wrong is logged.
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
    private volatile LateFiles lateFiles = LateFiles.NONE;
    private final InstanceLog sharedLog;
    private final ViewSnapshots viewSnapshots;
    private final EventCounts eventCounts = new EventCounts();
    private final Map<TableHandle, CursorViews> views = new IdentityHashMap<>();
    private boolean closed;

    /**
     * Takes over an open database.
     *
     * @param leaseRelease gives this instance's share of native memory back; called once, after the
     *     database was closed
     * @param home the name of the instance's directory, deleted on close
     * @param files where the database's files are
     * @param separation from which size on values go to value files
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

    /** The instance's own ordinary directory; its content goes with {@link #close}. */
    public File directory() {
        return home.path().toFile();
    }

    /** The database's files: inside {@link #directory}, or in a volume. */
    public InstanceFiles files() {
        return files;
    }

    /** Counts of the database's events, as far as these were taken. */
    public EventCounts eventCounts() {
        return eventCounts;
    }

    /** The log that a changelog above shares. */
    public SharedLog sharedLog() {
        return sharedLog;
    }

    /** What of the files has not come yet. */
    public LateFiles lateFiles() {
        return lateFiles;
    }

    /** Takes over who fetches files. */
    public void setLateFiles(LateFiles late) {
        lateFiles = late;
    }

    /** Leading bytes of every key that name the key group: 1 or 2. */
    public int keyGroupPrefixBytes() {
        return keyGroupPrefixBytes;
    }

    public KeyGroupRange keyGroupRange() {
        return keyGroupRange;
    }

    /**
     * From which size on values of a state that is registered now go to value files; 0: never. Of
     * the task's thread: under a changelog it may be another.
     */
    public long separationBytes() {
        return separation.bytes(sharedLog.isUsed());
    }

    /**
     * Whoever uses the database from another thread than the task's holds a lease of this guard
     * meanwhile; {@link #close} waits for all leases.
     */
    public ResourceGuard resourceGuard() {
        return resourceGuard;
    }

    /**
     * The views that iterators over a table have: whoever writes to the table tells them before. Of
     * the task's thread.
     */
    public CursorViews views(TableHandle table) {
        return views.computeIfAbsent(table, key -> new CursorViews(db, key, viewSnapshots));
    }

    /** A table is gone, and with it the views of it. Of the task's thread. */
    void forgetViews(TableHandle table) {
        views.remove(table);
    }

    /** Lets go of what iterators kept that were given up. Of the task's thread. */
    public void forgetUnreachableViews() {
        views.values().forEach(CursorViews::forgetUnreachable);
    }

    /** How many snapshots iterators read from. */
    public int viewSnapshotCount() {
        return viewSnapshots.size();
    }

    /** Waits for the leases, closes the database, gives its memory back, deletes its files. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        // Readers that wait for a file hold the guard.
        lateFiles.close();
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
                    "Deleting the files of the instance in {} failed; they go when no instance uses"
                            + " the volume.",
                    files,
                    e);
        }
        try {
            leaseRelease.close();
        } catch (Exception e) {
            LOG.warn("Giving the native memory of the instance in {} back failed.", files, e);
        }
        try {
            home.close();
        } catch (IOException e) {
            LOG.warn(
                    "Deleting the instance's directory {} failed; the next process that opens the"
                            + " directory it is in tries again.",
                    home.path(),
                    e);
        }
    }
}

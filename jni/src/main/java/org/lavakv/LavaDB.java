// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.lavakv.BoundedCall.DONE;

import java.io.File;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.ref.Reference;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.lavakv.log.LibraryLog;

/**
 * An instance of LavaKV: tables of keys and values in one directory.
 *
 * <p>Threads: writes from one thread at a time (a second one waits); reads, scans, snapshots,
 * statistics and close from any thread, concurrently with the writer.
 *
 * <p>Ownership: the caller closes it, and before it its {@link Snapshot}s; see {@link #close}.
 *
 * <p>Errors: any call may throw {@link LavaDBException}; after close all throw {@link
 * LavaClosedException}. Null arguments throw NullPointerException, bad ranges of arrays
 * IndexOutOfBoundsException, tables and snapshots of another instance IllegalArgumentException, all
 * before anything is done. A write that must wait for background work waits in steps of at most 100
 * ms. If its thread is interrupted, the write ends with code ABORTED; nothing was written, and the
 * thread's flag stays set.
 *
 * <p>Files may be imported before they are present ({@link ImportSource#missing}). A read that
 * needs such a file has {@link MissingFiles} fetch it, and continues. Writes never need missing
 * files.
 *
 * <p>Unlike RocksDB there is no call that gets several keys at once: it would be a loop of gets.
 * One that reads in parallel comes with asynchronous state.
 *
 * <p>Units: bytes, unless a name says otherwise. A key has at most {@link #KEY_BYTES_MAX} bytes, a
 * value at most {@link #VALUE_BYTES_MAX}. Larger ones are refused with INVALID_ARGUMENT, naming the
 * limit.
 */
public final class LavaDB extends NativeObject {

    /** Maximum length of a key. */
    public static final int KEY_BYTES_MAX = (16 << 20) - 1024;

    /**
     * Maximum length of a value, and of one append: it fits a Java array. The memory of the lease
     * does not limit it further.
     */
    public static final int VALUE_BYTES_MAX = Integer.MAX_VALUE - (4 << 20) + 1;

    /** Result of {@link #get} for a key without a value. */
    public static final int NOT_FOUND = -1;

    private static final LibraryLog LOG = LibraryLog.of(LavaDB.class);
    private static final int WAIT_MS = 100;

    private final String path;
    final StalledWrites writes;
    final NeededFiles neededFiles;
    private final OpenSnapshots openSnapshots = new OpenSnapshots();
    private final DatabaseScan scans = new DatabaseScan(this);

    private LavaDB(long handle, String path) {
        super(handle, "a database (org.lavakv.LavaDB) in " + path);
        this.path = path;
        this.writes = new StalledWrites(path);
        this.neededFiles = new NeededFiles(path);
    }

    // ---------------------------------------------------------------------- opening

    /**
     * Loads the native library, once for this class's loader; later calls do nothing.
     *
     * @param directory where the copy from the jar is stored temporarily, created if missing; null:
     *     java.io.tmpdir. It must not be mounted noexec.
     * @throws IOException when the platform is not supported or the library cannot be loaded; the
     *     message says what to change
     */
    public static void loadLibrary(File directory) throws IOException {
        LavaLibrary.load(directory);
    }

    /**
     * Opens or creates the instance in a directory of the machine, or of the volume in the options.
     *
     * @param lease the memory for the instance; it may be closed before the instance
     * @param imports predecessors whose files are already in the directory, or listed as missing;
     *     the directory must then contain no instance yet. May be empty.
     */
    public static LavaDB open(DBOptions o, String path, Lease lease, List<ImportSource> imports)
            throws LavaDBException {
        Objects.requireNonNull(path, "path");
        LavaLibrary.checkLoaded();
        Volume volume = o.volume();
        try {
            long handle =
                    open0(
                            o.toNative(),
                            Encoder.utf8(path),
                            lease.handle,
                            volume == null ? 0 : volume.handle,
                            Encoder.utf8(o.walDir()),
                            o.eventBufferBytes(),
                            Encoder.imports(imports));
            return new LavaDB(handle, path);
        } finally {
            Reference.reachabilityFence(lease);
            Reference.reachabilityFence(volume);
        }
    }

    /**
     * Deletes the files of an instance that is not open, and its write-ahead log. Other files and
     * the directory itself are kept. May be called again after it was stopped midway.
     *
     * @param o volume, walMode and walDir as the instance was opened with
     * @throws LavaDBException BUSY while the instance is open; INVALID_ARGUMENT when it has a log
     *     although the options say that it has none
     */
    public static void destroyDB(String path, DBOptions o, Lease lease) throws LavaDBException {
        Objects.requireNonNull(path, "path");
        LavaLibrary.checkLoaded();
        Volume volume = o.volume();
        try {
            destroy0(
                    o.toNative(),
                    Encoder.utf8(path),
                    lease.handle,
                    volume == null ? 0 : volume.handle,
                    Encoder.utf8(o.walDir()));
        } finally {
            Reference.reachabilityFence(lease);
            Reference.reachabilityFence(volume);
        }
    }

    /** The directory with which the instance was opened. */
    public String path() {
        return path;
    }

    /** False once close has begun. */
    public boolean isOpen() {
        return isHandleOpen();
    }

    /**
     * Waits for running calls, stops background work and closes the files. Repeating it does
     * nothing; a second caller waits until the first has finished.
     *
     * <p>Snapshots that are still open are leaks, except those after {@link
     * Snapshot#expectLateClose}. One warning gives their number, and for the first eight the thread
     * that opened them and the time. It includes the stack if assertions are enabled for this
     * package or the system property org.lavakv.leak.trace is true. The snapshots hold no files any
     * more, but some native memory until they are closed.
     */
    @Override
    public void close() {
        super.close();
        // Read only now, because callers that the close interrupted may have closed their
        // snapshots.
        List<Origin> left = openSnapshots.take();
        if (!left.isEmpty()) {
            String engine = new String(leftOpen0(handle), StandardCharsets.UTF_8);
            LOG.log(
                    Level.WARNING,
                    OpenSnapshots.warning(path, left)
                            + (engine.isEmpty()
                                    ? ""
                                    : "\nThe engine says: " + engine.stripTrailing()),
                    OpenSnapshots.stacks(left));
            // or the cleaner might free the memory that leftOpen0 reads
            Reference.reachabilityFence(this);
        }
    }

    OpenSnapshots openSnapshots() {
        return openSnapshots;
    }

    // ---------------------------------------------------------------------- tables

    /** Opens a table and creates it if it is new. A known table gets these options. */
    public TableHandle createTable(String name, TableOptions o) throws LavaDBException {
        byte[] bytes = NameBytes.of(name);
        long pointer =
                createTable0(
                        handle,
                        bytes,
                        o.kind().number(),
                        o.ttlLayout().number(),
                        o.ttlMs(),
                        o.separationBytes());
        return new TableHandle(this, pointer, name, tableId0(handle, pointer));
    }

    /** Replaces a table's options. */
    public void setTableOptions(TableHandle t, TableOptions o) throws LavaDBException {
        long table = own(t);
        int kind = o.kind().number();
        int ttlLayout = o.ttlLayout().number();
        long ttlMs = o.ttlMs();
        long separated = o.separationBytes();
        writes.repeat(() -> setTableOptions0(handle, table, kind, ttlLayout, ttlMs, separated));
    }

    /** Deletes a table with all its data; its handle is unusable afterwards. */
    public void dropTable(TableHandle t) throws LavaDBException {
        long table = own(t);
        writes.repeat(() -> dropTable0(handle, table));
    }

    /** All tables in the directory, including those not registered since the opening. */
    public List<TableInfo> listTables() throws LavaDBException {
        return new Decoder(listTables0(handle)).tables();
    }

    // ---------------------------------------------------------------------- reading

    /**
     * Copies a key's value to out from outOff on. After an exception the copied bytes are invalid:
     * large values are read in pieces, and the checksum is verified at the end.
     *
     * @param prefixLen length of the prefix by which {@link #deletePrefix} may delete this key; 0:
     *     none. Always the same for a key.
     * @return the value's length, or {@link #NOT_FOUND}. When the value does not fit, its length is
     *     returned but nothing is copied: call again with a larger array.
     */
    public int get(
            TableHandle t,
            byte[] key,
            int keyOff,
            int keyLen,
            int prefixLen,
            byte[] out,
            int outOff)
            throws LavaDBException {
        Arguments.checkKey(key, keyOff, keyLen, prefixLen);
        Objects.checkFromToIndex(outOff, out.length, out.length);
        long table = own(t);
        int capacity = out.length - outOff;
        while (true) {
            try {
                return get0(handle, table, key, keyOff, keyLen, prefixLen, out, outOff, capacity);
            } catch (LavaDBException e) {
                neededFiles.bring(e);
            }
        }
    }

    /** A key's value in a new array, or null. For the prefix see the other get. */
    public byte[] get(TableHandle t, byte[] key, int keyOff, int keyLen, int prefixLen)
            throws LavaDBException {
        return get(t, key, keyOff, keyLen, prefixLen, null);
    }

    /** A key's value as of a snapshot, which may be null, in a new array, or null. */
    public byte[] get(TableHandle t, byte[] key, int keyOff, int keyLen, int prefixLen, Snapshot s)
            throws LavaDBException {
        Arguments.checkKey(key, keyOff, keyLen, prefixLen);
        long table = own(t);
        long snapshot = own(s);
        try {
            while (true) {
                try {
                    return getNew0(handle, table, key, keyOff, keyLen, prefixLen, snapshot);
                } catch (LavaDBException e) {
                    neededFiles.bring(e);
                }
            }
        } finally {
            Reference.reachabilityFence(s);
        }
    }

    /** Whether a key has a value; does not read separated values. */
    public boolean contains(TableHandle t, byte[] key, int keyOff, int keyLen, int prefixLen)
            throws LavaDBException {
        return contains(t, key, keyOff, keyLen, prefixLen, null);
    }

    /** Whether a key had a value when the snapshot, which may be null, was taken. */
    public boolean contains(
            TableHandle t, byte[] key, int keyOff, int keyLen, int prefixLen, Snapshot s)
            throws LavaDBException {
        Arguments.checkKey(key, keyOff, keyLen, prefixLen);
        long table = own(t);
        long snapshot = own(s);
        try {
            while (true) {
                try {
                    return contains0(handle, table, key, keyOff, keyLen, prefixLen, snapshot);
                } catch (LavaDBException e) {
                    neededFiles.bring(e);
                }
            }
        } finally {
            Reference.reachabilityFence(s);
        }
    }

    /**
     * Whether the table has a key that was written with a prefix of this length and starts with
     * this prefix. Cheaper than a scan: the search stops at the newest run with the answer.
     */
    public boolean containsPrefix(TableHandle t, byte[] prefix, int off, int len)
            throws LavaDBException {
        Arguments.checkKey(prefix, off, len, 0);
        long table = own(t);
        while (true) {
            try {
                return containsPrefix0(handle, table, prefix, off, len);
            } catch (LavaDBException e) {
                neededFiles.bring(e);
            }
        }
    }

    /**
     * Fills one page. Continue with {@link ScanOptions#continueAfter} until {@link
     * ScanPage#done()}. Without a snapshot, a scan visits keys that are added ahead of it between
     * pages.
     *
     * @param s null: the newest state
     */
    public void scan(TableHandle t, ScanOptions o, ScanPage page, Snapshot s)
            throws LavaDBException {
        scans.scan(t, o, page, s);
    }

    /**
     * Fills one page with entries of several tables, in sections. Continue with {@link
     * TablesScan#continueAfter} until {@link ScanPage#done()}. One such scan shows the same entries
     * as separate scans of each table and partition.
     *
     * @param s null: the newest state, with pages as in {@link #scan}
     */
    public void scanTables(TablesScan o, ScanPage page, Snapshot s) throws LavaDBException {
        scans.scanTables(o, page, s);
    }

    // ---------------------------------------------------------------------- missing files

    /**
     * Files that were imported as missing, belong to the current state, and have not arrived yet.
     * Files that most reads need come first.
     */
    public List<FileInfo> missingFiles() throws LavaDBException {
        return new Decoder(missingFiles0(handle)).files();
    }

    /**
     * Tells that a missing file is now complete in the directory, under its name.
     *
     * @return false when the file is not needed any more, and was removed
     * @throws LavaDBException CORRUPTION when the file differs from its description in the
     *     metadata; IO_ERROR. In both cases it is still missing and may be fetched again.
     *     INVALID_ARGUMENT: no file of this name is missing.
     */
    public boolean fileArrived(String name) throws LavaDBException {
        return fileArrived0(handle, Encoder.utf8(name));
    }

    /**
     * Sets the object that fetches the files that reads need. Null: such reads fail with
     * NEEDS_FILE.
     */
    public void setMissingFiles(MissingFiles files) {
        neededFiles.set(files);
    }

    // ---------------------------------------------------------------------- writing

    /** Sets a key's value. */
    public void put(
            TableHandle t,
            byte[] key,
            int keyOff,
            int keyLen,
            int prefixLen,
            byte[] value,
            int valOff,
            int valLen)
            throws LavaDBException {
        Arguments.checkKey(key, keyOff, keyLen, prefixLen);
        Arguments.checkValue(t, value, valOff, valLen);
        long table = own(t);
        if (put0(handle, table, key, keyOff, keyLen, prefixLen, value, valOff, valLen) != DONE) {
            writes.repeat(
                    () ->
                            put0(
                                    handle, table, key, keyOff, keyLen, prefixLen, value, valOff,
                                    valLen));
        }
    }

    /** Deletes a key, which need not exist. */
    public void delete(TableHandle t, byte[] key, int keyOff, int keyLen, int prefixLen)
            throws LavaDBException {
        Arguments.checkKey(key, keyOff, keyLen, prefixLen);
        long table = own(t);
        if (delete0(handle, table, key, keyOff, keyLen, prefixLen) != DONE) {
            writes.repeat(() -> delete0(handle, table, key, keyOff, keyLen, prefixLen));
        }
    }

    /** Appends list segments to a key's value without reading it. For {@link TableKind#LIST}. */
    public void append(
            TableHandle t, byte[] key, int keyOff, int keyLen, byte[] segments, int off, int len)
            throws LavaDBException {
        Arguments.checkKey(key, keyOff, keyLen, 0);
        Arguments.checkValue(t, segments, off, len);
        long table = own(t);
        if (append0(handle, table, key, keyOff, keyLen, segments, off, len) != DONE) {
            writes.repeat(() -> append0(handle, table, key, keyOff, keyLen, segments, off, len));
        }
    }

    /** Deletes all keys that were written with this prefix. */
    public void deletePrefix(TableHandle t, byte[] prefix, int off, int len)
            throws LavaDBException {
        Arguments.checkKey(prefix, off, len, 0);
        long table = own(t);
        if (deletePrefix0(handle, table, prefix, off, len) != DONE) {
            writes.repeat(() -> deletePrefix0(handle, table, prefix, off, len));
        }
    }

    /** Deletes all keys of the table from lower (inclusive) to upper (exclusive). */
    public void deleteRange(TableHandle t, byte[] lower, byte[] upper) throws LavaDBException {
        Objects.requireNonNull(lower, "lower");
        Objects.requireNonNull(upper, "upper");
        long table = own(t);
        writes.repeat(() -> deleteRange0(handle, table, lower, lower.length, upper, upper.length));
    }

    /** Applies a batch atomically. The batch does not change. */
    public void write(WriteBatch batch) throws LavaDBException {
        if (batch.db != null && batch.db != this) {
            throw new IllegalArgumentException(
                    "this batch is for the instance in " + batch.db.path + ", not for " + path);
        }
        writes.repeat(() -> write0(handle, batch.bytes, batch.length));
    }

    /** The log that the instance shares with the layer above it. */
    public EntryLog entryLog() {
        return new EntryLog(this);
    }

    /** Total time that writes have waited for background work, including current waits. */
    public long stalledNanos() {
        return writes.nanos();
    }

    // ---------------------------------------------------------------------- the instance

    /** Seals everything written so far and pins the current state; does no I/O. */
    public Snapshot getSnapshot() throws LavaDBException {
        long[] snapshot = {0};
        writes.repeat(
                () -> {
                    snapshot[0] = snapshot0(handle);
                    return snapshot[0] != 0 ? DONE : Status.Code.BUSY.number();
                });
        return new Snapshot(this, snapshot[0]);
    }

    /** Waits until everything written so far is in files. Can be interrupted like writes. */
    public void flush() throws LavaDBException {
        long[] ticket = new long[2];
        BoundedCall.untilNotBusy("flushing " + path, () -> flush0(handle, WAIT_MS, ticket));
    }

    /** Compacts everything into the last level. Can be interrupted like writes. */
    public void compactAll() throws LavaDBException {
        long[] ticket = {0};
        BoundedCall.untilNotBusy(
                "compacting " + path,
                () -> {
                    ticket[0] = compactAll0(handle, WAIT_MS, ticket[0]);
                    return ticket[0] == 0 ? DONE : Status.Code.BUSY.number();
                });
    }

    /**
     * Sets the clock for expiry, in milliseconds since the epoch. Between calls the time stands
     * still. A step back takes effect at once. A step ahead is accepted when the machine's steady
     * clock confirms it, or when the step has lasted as long as its own length, at most 24 hours.
     * Until then it applies only to timestamps from after the step.
     */
    public void setTime(long nowMs) {
        setTime0(handle, nowMs);
    }

    /**
     * Like {@link #setTime}, but a step ahead is accepted at once, because the caller knows that it
     * is right.
     */
    public void acceptTime(long nowMs) {
        acceptTime0(handle, nowMs);
    }

    /**
     * Tells the time of data from earlier openings; the first {@link #setTime} is compared with
     * this time. Ignored after the first {@link #setTime}.
     */
    public void continueTime(TtlTime before) {
        continueTime0(handle, before.timeMs(), before.leadMs(), before.stoodMs());
    }

    /** The time that a checkpoint must carry for {@link #continueTime}, as of the last setTime. */
    public TtlTime time() {
        long[] numbers = new long[3];
        time0(handle, numbers);
        return new TtlTime(numbers[0], numbers[1], numbers[2]);
    }

    /** Sets the policy for new jobs; jobs that were already planned keep the previous one. */
    public void setValuePolicy(ValuePolicy policy) {
        setValuePolicy0(handle, policy.number());
    }

    /**
     * Why compactions rewrote values of files or left them. One line for each such decision since
     * the last call, oldest first, limited to the last {@link DBOptions#setValueDecisionsMax}. The
     * lines contain names and sizes of files, and no keys.
     */
    public List<String> takeValueDecisions() throws LavaDBException {
        return new Decoder(valueDecisions0(handle)).strings();
    }

    /**
     * The events since the last call: flushes, compactions and what else {@link EventKind} lists.
     * None unless {@link DBOptions#setEventBufferBytes} was set. Cheap while there is nothing.
     */
    public EngineEvents takeEvents() throws LavaDBException {
        return EngineEvents.take(this);
    }

    /** The counters of the instance. */
    public DBStatistics getStatistics() {
        long[] numbers = new long[DBStatistics.NUMBERS];
        statistics0(handle, numbers);
        return new DBStatistics(numbers);
    }

    /** The counters of one table. */
    public TableStatistics getTableStatistics(TableHandle t) {
        long[] numbers = new long[TableStatistics.NUMBERS];
        tableStatistics0(handle, own(t), numbers);
        return new TableStatistics(numbers);
    }

    /**
     * Reads every byte of a key file and checks it. Requires the library to be loaded.
     *
     * @param tables to name the table of damaged data; may be empty
     * @throws LavaDBException CORRUPTION, naming file, offset and table; IO_ERROR
     */
    public static void verifyFile(String path, List<TableInfo> tables) throws LavaDBException {
        byte[] packed = Encoder.tables(tables);
        Objects.requireNonNull(path, "path");
        LavaLibrary.checkLoaded();
        verifyFile0(Encoder.utf8(path), packed, 0);
    }

    /**
     * The same for a file of a volume.
     *
     * @param path directory, slash, name
     */
    public static void verifyFile(Volume volume, String path, List<TableInfo> tables)
            throws LavaDBException {
        byte[] packed = Encoder.tables(tables);
        Objects.requireNonNull(path, "path");
        try {
            verifyFile0(Encoder.utf8(path), packed, volume.handle);
        } finally {
            Reference.reachabilityFence(volume);
        }
    }

    // ---------------------------------------------------------------------- helpers

    long own(TableHandle t) {
        if (t.db != this) {
            throw new IllegalArgumentException(
                    t + " is of the instance in " + t.db.path + ", not of " + path);
        }
        return t.pointer;
    }

    long own(Snapshot s) {
        if (s == null) {
            return 0;
        }
        if (s.db != this) {
            throw new IllegalArgumentException(
                    "this snapshot is of the instance in " + s.db.path + ", not of " + path);
        }
        return s.handle;
    }

    // ---------------------------------------------------------------------- native

    private static native long open0(
            long[] options,
            byte[] path,
            long lease,
            long volume,
            byte[] walDir,
            int eventBufferBytes,
            byte[] imports)
            throws LavaDBException;

    /** Always zero. */
    private static native int destroy0(
            long[] options, byte[] path, long lease, long volume, byte[] walDir)
            throws LavaDBException;

    private native long createTable0(
            long handle, byte[] name, int kind, int ttl, long ttlMs, long separationBytes)
            throws LavaDBException;

    private native long tableId0(long handle, long table);

    private native int setTableOptions0(
            long handle, long table, int kind, int ttl, long ttlMs, long separationBytes)
            throws LavaDBException;

    private native int dropTable0(long handle, long table) throws LavaDBException;

    private native byte[] listTables0(long handle) throws LavaDBException;

    private native int get0(
            long handle,
            long table,
            byte[] key,
            int keyOff,
            int keyLen,
            int prefixLen,
            byte[] out,
            int outOff,
            int outCapacity)
            throws LavaDBException;

    private native byte[] getNew0(
            long handle,
            long table,
            byte[] key,
            int keyOff,
            int keyLen,
            int prefixLen,
            long snapshot)
            throws LavaDBException;

    private native boolean contains0(
            long handle,
            long table,
            byte[] key,
            int keyOff,
            int keyLen,
            int prefixLen,
            long snapshot)
            throws LavaDBException;

    private native boolean containsPrefix0(long handle, long table, byte[] prefix, int off, int len)
            throws LavaDBException;

    private native byte[] missingFiles0(long handle) throws LavaDBException;

    /** Whether the file is needed. */
    private native boolean fileArrived0(long handle, byte[] name) throws LavaDBException;

    // The writes and waits return zero, or the number of BUSY.

    private native int put0(
            long handle,
            long table,
            byte[] key,
            int keyOff,
            int keyLen,
            int prefixLen,
            byte[] value,
            int valOff,
            int valLen)
            throws LavaDBException;

    private native int delete0(
            long handle, long table, byte[] key, int keyOff, int keyLen, int prefixLen)
            throws LavaDBException;

    private native int append0(
            long handle,
            long table,
            byte[] key,
            int keyOff,
            int keyLen,
            byte[] segments,
            int off,
            int len)
            throws LavaDBException;

    private native int deletePrefix0(long handle, long table, byte[] prefix, int off, int len)
            throws LavaDBException;

    private native int deleteRange0(
            long handle, long table, byte[] lower, int lowerLen, byte[] upper, int upperLen)
            throws LavaDBException;

    private native int write0(long handle, byte[] batch, int length) throws LavaDBException;

    /** A handle, or zero for BUSY. */
    private native long snapshot0(long handle) throws LavaDBException;

    /** The numbers of the ticket are 0 for the first call, which sets them for the next one. */
    private native int flush0(long handle, int waitMs, long[] ticket) throws LavaDBException;

    /**
     * Returns zero, or for BUSY the ticket for the next call; the ticket of the first call is zero.
     */
    private native long compactAll0(long handle, int waitMs, long ticket) throws LavaDBException;

    private native void setTime0(long handle, long nowMs);

    private native void acceptTime0(long handle, long nowMs);

    private native void continueTime0(long handle, long timeMs, long leadMs, long stoodMs);

    private native void time0(long handle, long[] numbers);

    private native void setValuePolicy0(long handle, int policy);

    private native byte[] valueDecisions0(long handle) throws LavaDBException;

    private native void statistics0(long handle, long[] numbers);

    private native void tableStatistics0(long handle, long table, long[] numbers);

    /**
     * The engine's description of snapshots that were open at the close, UTF-8; only after close0.
     */
    private static native byte[] leftOpen0(long handle);

    /** Always zero. */
    private static native int verifyFile0(byte[] path, byte[] tables, long volume)
            throws LavaDBException;
}

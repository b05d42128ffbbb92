package org.lavakv;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All calls that reach native code, as a table that the tests of hazards run over. */
final class Entries {

    /** One call. */
    interface Entry {
        void call() throws Exception;
    }

    private Entries() {}

    /**
     * The calls of an open database and its tables and snapshot, none of which changes its state.
     */
    static Map<String, Entry> ofDatabase(LavaDB db, TableHandle t, TableHandle list) {
        byte[] k = {1, 'k'};
        byte[] v = {4, 'v'};
        byte[] out = new byte[16];
        Map<String, Entry> entries = new LinkedHashMap<>();
        entries.put("createTable", () -> db.createTable("t", new TableOptions()));
        entries.put("setTableOptions", () -> db.setTableOptions(t, new TableOptions()));
        entries.put("listTables", db::listTables);
        entries.put("get into", () -> db.get(t, k, 0, 2, 0, out, 0));
        entries.put("get new", () -> db.get(t, k, 0, 2, 0));
        entries.put("contains", () -> db.contains(t, k, 0, 2, 0));
        entries.put("containsPrefix", () -> db.containsPrefix(t, k, 0, 2));
        entries.put("multiGet", () -> db.multiGet(t, new byte[][] {k}, 0));
        entries.put("scan", () -> db.scan(t, new ScanOptions(), new ScanPage(), null));
        entries.putAll(writes(db, t, list));
        entries.put("getSnapshot", () -> db.getSnapshot().close());
        entries.put("flush", db::flush);
        entries.put("compactAll", db::compactAll);
        entries.put("setTime", () -> db.setTime(1));
        entries.put("getStatistics", db::getStatistics);
        entries.put("getTableStatistics", () -> db.getTableStatistics(t));
        return entries;
    }

    /** The calls that may wait for background work. */
    static Map<String, Entry> writes(LavaDB db, TableHandle t, TableHandle list) {
        byte[] k = {1, 'k'};
        byte[] v = {4, 'v'};
        WriteBatch batch = new WriteBatch();
        batch.put(t, k, 0, 2, 0, v, 0, 2);
        Map<String, Entry> entries = new LinkedHashMap<>();
        entries.put("put", () -> db.put(t, k, 0, 2, 0, v, 0, 2));
        entries.put("delete", () -> db.delete(t, k, 0, 2, 0));
        entries.put("append", () -> db.append(list, k, 0, 2, v, 0, 2));
        entries.put("deletePrefix", () -> db.deletePrefix(t, k, 0, 2));
        entries.put("deleteRange", () -> db.deleteRange(t, new byte[] {1}, new byte[] {2}));
        entries.put("write", () -> db.write(batch));
        return entries;
    }

    static Map<String, Entry> ofSnapshot(LavaDB db, TableHandle t, Snapshot s) {
        byte[] k = {1, 'k'};
        Map<String, Entry> entries = new LinkedHashMap<>();
        entries.put("snapshot waitFlushed", s::waitFlushed);
        entries.put("snapshot getFiles", s::getFiles);
        entries.put("get of snapshot", () -> db.get(t, k, 0, 2, 0, s));
        entries.put("contains of snapshot", () -> db.contains(t, k, 0, 2, 0, s));
        entries.put("multiGet of snapshot", () -> db.multiGet(t, new byte[][] {k}, 0, s));
        entries.put("scan of snapshot", () -> db.scan(t, new ScanOptions(), new ScanPage(), s));
        return entries;
    }

    static Map<String, Entry> ofLease(Lease lease) {
        Map<String, Entry> entries = new LinkedHashMap<>();
        entries.put("lease capacityBytes", lease::capacityBytes);
        entries.put("lease writeBufferBytes", lease::writeBufferBytes);
        entries.put("lease writeBufferUsedBytes", lease::writeBufferUsedBytes);
        entries.put("lease usedBytes", lease::usedBytes);
        return entries;
    }

    static Map<String, Entry> ofClasses(Lease lease, String path) {
        Map<String, Entry> entries = new LinkedHashMap<>();
        entries.put("open", () -> LavaDB.open(new DBOptions(), path, lease, List.of()).close());
        entries.put("verifyFile", () -> LavaDB.verifyFile(path, List.of()));
        entries.put("MetadataInfo.read", () -> MetadataInfo.read(new byte[3]));
        entries.put("Host.acquire", () -> Host.acquire(1 << 20, 0.5).close());
        entries.put("Host.getStatistics", Host::getStatistics);
        entries.put("Host.setBackgroundThreads", () -> Host.setBackgroundThreads(2));
        return entries;
    }
}

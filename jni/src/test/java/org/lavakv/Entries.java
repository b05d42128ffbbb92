package org.lavakv;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All calls that reach native code, as a table for tests that inject faults. */
final class Entries {

    /** One call. */
    interface Entry {
        void call() throws Exception;
    }

    private Entries() {}

    /**
     * The calls of an open database and its tables and snapshot. None of them changes the database.
     */
    static Map<String, Entry> ofDatabase(LavaDB db, TableHandle t, TableHandle list) {
        byte[] k = {1, 'k'};
        byte[] v = {4, 'v'};
        byte[] out = new byte[16];
        Map<String, Entry> entries = new LinkedHashMap<>();
        entries.put("createTable", () -> db.createTable("t", new TableOptions()));
        entries.put("setTableOptions", () -> db.setTableOptions(t, new TableOptions()));
        entries.put("listTables", db::listTables);
        entries.put("missingFiles", db::missingFiles);
        entries.put("get into", () -> db.get(t, k, 0, 2, 0, out, 0));
        entries.put("get new", () -> db.get(t, k, 0, 2, 0));
        entries.put("contains", () -> db.contains(t, k, 0, 2, 0));
        entries.put("containsPrefix", () -> db.containsPrefix(t, k, 0, 2));
        entries.put("scan", () -> db.scan(t, new ScanOptions(), new ScanPage(), null));
        entries.put(
                "scanTables",
                () -> db.scanTables(new TablesScan(List.of(t)), new ScanPage(), null));
        entries.putAll(writes(db, t, list));
        entries.put("getSnapshot", () -> db.getSnapshot().close());
        entries.put("flush", db::flush);
        entries.put("compactAll", db::compactAll);
        entries.put("setTime", () -> db.setTime(1));
        entries.put("believeTime", () -> db.believeTime(1));
        entries.put("continueTime", () -> db.continueTime(TtlTime.UNKNOWN));
        entries.put("time", db::time);
        entries.put("setValuePolicy", () -> db.setValuePolicy(ValuePolicy.AUTOMATIC));
        entries.put("takeValueDecisions", db::takeValueDecisions);
        entries.put("takeBackgroundEvents", () -> BackgroundEvent.takeAll(db));
        entries.put("takeEvents", db::takeEvents);
        EntryLog log = db.entryLog();
        entries.put("entryLog getExternal", () -> log.getExternal(t, k, 0));
        entries.put("entryLog roll", log::roll);
        entries.put("entryLog release", () -> log.release(0));
        entries.put("entryLog segmentName", () -> log.segmentName(1));
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
        EntryLog log = db.entryLog();
        entries.put("entryLog append", () -> log.append(v));
        entries.put("entryLog bindExternal", () -> log.bindExternal(v));
        entries.put("entryLog putExternal", () -> log.putExternal(t, k, 0, v, v));
        return entries;
    }

    static Map<String, Entry> ofSnapshot(LavaDB db, TableHandle t, Snapshot s) {
        byte[] k = {1, 'k'};
        Map<String, Entry> entries = new LinkedHashMap<>();
        entries.put("snapshot waitFlushed", s::waitFlushed);
        entries.put("snapshot getFiles", s::getFiles);
        entries.put("get of snapshot", () -> db.get(t, k, 0, 2, 0, s));
        entries.put("contains of snapshot", () -> db.contains(t, k, 0, 2, 0, s));
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

    /**
     * The calls of a volume that has the file "f" in the directory "d".
     *
     * @param marker a path where no file exists
     */
    static Map<String, Entry> ofVolume(Volume v, String marker) {
        Map<String, Entry> entries = new LinkedHashMap<>();
        entries.put("volume figures", v::figures);
        entries.put("volume openFile", () -> v.openFile("d", "f").close());
        entries.put("volume createFile", () -> v.createFile("d", "g").close());
        entries.put("volume linkFile", () -> v.linkFile("d", "f", "d", "h"));
        entries.put("volume removeFile", () -> v.removeFile("d", "h"));
        entries.put("volume listFiles", () -> v.listFiles("d"));
        entries.put("volume removeDirectory", () -> v.removeDirectory("e"));
        entries.put("volume pin", () -> v.pin(marker, "d", List.of("f")));
        entries.put("volume dropStalePins", v::dropStalePins);
        entries.put("volume of a database", () -> openIn(v));
        entries.put("verifyFile of volume", () -> LavaDB.verifyFile(v, "d/f", List.of()));
        return entries;
    }

    private static void openIn(Volume v) throws LavaDBException {
        try (Lease lease = LavaTestBase.lease()) {
            LavaDB.open(new DBOptions().setVolume(v), "d", lease, List.of()).close();
        }
    }

    static Map<String, Entry> ofVolumeFiles(VolumeInput in, VolumeOutput out) {
        Map<String, Entry> entries = new LinkedHashMap<>();
        entries.put("volume file size", in::size);
        entries.put("volume file read", () -> in.read(0, new byte[2], 0, 1));
        entries.put("volume file append", () -> out.append(new byte[2], 0, 1));
        entries.put("volume file finish", out::finish);
        return entries;
    }

    static Map<String, Entry> ofClasses(Lease lease, String path) {
        Map<String, Entry> entries = new LinkedHashMap<>();
        entries.put("open", () -> LavaDB.open(new DBOptions(), path, lease, List.of()).close());
        entries.put("destroyDB", () -> LavaDB.destroyDB(path, new DBOptions(), lease));
        entries.put("verifyFile", () -> LavaDB.verifyFile(path, List.of()));
        entries.put("EntryLog.decode", () -> EntryLog.decode("s", 0, new byte[0], 0, 0));
        entries.put("MetadataInfo.read", () -> MetadataInfo.read(new byte[3]));
        VolumeOptions volume = new VolumeOptions().setCapacityBytes(32 << 20);
        entries.put("Volume.open", () -> Volume.open(path + "-volumes", volume).close());
        entries.put("Volume.openPinned", () -> Volume.openPinned(path, volume).close());
        entries.put("Volume.removeStale", () -> Volume.removeStale(path + "-volumes"));
        entries.put("LavaLibrary.dbOptions", LavaLibrary::dbOptions0);
        entries.put("LavaLibrary.eventTables", LavaLibrary::eventTables0);
        entries.put("Host.acquire", () -> Host.acquire(1 << 20, 0.5).close());
        entries.put("Host.getStatistics", Host::getStatistics);
        entries.put("Host.setSpaceLimit", () -> Host.setSpaceLimit(0));
        entries.put("Host.setBackgroundThreads", () -> Host.setBackgroundThreads(2));
        entries.put("Host.setBackgroundCpu", () -> Host.setBackgroundCpu(0));
        return entries;
    }
}

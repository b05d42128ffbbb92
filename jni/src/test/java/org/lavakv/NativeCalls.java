// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** All calls that reach native code, as a table for tests that inject faults. */
final class NativeCalls {

    /** One call. */
    interface Call {
        void call() throws Exception;
    }

    private NativeCalls() {}

    /**
     * The calls of an open database and its tables and snapshot. None of them changes the database.
     */
    static Map<String, Call> ofDatabase(LavaDB db, TableHandle t, TableHandle list) {
        byte[] k = {1, 'k'};
        byte[] v = {4, 'v'};
        byte[] out = new byte[16];
        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("createTable", () -> db.createTable("t", new TableOptions()));
        calls.put("setTableOptions", () -> db.setTableOptions(t, new TableOptions()));
        calls.put("listTables", db::listTables);
        calls.put("missingFiles", db::missingFiles);
        calls.put("get into", () -> db.get(t, k, 0, 2, 0, out, 0));
        calls.put("get new", () -> db.get(t, k, 0, 2, 0));
        calls.put("contains", () -> db.contains(t, k, 0, 2, 0));
        calls.put("containsPrefix", () -> db.containsPrefix(t, k, 0, 2));
        calls.put("scan", () -> db.scan(t, new ScanOptions(), new ScanPage(), null));
        calls.put(
                "scanTables",
                () -> db.scanTables(new TablesScan(List.of(t)), new ScanPage(), null));
        calls.putAll(writes(db, t, list));
        calls.put("getSnapshot", () -> db.getSnapshot().close());
        calls.put("flush", db::flush);
        calls.put("compactAll", db::compactAll);
        calls.put("setTime", () -> db.setTime(1));
        calls.put("acceptTime", () -> db.acceptTime(1));
        calls.put("continueTime", () -> db.continueTime(TtlTime.UNKNOWN));
        calls.put("time", db::time);
        calls.put("setValuePolicy", () -> db.setValuePolicy(ValuePolicy.AUTOMATIC));
        calls.put("takeValueDecisions", db::takeValueDecisions);
        calls.put("takeBackgroundEvents", () -> BackgroundEvent.takeAll(db));
        calls.put("takeEvents", db::takeEvents);
        EntryLog log = db.entryLog();
        calls.put("entryLog getExternal", () -> log.getExternal(t, k, 0));
        calls.put("entryLog roll", log::roll);
        calls.put("entryLog release", () -> log.release(0));
        calls.put("entryLog segmentName", () -> log.segmentName(1));
        calls.put("getStatistics", db::getStatistics);
        calls.put("getTableStatistics", () -> db.getTableStatistics(t));
        return calls;
    }

    /** The calls that may wait for background work. */
    static Map<String, Call> writes(LavaDB db, TableHandle t, TableHandle list) {
        byte[] k = {1, 'k'};
        byte[] v = {4, 'v'};
        WriteBatch batch = new WriteBatch();
        batch.put(t, k, 0, 2, 0, v, 0, 2);
        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("put", () -> db.put(t, k, 0, 2, 0, v, 0, 2));
        calls.put("delete", () -> db.delete(t, k, 0, 2, 0));
        calls.put("append", () -> db.append(list, k, 0, 2, v, 0, 2));
        calls.put("deletePrefix", () -> db.deletePrefix(t, k, 0, 2));
        calls.put("deleteRange", () -> db.deleteRange(t, new byte[] {1}, new byte[] {2}));
        calls.put("write", () -> db.write(batch));
        EntryLog log = db.entryLog();
        calls.put("entryLog append", () -> log.append(v));
        calls.put("entryLog bindExternal", () -> log.bindExternal(v));
        calls.put("entryLog putExternal", () -> log.putExternal(t, k, 0, v, v));
        return calls;
    }

    static Map<String, Call> ofSnapshot(LavaDB db, TableHandle t, Snapshot s) {
        byte[] k = {1, 'k'};
        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("snapshot waitFlushed", s::waitFlushed);
        calls.put("snapshot getFiles", s::getFiles);
        calls.put("get of snapshot", () -> db.get(t, k, 0, 2, 0, s));
        calls.put("contains of snapshot", () -> db.contains(t, k, 0, 2, 0, s));
        calls.put("scan of snapshot", () -> db.scan(t, new ScanOptions(), new ScanPage(), s));
        return calls;
    }

    static Map<String, Call> ofLease(Lease lease) {
        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("lease capacityBytes", lease::capacityBytes);
        calls.put("lease writeBufferBytes", lease::writeBufferBytes);
        calls.put("lease writeBufferUsedBytes", lease::writeBufferUsedBytes);
        calls.put("lease usedBytes", lease::usedBytes);
        return calls;
    }

    /**
     * The calls of a volume that has the file "f" in the directory "d".
     *
     * @param marker a path where no file exists
     */
    static Map<String, Call> ofVolume(Volume v, String marker) {
        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("volume figures", v::figures);
        calls.put("volume openFile", () -> v.openFile("d", "f").close());
        calls.put("volume createFile", () -> v.createFile("d", "g").close());
        calls.put("volume linkFile", () -> v.linkFile("d", "f", "d", "h"));
        calls.put("volume removeFile", () -> v.removeFile("d", "h"));
        calls.put("volume listFiles", () -> v.listFiles("d"));
        calls.put("volume removeDirectory", () -> v.removeDirectory("e"));
        calls.put("volume pin", () -> v.pin(marker, "d", List.of("f")));
        calls.put("volume dropStalePins", v::dropStalePins);
        calls.put("volume of a database", () -> openIn(v));
        calls.put("verifyFile of volume", () -> LavaDB.verifyFile(v, "d/f", List.of()));
        return calls;
    }

    private static void openIn(Volume v) throws LavaDBException {
        try (Lease lease = LavaTestBase.lease()) {
            LavaDB.open(new DBOptions().setVolume(v), "d", lease, List.of()).close();
        }
    }

    static Map<String, Call> ofVolumeFiles(VolumeInput in, VolumeOutput out) {
        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("volume file size", in::size);
        calls.put("volume file read", () -> in.read(0, new byte[2], 0, 1));
        calls.put("volume file append", () -> out.append(new byte[2], 0, 1));
        calls.put("volume file finish", out::finish);
        return calls;
    }

    static Map<String, Call> ofClasses(Lease lease, String path) {
        Map<String, Call> calls = new LinkedHashMap<>();
        calls.put("open", () -> LavaDB.open(new DBOptions(), path, lease, List.of()).close());
        calls.put("destroyDB", () -> LavaDB.destroyDB(path, new DBOptions(), lease));
        calls.put("verifyFile", () -> LavaDB.verifyFile(path, List.of()));
        calls.put("EntryLog.decode", () -> EntryLog.decode("s", 0, new byte[0], 0, 0));
        calls.put("MetadataInfo.read", () -> MetadataInfo.read(new byte[3]));
        VolumeOptions volume = new VolumeOptions().setCapacityBytes(32 << 20);
        calls.put("Volume.open", () -> Volume.open(path + "-volumes", volume).close());
        calls.put("Volume.openPinned", () -> Volume.openPinned(path, volume).close());
        calls.put("Volume.removeStale", () -> Volume.removeStale(path + "-volumes"));
        calls.put("LavaLibrary.dbOptions", LavaLibrary::dbOptions0);
        calls.put("LavaLibrary.eventTables", LavaLibrary::eventTables0);
        calls.put("Host.acquire", () -> Host.acquire(1 << 20, 0.5).close());
        calls.put("Host.getStatistics", Host::getStatistics);
        calls.put("Host.setSpaceLimit", () -> Host.setSpaceLimit(0));
        calls.put("Host.setBackgroundThreads", () -> Host.setBackgroundThreads(2));
        calls.put("Host.setBackgroundCpu", () -> Host.setBackgroundCpu(0));
        return calls;
    }
}

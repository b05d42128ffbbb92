// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A C++ exception inside any native method becomes a Java exception, and the JVM survives. */
class FaultTest extends LavaTestBase {

    private static final int EXCEPTION = 1;
    private static final int NO_MEMORY = 2;
    private static final int ODD_THROW = 3;

    @AfterEach
    void noFault() {
        LavaLibrary.setFault0(0);
    }

    @Test
    void everyCallReportsWhatIsThrownInside() throws Exception {
        try (Lease lease = lease();
                LavaDB db = open(lease);
                Snapshot s = db.getSnapshot();
                Volume volume =
                        Volume.open(directory.resolve("volumes").toString(), new VolumeOptions());
                VolumeOutputStream out = (VolumeOutputStream) volume.createFile("d", "f");
                VolumeInputStream in = input(volume)) {
            TableHandle t = db.createTable("t", new TableOptions());
            TableHandle list = db.createTable("l", new TableOptions().setKind(TableKind.LIST));
            Map<String, NativeCalls.Call> calls = NativeCalls.ofDatabase(db, t, list);
            calls.putAll(NativeCalls.ofSnapshot(db, t, s));
            calls.putAll(NativeCalls.ofLease(lease));
            calls.putAll(NativeCalls.ofClasses(lease, directory.resolve("other").toString()));
            calls.putAll(NativeCalls.ofVolume(volume, directory.resolve("marker").toString()));
            calls.putAll(NativeCalls.ofVolumeFiles(in.input, out.output));
            calls.put("dropTable", () -> db.dropTable(t));
            calls.put("fileArrived", () -> db.fileArrived("none"));
            EntryLog log = db.entryLog();
            EntryLocation nowhere = new EntryLocation(1, 0, 1, 0);
            calls.put("entryLog read", () -> log.read(nowhere));
            calls.put("entryLog readValue", () -> log.readValue(nowhere));
            calls.put("entryLog finish", () -> log.finish(1));
            for (int fault : new int[] {EXCEPTION, NO_MEMORY, ODD_THROW}) {
                for (Map.Entry<String, NativeCalls.Call> call : calls.entrySet()) {
                    checkOne(fault, call.getKey(), call.getValue());
                }
            }
            LavaLibrary.setFault0(0);
            assertThatCode(() -> put(db, t, "k", "v")).doesNotThrowAnyException();
        }
    }

    private static VolumeInputStream input(Volume volume) throws Exception {
        volume.createFile("d", "empty").close();
        return (VolumeInputStream) volume.openFile("d", "empty");
    }

    private static void checkOne(int fault, String name, NativeCalls.Call call) {
        LavaLibrary.setFault0(fault);
        Throwable thrown = catchThrowable(call::call);
        LavaLibrary.setFault0(0);
        String message =
                fault == EXCEPTION
                        ? "injected by a test"
                        : fault == NO_MEMORY ? "memory" : "unknown";
        assertThat(thrown).as("%s with fault %d", name, fault).hasMessageContaining(message);
        if (thrown instanceof LavaDBException) {
            assertThat(((LavaDBException) thrown).getCode())
                    .isEqualTo(
                            fault == NO_MEMORY ? Status.Code.MEMORY_LIMIT : Status.Code.INTERNAL);
        } else {
            assertThat(thrown).as(name).isInstanceOf(InternalError.class);
        }
    }

    /** Fails when a native method is added that is missing in the table of calls. */
    @Test
    void theTableOfCallsIsComplete() {
        Map<Class<?>, Set<String>> known = new LinkedHashMap<>();
        known.put(
                LavaDB.class,
                Set.of(
                        "open0",
                        "destroy0",
                        "createTable0",
                        "tableId0",
                        "setTableOptions0",
                        "dropTable0",
                        "listTables0",
                        "missingFiles0",
                        "fileArrived0",
                        "get0",
                        "getNew0",
                        "contains0",
                        "containsPrefix0",
                        "put0",
                        "delete0",
                        "append0",
                        "deletePrefix0",
                        "deleteRange0",
                        "write0",
                        "snapshot0",
                        "flush0",
                        "compactAll0",
                        "setTime0",
                        "acceptTime0",
                        "continueTime0",
                        "time0",
                        "setValuePolicy0",
                        "valueDecisions0",
                        "statistics0",
                        "tableStatistics0",
                        "leftOpen0",
                        "verifyFile0"));
        known.put(DatabaseScan.class, Set.of("scan0", "scanTables0"));
        known.put(
                EntryLog.class,
                Set.of(
                        "append0",
                        "bindExternal0",
                        "putExternal0",
                        "getExternal0",
                        "read0",
                        "roll0",
                        "finish0",
                        "release0",
                        "segmentName0",
                        "decode0"));
        known.put(BackgroundEvent.class, Set.of("take0"));
        known.put(EngineEvents.class, Set.of("take0"));
        known.put(Snapshot.class, Set.of("waitFlushed0", "files0"));
        known.put(Lease.class, Set.of("number0"));
        known.put(
                Host.class,
                Set.of(
                        "acquire0",
                        "statistics0",
                        "setBackgroundThreads0",
                        "setBackgroundCpu0",
                        "setSpaceLimit0",
                        "openNativeObjects0"));
        known.put(NativeObject.class, Set.of("close0", "isOpen0", "release0"));
        known.put(
                Volume.class,
                Set.of(
                        "open0",
                        "openPinned0",
                        "removeStale0",
                        "description0",
                        "figures0",
                        "openFile0",
                        "createFile0",
                        "linkFile0",
                        "removeFile0",
                        "listFiles0",
                        "removeDirectory0",
                        "pin0",
                        "dropStalePins0"));
        known.put(VolumeInput.class, Set.of("size0", "read0"));
        known.put(VolumeOutput.class, Set.of("append0", "finish0"));
        known.put(MetadataInfo.class, Set.of("read0"));
        known.put(LavaLibrary.class, Set.of("setFault0", "dbOptions0", "eventTables0"));
        known.forEach(
                (type, names) -> {
                    Set<String> natives = new TreeSet<>();
                    for (Method method : type.getDeclaredMethods()) {
                        if (Modifier.isNative(method.getModifiers())) {
                            natives.add(method.getName());
                        }
                    }
                    assertThat(natives).as(type.getName()).isEqualTo(new TreeSet<>(names));
                });
    }
}

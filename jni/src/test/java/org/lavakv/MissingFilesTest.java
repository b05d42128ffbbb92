// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Instances whose files arrive later: reads have them fetched, and continue. */
class MissingFilesTest extends LavaTestBase {

    private static final int PREFIX = 2;

    private final List<String> brought = new ArrayList<>();
    private Lease lease;
    private Path origin;
    private CheckpointFiles checkpoint;
    private Path target;
    private LavaDB db;
    private TableHandle t;

    @BeforeEach
    void importWithoutFiles() throws Exception {
        lease = lease();
        TableOptions options = new TableOptions().setSeparationBytes(100);
        try (LavaDB first = open(lease)) {
            TableHandle table = first.createTable("t", options);
            byte[] k = key("key");
            first.put(table, k, 0, k.length, PREFIX, new byte[500], 0, 500);
            try (Snapshot s = first.getSnapshot()) {
                s.waitFlushed();
                checkpoint = s.getFiles();
            }
            origin = Files.createDirectories(directory.resolve("kept"));
            for (FileInfo file : checkpoint.files()) {
                Files.copy(Path.of(first.path(), file.name()), origin.resolve(file.name()));
            }
        }
        assertThat(checkpoint.files()).hasSize(2);
        assertThat(checkpoint.missing()).isEmpty();
        target = Files.createDirectories(directory.resolve("imported"));
        db =
                LavaDB.open(
                        new DBOptions().setEventBufferBytes(16 << 10),
                        target.toString(),
                        lease,
                        List.of(new ImportSource(checkpoint.metadata(), 0, 255, names())));
        t = db.createTable("t", options);
    }

    @AfterEach
    void close() {
        db.close();
        lease.close();
    }

    private List<String> names() {
        return checkpoint.files().stream().map(FileInfo::name).collect(Collectors.toList());
    }

    private void bring(String name) throws LavaDBException {
        try {
            Files.copy(origin.resolve(name), target.resolve(name));
        } catch (java.io.IOException e) {
            throw new LavaDBException(Status.Code.IO_ERROR, e.toString());
        }
        assertThat(db.fileArrived(name)).isTrue();
        brought.add(name);
    }

    private String keyFile() {
        return names().stream().filter(name -> name.endsWith(".ksst")).findFirst().orElseThrow();
    }

    @Test
    void readsBringWhatTheyNeedOneAfterTheOther() throws Exception {
        assertThat(db.missingFiles())
                .hasSize(2)
                .first()
                .extracting(FileInfo::name)
                .isEqualTo(keyFile());
        db.setMissingFiles(this::bring);
        byte[] k = key("key");
        assertThat(db.contains(t, k, 0, k.length, PREFIX)).isTrue();
        assertThat(brought).containsExactly(keyFile());
        assertThat(db.missingFiles()).hasSize(1);
        assertThat(db.get(t, k, 0, k.length, PREFIX, new byte[500], 0)).isEqualTo(500);
        assertThat(brought).hasSize(2).doesNotHaveDuplicates();
        assertThat(db.missingFiles()).isEmpty();
    }

    @Test
    void everyKindOfReadHasThemBrought() throws Exception {
        byte[] k = key("key");
        List<NativeCalls.Call> reads =
                List.of(
                        () -> db.get(t, k, 0, k.length, PREFIX, new byte[500], 0),
                        () -> db.get(t, k, 0, k.length, PREFIX),
                        () -> db.contains(t, k, 0, k.length, PREFIX),
                        () -> db.containsPrefix(t, k, 0, PREFIX),
                        () -> db.scan(t, new ScanOptions(), new ScanPage(), null));
        for (NativeCalls.Call read : reads) {
            db.setMissingFiles(null);
            assertThatThrownBy(read::call)
                    .isInstanceOfSatisfying(
                            LavaDBException.class,
                            e -> assertThat(e.getCode()).isEqualTo(Status.Code.NEEDS_FILE))
                    .hasMessageContaining(keyFile())
                    .hasMessageContaining(target.toString());
            db.setMissingFiles(
                    name -> {
                        throw new LavaDBException(Status.Code.IO_ERROR, "no way to " + name);
                    });
            assertThatThrownBy(read::call)
                    .isInstanceOfSatisfying(
                            LavaDBException.class,
                            e -> assertThat(e.getCode()).isEqualTo(Status.Code.IO_ERROR))
                    .hasMessage("no way to " + keyFile());
        }
        db.setMissingFiles(this::bring);
        for (NativeCalls.Call read : reads) {
            read.call();
        }
        assertThat(brought).hasSize(2);
    }

    @Test
    void aCheckpointNamesThoseThatHaveNotArrived() throws Exception {
        bring(keyFile());
        put(db, t, "other", "value");
        try (Snapshot s = db.getSnapshot()) {
            s.waitFlushed();
            CheckpointFiles files = s.getFiles();
            assertThat(files.files()).hasSize(3);
            assertThat(files.missing())
                    .hasSize(1)
                    .allMatch(name -> name.endsWith(".vsst") && names().contains(name));
        }
    }

    @Test
    void onlyTheRightFileArrivesAndOnlyOnce() throws Exception {
        Path file = target.resolve(keyFile());
        Files.write(file, new byte[10]);
        assertThatThrownBy(() -> db.fileArrived(keyFile()))
                .isInstanceOfSatisfying(
                        LavaDBException.class,
                        e -> assertThat(e.getCode()).isEqualTo(Status.Code.CORRUPTION))
                .hasMessageContaining(file.toString());
        Files.delete(file);
        bring(keyFile());
        assertThatThrownBy(() -> db.fileArrived(keyFile()))
                .isInstanceOfSatisfying(
                        LavaDBException.class,
                        e -> assertThat(e.getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT))
                .hasMessageContaining(keyFile());
        assertThatThrownBy(() -> db.fileArrived(null)).isInstanceOf(NullPointerException.class);
    }

    @Test
    void whatNothingNamesAnyMoreIsRemoved() throws Exception {
        bring(keyFile());
        byte[] k = key("key");
        db.delete(t, k, 0, k.length, PREFIX);
        db.flush();
        db.compactAll();
        // The compaction's job holds files of the earlier version until its end.
        awaitEvent(db, EventKind.COMPACTION_END);
        assertThat(db.missingFiles()).isEmpty();
        String late = names().stream().filter(name -> name.endsWith(".vsst")).findFirst().get();
        Files.copy(origin.resolve(late), target.resolve(late));
        assertThat(db.fileArrived(late)).isFalse();
        assertThat(target.resolve(late)).doesNotExist();
    }

    @Test
    void afterCloseNothingArrives() {
        db.close();
        assertThatThrownBy(() -> db.fileArrived(keyFile())).isInstanceOf(LavaClosedException.class);
        assertThatThrownBy(() -> db.missingFiles()).isInstanceOf(LavaClosedException.class);
    }
}

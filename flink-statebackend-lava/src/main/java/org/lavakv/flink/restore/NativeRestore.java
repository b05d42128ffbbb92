// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.restore;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.metrics.MetricNames;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.runtime.state.IncrementalLocalKeyedStateHandle;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.RegisteredKeyValueStateBackendMetaInfo;
import org.apache.flink.runtime.state.StateUtil;
import org.apache.flink.runtime.state.filesystem.RelativeFileStateHandle;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot;
import org.apache.flink.runtime.state.metainfo.StateMetaInfoSnapshot.BackendStateType;
import org.apache.flink.util.StateMigrationException;
import org.lavakv.FileInfo;
import org.lavakv.ImportSource;
import org.lavakv.LavaDBException;
import org.lavakv.TableInfo;
import org.lavakv.TtlTime;
import org.lavakv.flink.checkpoint.ParallelTransfer;
import org.lavakv.flink.checkpoint.UploadedFiles;
import org.lavakv.flink.engine.LavaInstance;
import org.lavakv.flink.engine.StateTables;
import org.lavakv.flink.storage.InstanceFiles;
import org.lavakv.flink.storage.PosixFiles;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Restores Lava's own checkpoints, native savepoints and local copies. The files of all
 * predecessors are copied to the new instance's files, checked, and adopted with key bounds. With
 * an on-demand restore, files that are not on this machine are fetched later, while the instance is
 * used.
 *
 * <p>Threads: the task's, and temporary threads of its own.
 */
final class NativeRestore<K> {

    private static final Logger LOG = LoggerFactory.getLogger(NativeRestore.class);

    /** How long a failed restore waits for its threads, so that they leave no file behind. */
    private static final long SETTLE_MS = 10_000;

    /** First delay before a failed fetch on demand is retried. */
    private static final long RETRY_MS = 1_000;

    private final RestoreRequest<K> request;

    NativeRestore(RestoreRequest<K> request) {
        this.request = request;
    }

    RestoreResult restore() throws Exception {
        long begin = System.nanoTime();
        List<Predecessor> predecessors;
        List<List<StateMetaInfoSnapshot>> states = new ArrayList<>();
        Map<String, FileSource> missing = new LinkedHashMap<>();
        try (ParallelTransfer transfer =
                new ParallelTransfer(request.transferThreads(), "lava-restore")) {
            predecessors = readDescriptions(transfer);
            try {
                StateDescriptions<K> descriptions =
                        new StateDescriptions<>(
                                request.userCodeClassLoader(), request.keySerializerProvider());
                for (Predecessor predecessor : predecessors) {
                    checkKeyGroupPrefix(predecessor);
                    states.add(descriptions.read(predecessor.stateMeta()));
                }
                Map<String, FileSource> sources = sourcesOf(predecessors);
                if (request.onDemand()) {
                    sources.values().stream()
                            .filter(FileSource::isFar)
                            .forEach(source -> missing.put(source.info().name(), source));
                    sources.keySet().removeAll(missing.keySet());
                }
                fetch(transfer, predecessors, sources.values());
            } finally {
                predecessors.forEach(Predecessor::close);
            }
        }
        long fetched = System.nanoTime();
        report(MetricNames.DOWNLOAD_STATE_DURATION, begin, fetched);

        List<ImportSource> imports = new ArrayList<>();
        for (Predecessor predecessor : predecessors) {
            imports.add(
                    new ImportSource(
                            predecessor.description().engineMetadata(),
                            predecessor.shown().getStartKeyGroup(),
                            predecessor.shown().getEndKeyGroup(),
                            missingOf(predecessor, missing)));
        }
        LavaInstance instance = request.opener().open(imports, cancel());
        if (!missing.isEmpty()) {
            fetchMissing(instance, missing);
        }
        StateTables tables = registerStates(instance, predecessors, states);
        report(MetricNames.RESTORE_STATE_DURATION, fetched, System.nanoTime());
        return result(instance, tables, predecessors);
    }

    private List<Predecessor> readDescriptions(ParallelTransfer transfer) throws Exception {
        List<ParallelTransfer.Task<Predecessor>> tasks = new ArrayList<>();
        List<KeyGroupRange> ranges = new ArrayList<>();
        for (KeyedStateHandle handle : request.stateHandles()) {
            if (!(handle instanceof IncrementalRemoteKeyedStateHandle)
                    && !(handle instanceof IncrementalLocalKeyedStateHandle)) {
                throw StateUtil.unexpectedStateHandleException(
                        IncrementalRemoteKeyedStateHandle.class, handle.getClass());
            }
            KeyGroupRange shown =
                    handle.getKeyGroupRange().getIntersection(request.keyGroupRange());
            if (shown.getNumberOfKeyGroups() > 0) {
                checkDisjoint(ranges, shown);
                ranges.add(shown);
                IncrementalKeyedStateHandle incremental = (IncrementalKeyedStateHandle) handle;
                tasks.add(
                        streams -> Predecessor.read(incremental, shown, request.opener(), streams));
            }
        }
        return transfer.run(tasks, cancel(), Predecessor::close, SETTLE_MS);
    }

    /**
     * Handles overlap when a job with Flink's changelog is rescaled for the second time: each
     * subtask then gets the whole handles of its predecessors. Restoring equal handles only once
     * would not be enough: Flink replays the changes once for each handle, so appended elements
     * would appear several times.
     */
    private static void checkDisjoint(List<KeyGroupRange> ranges, KeyGroupRange range)
            throws StateMigrationException {
        for (KeyGroupRange other : ranges) {
            KeyGroupRange both = range.getIntersection(other);
            if (both.getNumberOfKeyGroups() > 0) {
                throw new StateMigrationException(
                        "Several parts of the checkpoint contain the key groups "
                                + both.prettyPrintInterval()
                                + ". The job was rescaled under Flink's changelog, and is"
                                + " rescaled again before all its subtasks have materialized"
                                + " their state. Flink could replay some changes twice. Restore"
                                + " with the parallelism of the checkpoint. To rescale, first"
                                + " run the job with that parallelism, and then take a"
                                + " savepoint, or switch the changelog off, or take a checkpoint"
                                + " after every subtask has materialized its state.");
            }
        }
    }

    private void checkKeyGroupPrefix(Predecessor predecessor) throws StateMigrationException {
        int stored = predecessor.description().keyGroupPrefixBytes();
        if (stored != request.keyGroupPrefixBytes()
                || stored != predecessor.metadata().partitionBytes()) {
            throw new StateMigrationException(
                    "Each key of the checkpoint begins with "
                            + stored
                            + " bytes of key group, but this job's maximum parallelism of "
                            + request.numberOfKeyGroups()
                            + " needs "
                            + request.keyGroupPrefixBytes()
                            + ". The maximum parallelism of keyed state cannot be changed. Set"
                            + " the former maximum parallelism (up to 128: 1 byte, above: 2"
                            + " bytes).");
        }
    }

    private static List<String> missingOf(
            Predecessor predecessor, Map<String, FileSource> missing) {
        return predecessor.files().stream()
                .map(source -> source.info().name())
                .filter(missing::containsKey)
                .collect(Collectors.toList());
    }

    private void fetchMissing(LavaInstance instance, Map<String, FileSource> missing)
            throws LavaDBException {
        MissingFileFetch fetch =
                new MissingFileFetch(
                        instance.db(), instance.files(), missing, request.progress(), RETRY_MS);
        instance.setOnDemandFiles(fetch);
        fetch.start(request.transferThreads());
        LOG.info(
                "The job starts while {} files of its state are fetched in the background.",
                fetch.fileCount());
    }

    /** A file that several predecessors name is fetched once. */
    private static Map<String, FileSource> sourcesOf(List<Predecessor> predecessors)
            throws IOException {
        Map<String, FileSource> sources = new LinkedHashMap<>();
        for (Predecessor predecessor : predecessors) {
            for (FileSource source : predecessor.files()) {
                FileSource known = sources.putIfAbsent(source.info().name(), source);
                if (known != null && !sameContent(known.info(), source.info())) {
                    throw new IOException(
                            "Two parts of the checkpoint disagree about one file: "
                                    + known.displayName()
                                    + " should be "
                                    + known.info()
                                    + ", "
                                    + source.displayName()
                                    + " should be "
                                    + source.info()
                                    + ". Restore from another checkpoint.");
                }
            }
        }
        return sources;
    }

    private void fetch(
            ParallelTransfer transfer,
            List<Predecessor> predecessors,
            Collection<FileSource> sources)
            throws Exception {
        InstanceFiles files = request.opener().files();
        List<ParallelTransfer.Task<String>> tasks = new ArrayList<>();
        long bytes = 0;
        for (FileSource source : sources) {
            bytes += source.info().bytes();
            tasks.add(streams -> fetch(source, files, source.info().name(), streams));
        }
        InstanceFiles ordinary = new PosixFiles(directory());
        for (int i = 0; i < predecessors.size(); i++) {
            FileSource timers = predecessors.get(i).timers();
            if (timers != null) {
                String name = timersName(i);
                bytes += timers.info().bytes();
                tasks.add(streams -> fetch(timers, ordinary, name, streams));
            }
        }
        if (tasks.isEmpty()) {
            return;
        }
        request.progress()
                .begin(
                        "Restoring key groups " + request.keyGroupRange().prettyPrintInterval(),
                        tasks.size(),
                        bytes);
        transfer.run(tasks, cancel(), name -> {}, SETTLE_MS);
        request.progress().end();
    }

    private String fetch(
            FileSource source, InstanceFiles files, String name, CloseableRegistry streams)
            throws IOException {
        FileFetch.fetch(source, files, name, streams, request.progress());
        request.progress().fileDone();
        return name;
    }

    private static boolean sameContent(FileInfo a, FileInfo b) {
        return a.bytes() == b.bytes() && a.crc32c() == b.crc32c();
    }

    private StateTables registerStates(
            LavaInstance instance,
            List<Predecessor> predecessors,
            List<List<StateMetaInfoSnapshot>> states)
            throws IOException, LavaDBException {
        StateTables tables = new StateTables(instance);
        TimerRestore timers = new TimerRestore(request, instance, tables);
        Set<String> adopted =
                predecessors.stream()
                        .flatMap(predecessor -> predecessor.metadata().tables().stream())
                        .map(TableInfo::name)
                        .collect(Collectors.toSet());
        Map<String, StateMetaInfoSnapshot> known = new LinkedHashMap<>();
        states.forEach(list -> list.forEach(state -> known.putIfAbsent(state.getName(), state)));
        for (StateMetaInfoSnapshot state : known.values()) {
            if (state.getBackendStateType() == BackendStateType.PRIORITY_QUEUE) {
                timers.register(state, adopted);
            } else {
                tables.createOrGet(
                        RegisteredKeyValueStateBackendMetaInfo.fromMetaInfoSnapshot(state));
            }
        }
        for (int i = 0; i < predecessors.size(); i++) {
            if (predecessors.get(i).timers() != null) {
                Path file = directory().resolve(timersName(i));
                timers.read(file, predecessors.get(i));
                Files.delete(file);
            }
        }
        return tables;
    }

    /** A directory outside the database's own files, which must not contain any other file. */
    private Path directory() throws IOException {
        return request.opener().directory().toPath();
    }

    private static String timersName(int predecessor) {
        return "restored-timers-" + predecessor;
    }

    private RestoreResult result(
            LavaInstance instance, StateTables tables, List<Predecessor> predecessors) {
        TtlTime ttlTime =
                predecessors.stream()
                        .map(predecessor -> predecessor.description().ttlTime())
                        .reduce(TtlTime::with)
                        .orElse(null);
        if (predecessors.size() == 1 && request.stateHandles().size() == 1) {
            IncrementalKeyedStateHandle handle = predecessors.get(0).handle();
            if (handle.getKeyGroupRange().equals(request.keyGroupRange())) {
                return RestoreResult.continued(
                        instance,
                        tables,
                        handle.getBackendIdentifier(),
                        handle.getCheckpointId(),
                        new UploadedFiles(
                                reusable(handle.getSharedStateHandles()),
                                predecessors.get(0).description().packed()),
                        ttlTime);
            }
        }
        return RestoreResult.fresh(instance, tables, ttlTime);
    }

    /**
     * The files that later checkpoints may name. The files of a native savepoint are excluded:
     * their handles are relative to its directory. Flink up to 2.3.0 writes them into the metadata
     * of another checkpoint as if they were relative to the other directory, and that checkpoint
     * could not be restored (FLINK-39964).
     */
    private static List<HandleAndLocalPath> reusable(List<HandleAndLocalPath> files) {
        return files.stream()
                .filter(file -> !(file.getHandle() instanceof RelativeFileStateHandle))
                .collect(Collectors.toList());
    }

    private CloseableRegistry cancel() {
        return request.cancelStreamRegistry();
    }

    private void report(String metric, long fromNanos, long toNanos) {
        request.metrics().addMetric(metric, (toNanos - fromNanos) / 1_000_000);
    }
}

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.runtime.state.AbstractKeyedStateBackend;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.lavakv.flink.LavaOptions.FileSystemType;
import org.lavakv.flink.testing.BackendFixture;

/**
 * A process with local state of every kind: several open backends, which began without state, were
 * restored from the checkpoint, at once and on demand, or from the local copy; and a page on the
 * host. Prints "ready" and lives until it is killed.
 */
final class LocalStateProcess implements AutoCloseable {

    private static final int KEYS = 64;

    private final Process process;

    private LocalStateProcess(Process process) {
        this.process = process;
    }

    /**
     * Starts a process, and waits until all of its files exist.
     *
     * @param root of its {@link BackendFixture}
     * @param umask as the shell takes it
     */
    static LocalStateProcess start(Path root, FileSystemType files, String umask) throws Exception {
        List<String> command =
                new ArrayList<>(List.of("sh", "-c", "umask " + umask + "; exec \"$@\"", "sh"));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx256m", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(LocalStateProcess.class.getName(), root.toString(), files.name()));
        File output = File.createTempFile("local-state", ".log");
        LocalStateProcess started =
                new LocalStateProcess(
                        new ProcessBuilder(command)
                                .redirectErrorStream(true)
                                .redirectOutput(output)
                                .start());
        try {
            while (!Files.readString(output.toPath(), StandardCharsets.ISO_8859_1)
                    .contains("everything is there\n")) {
                if (!started.process.isAlive()) {
                    throw new AssertionError(
                            Files.readString(output.toPath(), StandardCharsets.ISO_8859_1));
                }
                Thread.sleep(5);
            }
            return started;
        } catch (Throwable e) {
            started.close();
            throw e;
        } finally {
            Files.delete(output.toPath());
        }
    }

    /** With SIGKILL. */
    void kill() throws Exception {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    public static void main(String[] arguments) throws Exception {
        BackendFixture fixture = new BackendFixture(Path.of(arguments[0])).enableLocalRecovery();
        LavaStateBackend lava =
                fixture.newLava(true)
                        .set(LavaOptions.FILE_SYSTEM, FileSystemType.valueOf(arguments[1]))
                        .set(LavaOptions.TIMER_SERVICE_FACTORY, LavaOptions.TimerService.HEAP)
                        .set(LavaOptions.HOST_REPORT_INTERVAL, Duration.ofMinutes(1));
        fixture.use(lava);
        AbstractKeyedStateBackend<Integer> fresh = fixture.create(BackendFixture.ALL);
        for (int key = 0; key < KEYS; key++) {
            fresh.setCurrentKey(key);
            BackendFixture.value(fresh).update("x".repeat(100 * key));
        }
        SnapshotResult<KeyedStateHandle> checkpoint = fixture.checkpoint(fresh, 1);
        KeyedStateHandle remote = checkpoint.getJobManagerOwnedSnapshot();
        fixture.create(BackendFixture.ALL, remote);
        fixture.create(BackendFixture.ALL, checkpoint.getTaskLocalSnapshot());
        lava.set(LavaOptions.RESTORE_ON_DEMAND, true);
        AbstractKeyedStateBackend<Integer> late = fixture.create(BackendFixture.ALL, remote);
        late.setCurrentKey(KEYS - 1);
        BackendFixture.value(late).value();
        String page = "lava-host-" + ProcessHandle.current().pid() + "-";
        while (pages(fixture.instances()).stream()
                .noneMatch(file -> file.getFileName().toString().startsWith(page))) {
            Thread.sleep(5);
        }
        System.out.println("everything is there");
        System.in.read();
        Thread.sleep(Long.MAX_VALUE); // the parent ends this process
    }

    /** Pages on the host in a directory. */
    static List<Path> pages(Path directory) throws Exception {
        try (java.util.stream.Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.getFileName().toString().matches("lava-host-.*json"))
                    .collect(Collectors.toList());
        }
    }
}

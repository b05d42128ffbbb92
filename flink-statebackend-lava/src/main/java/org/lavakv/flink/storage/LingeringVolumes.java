// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.storage;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.lavakv.LavaDBException;
import org.lavakv.Volume;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes volumes that outlived their last user because of local copies in them, once Flink has
 * deleted these copies. Otherwise a TaskManager without jobs would keep their space for ever. A
 * daemon thread checks periodically; it only exists while such a volume does.
 *
 * <p>Threads: any.
 */
final class LingeringVolumes {

    /** The instance for the process. */
    static final LingeringVolumes ALL = new LingeringVolumes(Duration.ofSeconds(10));

    private static final Logger LOG = LoggerFactory.getLogger(LingeringVolumes.class);

    private final long periodMillis;
    private final Set<String> directories = new HashSet<>();
    private boolean watching;

    LingeringVolumes(Duration period) {
        this.periodMillis = period.toMillis();
    }

    /**
     * A reference to this volume was closed. If it was the last one and the volume still exists,
     * its directory is watched until no volume in it has anything pinned.
     */
    synchronized void closed(Volume volume) {
        Path path = Path.of(volume.path());
        if (!Files.exists(path)) {
            return;
        }
        directories.add(path.getParent().toString());
        if (watching) {
            return;
        }
        Thread thread = new Thread(this::run, "lava-lingering-volumes");
        thread.setDaemon(true);
        // Otherwise the thread would keep the class loader of the job that closed the volume.
        thread.setContextClassLoader(null);
        thread.start();
        watching = true;
    }

    synchronized boolean isWatching() {
        return watching;
    }

    private void run() {
        try {
            while (!lookAtAll()) {
                Thread.sleep(periodMillis);
            }
        } catch (InterruptedException e) {
            stop();
        } catch (Throwable e) {
            stop();
            throw e;
        }
    }

    private synchronized void stop() {
        watching = false;
    }

    /** Checks all directories; returns whether there is nothing left to watch. */
    private boolean lookAtAll() {
        Set<String> now;
        synchronized (this) {
            now = new HashSet<>(directories);
            // Directories added meanwhile are checked in the next round.
            directories.clear();
        }
        // Not under the lock: a task that closes its backend must not wait for a disk.
        now.removeIf(directory -> !lingers(directory));
        synchronized (this) {
            directories.addAll(now);
            watching = !directories.isEmpty();
            return !watching;
        }
    }

    /**
     * Removes the unused volumes in a directory; returns whether any volume is kept because of
     * files pinned in it.
     */
    static boolean lingers(String directory) {
        try {
            return Volume.removeStale(directory) > 0;
        } catch (LavaDBException e) {
            LOG.warn(
                    "Looking for unused LavaFS volumes in {} failed: {}. Unused volumes stay"
                            + " until a job opens the directory.",
                    directory,
                    e.getMessage());
            return false;
        }
    }
}

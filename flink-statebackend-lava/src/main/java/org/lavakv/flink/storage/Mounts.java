// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

package org.lavakv.flink.storage;

import java.util.WeakHashMap;
import org.lavakv.Volume;
import org.lavakv.VolumeFigures;
import org.lavakv.VolumeOptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs a volume once for each mount, although many instances open it.
 *
 * <p>Threads: any.
 */
final class Mounts {

    private static final Logger LOG = LoggerFactory.getLogger(Mounts.class);

    /**
     * The open volumes by identity, with their paths. A path that no open volume has was mounted
     * anew.
     */
    private static final WeakHashMap<Volume, String> OPEN = new WeakHashMap<>();

    private Mounts() {}

    static void opened(Volume volume, VolumeOptions asked) {
        boolean mounted;
        synchronized (OPEN) {
            mounted = !OPEN.containsValue(volume.path());
            OPEN.put(volume, volume.path());
        }
        if (!volume.leftBehind().isEmpty()) {
            LOG.warn(
                    "Some files beside the LavaFS volume {} could not be read, and stay: {}."
                            + " Delete these files once no process uses them.",
                    volume.path(),
                    volume.leftBehind());
        }
        if (mounted) {
            VolumeFigures figures = volume.figures();
            LOG.info(
                    "Mounted the LavaFS volume {}, which may grow to {} bytes. Its files use {}.",
                    volume.path(),
                    figures.capacityBytes(),
                    figures.directIo()
                            ? "direct I/O"
                            : asked.directIo()
                                    ? "the page cache, because the file system below"
                                            + " refused direct I/O"
                                    : "the page cache");
        }
    }

    static void closing(Volume volume) {
        synchronized (OPEN) {
            OPEN.remove(volume);
        }
    }
}

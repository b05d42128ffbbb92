// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Formats of a checkpoint's own files, written by snapshots and read by restores; its handles; and
 * how its files are copied.
 *
 * <p>Layer: uses storage and the bindings ({@code org.lavakv}); snapshot and restore use this
 * package. No class here may be Serializable: Java would write the class's name into checkpoints,
 * and the class could never be renamed or moved again.
 */
package org.lavakv.flink.checkpoint;

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Checkpoints and savepoints: the files of a checkpoint, their upload, their reuse by later
 * checkpoints, and Flink's canonical format.
 *
 * <p>Layer: uses checkpoint, engine, storage and the bindings ({@code org.lavakv}). Snapshot and
 * restore do not use each other.
 */
package org.lavakv.flink.snapshot;

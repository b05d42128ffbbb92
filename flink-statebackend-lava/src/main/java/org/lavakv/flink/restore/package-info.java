// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Restores: from Lava's own checkpoints by adopting their files, from canonical savepoints of any
 * backend by writing their entries.
 *
 * <p>Layer: uses checkpoint, engine, storage and the bindings ({@code org.lavakv}).
 */
package org.lavakv.flink.restore;

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Timers in the engine: a priority queue of sorted keys for each key group, with its head in
 * memory.
 *
 * <p>Layer: uses engine and the bindings; the root package uses this one, never the other way
 * round.
 */
package org.lavakv.flink.timers;

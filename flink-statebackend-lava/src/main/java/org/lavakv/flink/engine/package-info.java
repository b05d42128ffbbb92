// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The adapter between the state classes and LavaKV: the open instance, its tables, composite keys,
 * and lists as segments.
 *
 * <p>Layer: uses the bindings ({@code org.lavakv}), storage and shared only; state, timers,
 * snapshot and restore use this package, never the other way round.
 */
package org.lavakv.flink.engine;

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The engine's counters as Flink metrics.
 *
 * <p>Layer: uses engine, snapshot and the bindings.
 */
package org.lavakv.flink.metrics;

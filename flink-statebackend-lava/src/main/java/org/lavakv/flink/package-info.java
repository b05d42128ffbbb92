// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The state backend as Flink sees it: factory, options, the keyed backend and its builder.
 *
 * <p>Layer: assembles state, timers, snapshot, restore, memory and metrics; none of them uses this
 * package.
 */
package org.lavakv.flink;

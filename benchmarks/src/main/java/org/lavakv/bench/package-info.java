// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Benchmarks that run Lava and its peers in one run and report ratios, never absolute times: {@code
 * bin/bench SUITE}.
 */
package org.lavakv.bench;

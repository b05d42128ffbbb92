// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The demo: a job on the flights from New York in 2013 that reports the ten worst planes of each
 * day. The job does not refer to Lava; {@code bin/demo} runs it on a cluster that is configured for
 * Lava.
 */
package org.lavakv.demo;

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Random programs over keyed state that run on Flink's hashmap backend, on RocksDB and on Lava in
 * parallel, move between these backends by snapshots, and must get the same answers everywhere.
 */
package org.lavakv.flink.programs;

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Where an instance's data files are: in a directory of the machine, or in a volume shared by all
 * instances of the process.
 *
 * <p>Layer: uses the bindings ({@code org.lavakv}) only.
 */
package org.lavakv.flink.storage;

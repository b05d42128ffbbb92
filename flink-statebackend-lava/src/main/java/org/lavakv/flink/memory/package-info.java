// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Native memory: how much of it a slot, or the TaskManager, gives to its instances.
 *
 * <p>Layer: uses the bindings only.
 */
package org.lavakv.flink.memory;

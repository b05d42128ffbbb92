// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Flink's five kinds of keyed state on the engine, their migration to new serializers, and the
 * streams of keys.
 *
 * <p>Layer: uses engine and the bindings; the root package uses this one, never the other way
 * round.
 */
package org.lavakv.flink.state;

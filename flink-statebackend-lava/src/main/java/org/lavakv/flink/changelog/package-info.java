// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Storage of Flink's changelog. A job that sets {@code state.changelog.enabled: true} and {@code
 * state.changelog.storage: lava} has its changes in files beside its checkpoints, with any state
 * backend. See docs/changelog.md.
 *
 * <p>Layer: uses Flink, and of the plugin only {@code shared}. Of the plugin only the documentation
 * and the check of option keys use this package.
 */
package org.lavakv.flink.changelog;

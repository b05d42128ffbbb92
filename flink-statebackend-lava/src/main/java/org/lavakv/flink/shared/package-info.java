// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The log that a backend and the changelog above it share: a large value is written once for both.
 * See docs/changelog.md.
 *
 * <p>The changelog logs each change right after the backend has made it. If the change ends with
 * the value that the backend was given last, the change is appended to the log of the backend's
 * instance, and the backend's value refers to it. The changelog uploads the log's segments, and a
 * checkpoint of the backend names the same files.
 *
 * <p>{@code OptionValues} reads options for both.
 */
package org.lavakv.flink.shared;

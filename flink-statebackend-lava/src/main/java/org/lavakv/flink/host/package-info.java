// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * The state of the host on one page: native memory, cache, jobs and instances of the process, as a
 * file and as a log line. See docs/lava-inspect.md.
 */
package org.lavakv.flink.host;

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Local files of a process: accessible only to its user, and removed by the next process if their
 * own was killed.
 *
 * <p>Layer: of the other packages it uses only the log.
 */
package org.lavakv.local;

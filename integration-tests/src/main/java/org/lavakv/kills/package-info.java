// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/** A job that checks itself while parts of its cluster are killed. */
package org.lavakv.kills;

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

/** Logging of the bindings. */
package org.lavakv.log;

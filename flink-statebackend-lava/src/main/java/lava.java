// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

import org.lavakv.flink.LavaStateBackendFactory;

/**
 * Makes {@code state.backend.type: lava} work on an unmodified Flink: Flink treats the name of an
 * unknown backend as the name of a factory class.
 */
public class lava extends LavaStateBackendFactory {}

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

import org.lavakv.flink.LavaStateBackendFactory;

/**
 * Makes {@code state.backend.type: Lava} work: Flink accepts the names of other backends in any
 * case.
 */
public class Lava extends LavaStateBackendFactory {}

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fuzz/vblocks_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return lava::fuzzing::RunVblocksInput(data, size);
}

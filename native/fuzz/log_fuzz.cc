// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "fuzz/log_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return lava::fuzzing::RunLogInput(data, size);
}

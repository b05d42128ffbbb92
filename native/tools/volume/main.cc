// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <exception>
#include <iostream>

#include "volume/command_line.h"

int main(int argc, char** argv) {
  try {
    return lava::lavafs::Run({argv + 1, argv + argc}, std::cout, std::cerr);
  } catch (const std::exception& error) {  // out of memory
    std::cerr << "lava-fs: " << error.what() << "\n";
    return lava::lavafs::kWrongCall;
  }
}

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "fs/file_system.h"

namespace lava::inspect {

/// Exit codes.
inline constexpr int kFine = 0, kFaultsFound = 1, kUsage = 2, kNotVerified = 2;

/// The whole program except main(): writes the answer to out, and errors in the call to err.
/// arguments: without the program's name. Threads: one at a time.
int Run(fs::FileSystem* file_system, std::vector<std::string> arguments, std::ostream& out,
        std::ostream& err);

}  // namespace lava::inspect

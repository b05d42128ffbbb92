// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace lava::lavafs {

/// lava-fs: creates, checks and shows LavaFS volumes. Only `format` and `export` write: `format` to
/// the volume, `export` outside of it.
enum ExitCode { kFine = 0, kDamaged = 1, kWrongCall = 2 };

/// Runs a command; arguments without the program's name.
int Run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace lava::lavafs

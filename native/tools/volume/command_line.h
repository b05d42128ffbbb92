#pragma once

#include <ostream>
#include <string>
#include <vector>

namespace lava::lavafs {

/// lava-fs: makes, checks and shows LavaFS volumes. Only `format` and `export` write, the one to
/// the volume, the other beside it.
enum ExitCode { kFine = 0, kDamaged = 1, kWrongCall = 2 };

/// Runs a command; arguments without the program's name.
int Run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err);

}  // namespace lava::lavafs

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "inspect/read_only_files.h"
#include "inspect/report.h"

namespace lava::inspect {

/// How old a page is and whether its process lives is asked of this. Units: ms since 1970.
struct HostClock {
  uint64_t now_ms = 0;
  std::function<bool(uint64_t pid)> lives;
  static HostClock OfSystem();
};

/// The pages that processes write on themselves: path is one, or a directory that has some. What
/// is no page, or damaged, becomes a fault.
/// Errors: NotFound when nothing is there, or no page.
Result<Json> HostReport(ReadOnlyFiles* files, const std::string& path, const HostClock& clock);

}  // namespace lava::inspect

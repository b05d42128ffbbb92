// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "inspect/read_only_files.h"
#include "inspect/report.h"

namespace lava::inspect {

/// Determines the age of a page and whether its process lives. Units: ms since 1970.
struct HostClock {
  uint64_t now_ms = 0;
  std::function<bool(uint64_t pid)> lives;
  static HostClock OfSystem();
};

/// The pages that processes write about themselves. path is a page, or a directory with pages. A
/// file that is not a page, or is damaged, becomes a fault. Errors: NotFound when the path does not
/// exist or contains no page.
Result<Json> HostReport(ReadOnlyFiles* files, const std::string& path, const HostClock& clock);

}  // namespace lava::inspect

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "inspect/read_only_files.h"
#include "inspect/report.h"

namespace lava::inspect {

struct LogRequest {
  bool verify = false;  // whether to read every pack and every record
  std::string dump;     // a logical log's name, or empty
  uint64_t from = 0;    // the first LSN to show
  uint64_t count = 100;
};

/// A report about the LavaLog in a directory: logical logs with their LSNs, data files with their
/// garbage, and the index's memory. On request it verifies the log, or lists the locations of a
/// logical log's records. Errors: InvalidArgument when the directory has no log, or the log no
/// logical log with this name.
Result<Json> LogReport(ReadOnlyFiles* files, const std::string& path, const LogRequest& request,
                       Show show);

}  // namespace lava::inspect

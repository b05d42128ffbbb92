#pragma once

#include <cstdint>
#include <string>

#include "inspect/read_only_files.h"
#include "inspect/report.h"

namespace lava::inspect {

struct LogRequest {
  bool verify = false;  // read every pack and every record
  std::string dump;     // a logical log's name, or empty
  uint64_t from = 0;    // its first LSN that is told
  uint64_t count = 100;
};

/// A LavaLog in a directory: logical logs with their LSNs, data files with their garbage, what the
/// index takes in memory; and, if asked for, whether it is sound, or where a log's records are.
/// Errors: InvalidArgument when the directory has no log, or the log no logical log of that name.
Result<Json> LogReport(ReadOnlyFiles* files, const std::string& path, const LogRequest& request,
                       Show show);

}  // namespace lava::inspect

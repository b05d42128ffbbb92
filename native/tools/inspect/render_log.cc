// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/render_log.h"

#include "inspect/columns.h"

namespace lava::inspect {
namespace {

void RenderLogicalLogs(const Json& report, std::string* out) {
  Columns columns(
      {"logical log", "id>", "from LSN>", "last>", "records, at most>", "bytes>", "index memory>"});
  for (const Json& log : report["logs"]) {
    columns.Add({Escape(Text(log, "name")), Count(log, "id"), Count(log, "trimmed_to"),
                 Count(log, "last_lsn"), Count(log, "records_at_most"), Size(log, "live_bytes"),
                 Size(log, "index_memory_bytes")});
  }
  columns.Write(out);
}

void RenderDataFiles(const Json& report, std::string* out) {
  Columns columns({"file", "bytes>", "live>", "garbage>", "share>", "state"});
  for (const Json& file : report["files"]) {
    const std::string path = Text(file, "path");
    columns.Add({path.substr(path.rfind('/') + 1), Size(file, "bytes"), Size(file, "live_bytes"),
                 Size(file, "garbage_bytes"),
                 Ratio(Number(file, "garbage_bytes"), Number(file, "record_bytes")),
                 file.value("sealed", false) ? "sealed" : "was being written"});
  }
  columns.Write(out);
}

void RenderDump(const Json& report, std::string* out) {
  Columns columns({"LSN>", "file", "offset>", "bytes>", "data"});
  for (const Json& record : report["records"]) {
    const std::string path = Text(record, "path");
    const std::string data = Text(record, "data");
    columns.Add({Count(record, "lsn"), path.substr(path.rfind('/') + 1), Count(record, "offset"),
                 Count(record, "bytes"), data.empty() ? Text(record, "hash") : data});
  }
  columns.Write(out);
}

}  // namespace

void RenderLog(const Json& report, std::string* out) {
  if (!report.contains("logs")) return;
  *out += Text(report, "path") + ": checkpoint " + Count(report, "checkpoint") + "; " +
          Size(report, "live_bytes") + " live, index " + Size(report, "index_memory_bytes") +
          " of memory, " +
          Ratio(Number(report, "index_memory_bytes"), Number(report, "live_bytes")) + " of that\n";
  RenderLogicalLogs(report, out);
  RenderDataFiles(report, out);
  if (report.contains("checked_records")) {
    *out += "checked: " + Count(report, "checked_records") + " records, " +
            Size(report, "checked_bytes") + "\n";
  }
  if (report.contains("records")) RenderDump(report, out);
}

}  // namespace lava::inspect

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/render_host.h"

#include <cstdio>

#include "inspect/columns.h"

namespace lava::inspect {
namespace {

std::string Seconds(uint64_t us) {
  char buffer[48];
  std::snprintf(buffer, sizeof(buffer), "%.1f s", static_cast<double>(us) / 1e6);
  return buffer;
}
std::string Time(const Json& json, const char* field) { return Seconds(Number(json, field)); }

void RenderMemory(const Json& page, std::string* out) {
  const Json& memory = page["memory"];
  *out += "memory: " + Size(memory, "charged_bytes") + " of " + Size(memory, "budget_bytes") +
          "; jobs put off " + Count(memory, "jobs_put_off") + ", overdrafts " +
          Count(memory, "overdrafts");
  if (Number(memory, "over_budget_bytes") > 0)
    *out += "; " + Size(memory, "over_budget_bytes") + " OVER THE BUDGET";
  *out += "\n";
  Columns columns({"purpose", "bytes>"});
  for (const auto& [name, value] : memory.items()) {
    constexpr size_t kSuffix = 6;  // "_bytes"
    if (name.ends_with("_bytes") && name != "budget_bytes" && name != "charged_bytes" &&
        name != "over_budget_bytes")
      columns.Add({name.substr(0, name.size() - kSuffix), ByteSize(value.get<uint64_t>())});
  }
  columns.Write(out);
}

void RenderCache(const Json& page, std::string* out) {
  const Json& cache = page["cache"];
  const uint64_t hits = Number(cache, "hits"), misses = Number(cache, "misses");
  *out += "cache: " + Size(cache, "used_bytes") + " of " + Size(cache, "capacity_bytes") +
          ", pinned " + Size(cache, "pinned_bytes") + "; " + std::to_string(hits) + " hits, " +
          std::to_string(misses) + " misses, hit ratio " + Ratio(hits, hits + misses);
  if (cache["hit_ratio_lately"].is_number()) {
    char buffer[48];
    std::snprintf(buffer, sizeof(buffer), ", lately %.2f", cache["hit_ratio_lately"].get<double>());
    *out += buffer;
  }
  *out += "; index before data up to " + Size(cache, "index_bytes_max") + "\n";
  Columns columns({"segment", "used>", "hits>", "misses>", "hit ratio>", "evicted>"});
  for (const char* name : {"index", "data"}) {
    const Json& segment = cache[name];
    const uint64_t found = Number(segment, "hits");
    columns.Add({name, Size(segment, "used_bytes"), Count(segment, "hits"),
                 Count(segment, "misses"), Ratio(found, found + Number(segment, "misses")),
                 Count(segment, "evictions")});
  }
  columns.Write(out);
}

void RenderSpace(const Json& page, std::string* out) {
  const Json& space = page["space"];
  const bool limited = Number(space, "limit_bytes") > 0;
  *out += "space: " + Size(space, "used_bytes") +
          (limited ? " of " + Size(space, "limit_bytes") : ", no limit") + ", about " +
          Size(space, "live_bytes") + " live\n";
}

void RenderBackground(const Json& page, std::string* out) {
  const Json& jobs = page["background"];
  *out += "background: " + Count(jobs, "threads") + " threads, CPU " + Time(jobs, "cpu_us") +
          ", paced " + Time(jobs, "paced_us") + "\n";
  Columns columns({"jobs", "running>", "queued>"});
  columns.Add({"flush", Count(jobs, "running_flushes"), Count(jobs, "queued_flushes")});
  columns.Add({"compaction of L0", "", Count(jobs, "queued_l0_compactions")});
  columns.Add(
      {"compaction", Count(jobs, "running_compactions"), Count(jobs, "queued_compactions")});
  columns.Add(
      {"collection", Count(jobs, "running_collections"), Count(jobs, "queued_collections")});
  columns.Add({"urgent, of any kind", "", Count(jobs, "queued_urgent")});
  columns.Write(out);
}

void RenderVolumes(const Json& page, std::string* out) {
  if (page["volumes"].empty()) return;
  *out += "volumes\n";
  Columns columns({"path", "used>", "free>", "capacity>", "files>", "pins>"});
  for (const Json& volume : page["volumes"])
    columns.Add({Escape(Text(volume, "path")), Size(volume, "used_bytes"),
                 Size(volume, "free_bytes"), Size(volume, "capacity_bytes"), Count(volume, "files"),
                 Count(volume, "pins")});
  columns.Write(out);
}

void RenderInstances(const Json& page, std::string* out) {
  *out += "instances: " + Count(page, "instances_open") + " open, " + Count(page, "leases_open") +
          " leases\n";
  Columns columns({"directory", "memtables>", "runs>", "live>", "garbage>", "files>", "jobs>",
                   "stalled>", "flush>", "compaction>", "space>", "errors>"});
  for (const Json& one : page["instances"])
    columns.Add(
        {Escape(Text(one, "directory")), Size(one, "memtable_bytes"), Count(one, "sealed_runs"),
         Size(one, "live_bytes"), Size(one, "garbage_bytes"), Count(one, "files"),
         std::to_string(Number(one, "running_flushes") + Number(one, "running_compactions") +
                        Number(one, "running_collections")),
         Time(one, "stall_us"), Time(one, "flush_stall_us"), Time(one, "compaction_stall_us"),
         Time(one, "space_stall_us"), Count(one, "background_errors")});
  columns.Write(out);
}

}  // namespace

void RenderHost(const Json& report, std::string* out) {
  for (const Json& page : report["hosts"]) {
    *out += Text(page, "path") + "\n";
    *out += "process " + Count(page, "pid") + " " + Text(page, "process") + "; written " +
            Seconds(Number(page, "age_ms") * 1000) + " ago, every " +
            Seconds(Number(page, "interval_ms") * 1000) + "; Lava " +
            Escape(Text(page, "library")) + "\n";
    RenderMemory(page, out);
    RenderCache(page, out);
    RenderSpace(page, out);
    RenderBackground(page, out);
    RenderVolumes(page, out);
    RenderInstances(page, out);
    *out += "\n";
  }
}

}  // namespace lava::inspect

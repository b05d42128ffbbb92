// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/host.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <span>
#include <vector>

#include "os/clock.h"

namespace lava::inspect {
namespace {

constexpr uint64_t kPageBytesMax = 64 << 20;  // for many thousands of instances
constexpr uint64_t kFormat = 2;
// A page older than this many intervals does not show the process's current state.
constexpr uint64_t kLateIntervals = 3;

using Names = std::span<const char* const>;

constexpr const char* kHead[] = {
    "format", "pid", "started_ms", "written_ms", "interval_ms", "instances_open", "leases_open"};
constexpr const char* kMemory[] = {"budget_bytes",         "charged_bytes",  "over_budget_bytes",
                                   "cache_bytes",          "memtable_bytes", "table_reader_bytes",
                                   "metadata_bytes",       "scan_bytes",     "flush_job_bytes",
                                   "compaction_job_bytes", "gc_job_bytes",   "file_buffer_bytes",
                                   "binding_bytes",        "jobs_put_off",   "overdrafts"};
constexpr const char* kCache[] = {"capacity_bytes", "used_bytes", "pinned_bytes",
                                  "hits",           "misses",     "index_bytes_max"};
constexpr const char* kSegments[] = {"index", "data"};
constexpr const char* kSegment[] = {"used_bytes", "hits", "misses", "evictions"};
constexpr const char* kSpace[] = {"used_bytes", "live_bytes", "limit_bytes"};
constexpr const char* kBackground[] = {"threads",
                                       "cpu_us",
                                       "paced_us",
                                       "queued_urgent",
                                       "queued_flushes",
                                       "queued_l0_compactions",
                                       "queued_compactions",
                                       "queued_collections",
                                       "running_flushes",
                                       "running_compactions",
                                       "running_collections"};
constexpr const char* kVolume[] = {"capacity_bytes", "used_bytes", "free_bytes", "files", "pins"};
constexpr const char* kInstance[] = {
    "memtable_bytes",  "sealed_runs",         "live_bytes",
    "garbage_bytes",   "pinned_bytes",        "files",
    "running_flushes", "running_compactions", "running_collections",
    "stall_us",        "flush_stall_us",      "compaction_stall_us",
    "space_stall_us",  "background_errors"};
constexpr const char* kVolumeTexts[] = {"path"};
constexpr const char* kInstanceTexts[] = {"directory", "job", "operator"};

Status Wrong(const std::string& where, const char* what) {
  return Status::Corruption(where + " is " + what);
}

// Copies only known fields, so that nothing else of the file is reported.
Status Take(const Json& from, const std::string& where, Names numbers, Names texts, Json* to) {
  if (!from.is_object()) return Wrong(where, "no object");
  for (const char* name : texts) {
    const auto it = from.find(name);
    if (it == from.end() || !it->is_string()) return Wrong(where + "." + name, "no text");
    (*to)[name] = *it;
  }
  for (const char* name : numbers) {
    const auto it = from.find(name);
    if (it == from.end() || !it->is_number_unsigned())
      return Wrong(where + "." + name, "no whole number from 0 on");
    (*to)[name] = *it;
  }
  return Status::OK();
}

// within: prefix of its name.
Status TakeObject(const Json& from, const std::string& name, Names numbers, Json* to,
                  const std::string& within = "") {
  const auto it = from.find(name);
  if (it == from.end()) return Wrong(within + name, "not there");
  Json object = Json::object();
  LAVA_RETURN_IF_ERROR(Take(*it, within + name, numbers, {}, &object));
  (*to)[name] = std::move(object);
  return Status::OK();
}

Status TakeRows(const Json& page, const char* name, Names numbers, Names texts, Json* to) {
  const auto it = page.find(name);
  if (it == page.end() || !it->is_array()) return Wrong(name, "no array");
  Json rows = Json::array();
  for (const Json& row : *it) {
    Json taken = Json::object();
    const std::string where = std::string(name) + "[" + std::to_string(rows.size()) + "]";
    LAVA_RETURN_IF_ERROR(Take(row, where, numbers, texts, &taken));
    rows.push_back(std::move(taken));
  }
  (*to)[name] = std::move(rows);
  return Status::OK();
}

Status TakeRatio(const Json& page, Json* to) {
  const Json& cache = page["cache"];
  const auto it = cache.find("hit_ratio_lately");
  Json ratio;
  if (it != cache.end() && !it->is_null()) {
    if (!it->is_number() || !(it->get<double>() >= 0 && it->get<double>() <= 1))
      return Wrong("cache.hit_ratio_lately", "no number from 0 to 1");
    ratio = it->get<double>();
  }
  (*to)["cache"]["hit_ratio_lately"] = ratio;
  return Status::OK();
}

Status TakePage(const Json& page, Json* to) {
  constexpr const char* kVersion[] = {"format"};
  constexpr const char* kTexts[] = {"library"};
  Json version;
  LAVA_RETURN_IF_ERROR(Take(page, "page", kVersion, {}, &version));
  if (version["format"] != kFormat)
    return Status::NotSupported("format " + version["format"].dump() +
                                " of a page on a host is not known");
  LAVA_RETURN_IF_ERROR(Take(page, "page", kHead, kTexts, to));
  const uint64_t pid = (*to)["pid"].get<uint64_t>();
  if (pid == 0 || pid > uint64_t{std::numeric_limits<int32_t>::max()})
    return Wrong("page.pid", "no process's number");
  LAVA_RETURN_IF_ERROR(TakeObject(page, "memory", kMemory, to));
  LAVA_RETURN_IF_ERROR(TakeObject(page, "cache", kCache, to));
  for (const char* segment : kSegments)
    LAVA_RETURN_IF_ERROR(TakeObject(page["cache"], segment, kSegment, &(*to)["cache"], "cache."));
  LAVA_RETURN_IF_ERROR(TakeRatio(page, to));
  LAVA_RETURN_IF_ERROR(TakeObject(page, "space", kSpace, to));
  LAVA_RETURN_IF_ERROR(TakeObject(page, "background", kBackground, to));
  LAVA_RETURN_IF_ERROR(TakeRows(page, "volumes", kVolume, kVolumeTexts, to));
  return TakeRows(page, "instances", kInstance, kInstanceTexts, to);
}

void TakeAge(const HostClock& clock, Json* page) {
  const uint64_t written_ms = (*page)["written_ms"].get<uint64_t>();
  const uint64_t age_ms = clock.now_ms - std::min(clock.now_ms, written_ms);
  (*page)["age_ms"] = age_ms;
  if (!clock.lives((*page)["pid"].get<uint64_t>())) {
    (*page)["process"] = "is gone: this is its past";
  } else if (age_ms / kLateIntervals > (*page)["interval_ms"].get<uint64_t>()) {
    (*page)["process"] = "is late, or another has its number: this is the past";
  } else {
    (*page)["process"] = "runs";
  }
}

Result<Json> ReadPage(ReadOnlyFiles* files, const std::string& path, const HostClock& clock) {
  const Result<std::string> text = files->ReadWhole(path, kPageBytesMax);
  if (!text.ok()) return text.status();
  Json parsed;
  try {
    parsed = Json::parse(text.value());
  } catch (const Json::parse_error& error) {
    return Status::Corruption("no JSON at offset " + std::to_string(error.byte));
  } catch (const Json::exception&) {  // a number that fits no type
    return Status::Corruption("no JSON that can be held");
  }
  Json page;
  page["path"] = path;
  LAVA_RETURN_IF_ERROR(TakePage(parsed, &page));
  TakeAge(clock, &page);
  return page;
}

bool IsPageName(const std::string& name) {
  return name.starts_with("lava-host-") && name.ends_with(".json");
}

}  // namespace

HostClock HostClock::OfSystem() {
  return {.now_ms = static_cast<uint64_t>(os::WallMillis()), .lives = [](uint64_t pid) {
            return kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM;
          }};
}

Result<Json> HostReport(ReadOnlyFiles* files, const std::string& given, const HostClock& clock) {
  std::string path = given;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  std::vector<std::string> pages;
  const Result<std::vector<std::string>> names = files->List(path);
  if (!names.ok()) {
    LAVA_RETURN_IF_ERROR(files->FileSize(path).status());
    pages.push_back(path);
  } else {
    for (const std::string& name : names.value())
      if (IsPageName(name)) pages.push_back(path + "/" + name);
    if (pages.empty())
      return Status::NotFound(path + ": no page on a host (lava-host-*.json) here");
  }
  std::sort(pages.begin(), pages.end());
  Json report{{"command", "host"}, {"hosts", Json::array()}};
  std::vector<Fault> faults;
  for (const std::string& page : pages) {
    Result<Json> read = ReadPage(files, page, clock);
    // A page is removed with its process's last backend, possibly just now.
    if (names.ok() && read.status().IsNotFound()) continue;
    if (read.ok())
      report["hosts"].push_back(std::move(read).value());
    else
      faults.push_back(FaultOf(page, read.status()));
  }
  report["faults"] = ToJson(faults);
  report["notes"] = Json::array();
  return report;
}

}  // namespace lava::inspect

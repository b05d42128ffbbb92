// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "bench/cache/trace.h"

#include <cstdio>
#include <cstdlib>
#include <unordered_set>

namespace lava::bench {
namespace {

[[noreturn]] void Fail(const std::string& path) {
  std::fprintf(stderr, "cannot read or write %s\n", path.c_str());
  std::exit(1);
}

}  // namespace

void Trace::Save(const std::string& path) const {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) Fail(path);
  const size_t written = std::fwrite(events.data(), sizeof(TraceEvent), events.size(), file);
  if (std::fclose(file) != 0 || written != events.size()) Fail(path);
}

Trace Trace::Load(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) Fail(path);
  Trace trace;
  std::vector<TraceEvent> page(1 << 16);
  for (size_t read; (read = std::fread(page.data(), sizeof(TraceEvent), page.size(), file)) > 0;)
    trace.events.insert(trace.events.end(), page.begin(), page.begin() + read);
  std::fclose(file);
  return trace;
}

Footprint Trace::footprint() const {
  std::unordered_set<uint64_t> seen;
  Footprint out;
  for (const TraceEvent& event : events) {
    if (event.kind != TraceEvent::Kind::kAccess) continue;
    if (!seen.insert(uint64_t{event.file} << 40 ^ event.offset).second) continue;
    ++out.blocks;
    out.bytes += event.bytes;
    if (event.segment == BlockCache::Segment::kIndex) out.index_bytes += event.bytes;
  }
  return out;
}

}  // namespace lava::bench

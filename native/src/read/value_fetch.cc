// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "read/value_fetch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/value_reference.h"
#include "fs/gathered_reads.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/blob_locations.h"
#include "manifest/version.h"
#include "memory/memory_counter.h"
#include "read/readers.h"
#include "read/version_lookup.h"
#include "value/scan_ahead.h"

namespace lava {
namespace {

// A gap up to this size is cheaper to read along than to skip with a separate read.
constexpr uint64_t kGapBytesMax = 16 << 10;
// Repeated iterations over a few entries need the cache; long scans must not fill it.
constexpr size_t kCachedEntriesMax = 16;
// Bytes read at once, normally and while memory is short: a scan never fails for lack of memory.
constexpr uint64_t kBatchBytesMax = 1 << 20, kPoorBatchBytesMax = 64 << 10;

std::span<const BlobLocation> LocationsOf(const Version& version, const ValueReference& reference) {
  const auto blob_file = version.blob_files.find(reference.blob_file);
  if (blob_file == version.blob_files.end()) return {};
  return blob_file->second->locations;
}

}  // namespace

ValueFetch::ValueFetch(const Version& version, MemoryCounter* counter)
    : version_(version), counter_(counter), reads_({.gap_bytes_max = kGapBytesMax}) {}

Status ValueFetch::CheckSize(const ValueReference& reference) const {
  constexpr uint64_t kTrustedBytes = 1 << 20;
  // References in a memtable were never read from a file, so they cannot be damaged.
  if (reference.raw_bytes <= kTrustedBytes || reference.is_logged()) return Status::OK();
  for (const BlobLocation& at : LocationsOf(version_, reference))
    if (reference.raw_bytes <= at.file->raw_bytes) return Status::OK();
  return Status::Corruption("a reference to a value that was first written in " +
                            reference.blob_file.ValueFileName() + " speaks of " +
                            std::to_string(reference.raw_bytes) +
                            " bytes, more than its file has: restore from a checkpoint");
}

void ValueFetch::Add(Slice key, const ValueReference& reference, uint64_t offset) {
  wanted_.push_back({.key_offset = keys_.size(),
                     .key_bytes = static_cast<uint32_t>(key.size()),
                     .reference = reference,
                     .offset = offset,
                     .handle = {}});
  keys_.append(key);
}

Status ValueFetch::Run(char* to) {
  fill_cache_ = wanted_.size() <= kCachedEntriesMax;
  for (Wanted& wanted : wanted_) elsewhere_.push_back(&wanted);
  // One round as a rule; more when the fingerprint of another key led to the wrong place.
  for (bool first = true; !elsewhere_.empty(); first = false) {
    LAVA_RETURN_IF_ERROR(LocateAll(to));
    if (first && pages_left_) LAVA_RETURN_IF_ERROR(TakeAhead(to));
    LAVA_RETURN_IF_ERROR(ReadAll(to));
  }
  wanted_.clear();
  keys_.clear();
  return Status::OK();
}

Status ValueFetch::LocateAll(char* to) {
  order_.clear();
  for (Wanted* wanted : elsewhere_) {
    bool cached = false;
    LAVA_RETURN_IF_ERROR(Locate(wanted, to, &cached));
    if (!cached) order_.push_back(wanted);
  }
  elsewhere_.clear();
  std::sort(order_.begin(), order_.end(), [](const Wanted* a, const Wanted* b) {
    return a->reader != b->reader ? std::less<>()(a->reader, b->reader)
                                  : a->handle.offset < b->handle.offset;
  });
  return Status::OK();
}

Status ValueFetch::Locate(Wanted* wanted, char* to, bool* cached) {
  const ValueReference& reference = wanted->reference;
  const Slice key = KeyOf(*wanted);
  const std::span<const BlobLocation> locations = LocationsOf(version_, reference);
  while (wanted->next_location < locations.size()) {
    const BlobLocation& at = locations[wanted->next_location++];
    if (key < at.lower || key >= at.upper) continue;
    LAVA_ASSIGN_OR_RETURN(wanted->reader, RequireReader(*at.file));
    const Status located = wanted->reader->Locate(key, reference.blob_file, &wanted->handle);
    if (located.IsNotFound()) continue;
    LAVA_RETURN_IF_ERROR(located);
    Result<bool> copied = wanted->reader->CopyCached(wanted->handle, key, reference.blob_file,
                                                     reference.raw_bytes, to + wanted->offset);
    if (!copied.ok() && copied.status().IsNotFound()) continue;
    LAVA_RETURN_IF_ERROR(copied.status());
    *cached = *copied;
    return Status::OK();
  }
  return ValueIsLost(reference);
}

// Takes values that the previous page has read ahead, and leaves the others in order_.
Status ValueFetch::TakeAhead(char* to) {
  size_t left = 0;
  for (size_t begin = 0, end; begin < order_.size(); begin = end) {
    const ValueReader* const reader = order_[begin]->reader;
    for (end = begin + 1; end < order_.size() && order_[end]->reader == reader;) ++end;
    ScanAhead::Page page;
    if (ScanAhead* const ahead = reader->ahead(); ahead != nullptr) {
      const ValueHandle& last = order_[end - 1]->handle;
      page = ahead->Begin(order_[begin]->handle.offset, last.offset + last.bytes, *pages_left_);
    }
    for (size_t i = begin; i < end; ++i) {
      Wanted* const wanted = order_[i];
      const Slice records = page.Find(wanted->handle.offset, wanted->handle.bytes);
      if (records.empty()) {
        order_[left++] = wanted;
      } else {
        LAVA_RETURN_IF_ERROR(Take(wanted, records, to));
      }
    }
    if (page.ahead_bytes() > 0) aheads_.push_back({reader, std::move(page)});
  }
  order_.resize(left);
  return Status::OK();
}

Status ValueFetch::ReadAll(char* to) {
  uint64_t bytes = 0;
  for (const Wanted* wanted : order_) bytes += wanted->handle.bytes;
  for (const Ahead& ahead : aheads_) bytes += ahead.page.ahead_bytes();
  ScopedCharge memory;
  const bool granted = counter_ == nullptr || memory.Try(counter_, std::min(bytes, kBatchBytesMax));
  reads_.SetBatchBytesMax(granted ? kBatchBytesMax : kPoorBatchBytesMax);
  if (!granted) aheads_.clear();
  std::vector<fs::FileRange> ranges;
  struct Use {
    Wanted* wanted;      // either a value
    const Ahead* ahead;  // or data for the next page
  };
  std::vector<Use> uses;
  ranges.reserve(order_.size() + aheads_.size());
  uses.reserve(order_.size() + aheads_.size());
  auto ahead = aheads_.cbegin();
  for (size_t i = 0; i < order_.size(); ++i) {
    Wanted* const wanted = order_[i];
    ranges.push_back({&wanted->reader->file(), wanted->handle.offset, wanted->handle.bytes});
    uses.push_back({wanted, nullptr});
    const bool is_last = i + 1 == order_.size() || order_[i + 1]->reader != wanted->reader;
    if (!is_last || ahead == aheads_.cend() || ahead->reader != wanted->reader) continue;
    ranges.push_back({&wanted->reader->file(), ahead->page.end(), ahead->page.ahead_bytes()});
    uses.push_back({nullptr, &*ahead++});
  }
  for (size_t begin = 0; begin < ranges.size();) {
    const size_t count = reads_.Read(std::span(ranges).subspan(begin));
    const Use& first = uses[begin];
    (first.wanted != nullptr ? first.wanted->reader : first.ahead->reader)
        ->CountReads(reads_.pieces(), reads_.bytes_read());
    for (size_t i = 0; i < count; ++i) {
      const Use& use = uses[begin + i];
      if (use.wanted != nullptr) {
        LAVA_RETURN_IF_ERROR(reads_.status(i));
        LAVA_RETURN_IF_ERROR(Take(use.wanted, reads_.bytes(i), to));
      } else if (reads_.status(i).ok()) {
        use.ahead->reader->ahead()->Keep(use.ahead->page, reads_.bytes(i));
      }
    }
    begin += count;
  }
  aheads_.clear();
  reads_.Clear();
  return Status::OK();
}

Status ValueFetch::Take(Wanted* wanted, Slice records, char* to) {
  const ValueReference& reference = wanted->reference;
  const Status status =
      wanted->reader->CopyFrom(records, wanted->handle, KeyOf(*wanted), reference.blob_file,
                               fill_cache_, reference.raw_bytes, to + wanted->offset);
  if (!status.IsNotFound()) return status;
  elsewhere_.push_back(wanted);
  return Status::OK();
}

}  // namespace lava

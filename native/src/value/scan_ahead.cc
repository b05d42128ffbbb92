// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/scan_ahead.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/mutex.h"
#include "cache/block_cache.h"
#include "memory/large_memory.h"

namespace lava {
namespace {

struct PieceAhead final : CachedBlock {
  size_t charge() const override { return sizeof(*this) + AllocatedBytes(bytes.capacity() + 1); }
  std::string bytes;
};

}  // namespace

// Each of many overlapping files may have a piece, and the cache has other uses.
uint64_t ScanAhead::AheadBytesMax() const {
  return std::min(kPieceBytesMax, cache_->capacity_bytes() / 64);
}

// Returns null if no scan ended its last page shortly before begin.
ScanAhead::Stream* ScanAhead::StreamAt(uint64_t begin) {
  Stream* nearest = nullptr;
  for (Stream& stream : streams_) {
    if (stream.passed == 0 || begin < stream.next) continue;
    if (begin - stream.next > kStepBytesMax) continue;
    if (nearest == nullptr || stream.next > nearest->next) nearest = &stream;
  }
  return nearest;
}

ScanAhead::Page ScanAhead::Begin(uint64_t begin, uint64_t end, double pages_left) {
  Page page;
  page.end_ = end;
  const uint64_t span = std::max<uint64_t>(end - begin, 1);
  MutexLock lock(&mutex_);
  Stream* stream = StreamAt(begin);
  const bool known = stream != nullptr;
  bool lost = false;
  if (!known) {
    stream = &*std::min_element(streams_.begin(), streams_.end(),
                                [](const Stream& a, const Stream& b) { return a.used < b.used; });
    Forget(stream);
    stream->passed = 0;
  } else if (stream->piece_bytes > 0) {
    page.pin_ = cache_->Peek(KeyOf(stream->piece_offset), BlockCache::Segment::kData);
    lost = page.pin_ == nullptr;
    if (!lost) {
      page.piece_ = static_cast<const PieceAhead&>(*page.pin_).bytes;
      page.piece_offset_ = stream->piece_offset;
    }
  }
  page.stream_ = static_cast<size_t>(stream - streams_.data());
  stream->used = ++pages_;
  stream->next = end;
  stream->passed += span;
  if (!known || page.piece_offset_ + page.piece_.size() >= end) return page;
  Forget(stream);
  const auto wanted = static_cast<uint64_t>(static_cast<double>(span) * pages_left);
  page.ahead_bytes_ = std::min({lost ? span / 4 : stream->passed / 2, wanted, AheadBytesMax(),
                                records_end_ - std::min(end, records_end_)});
  return page;
}

void ScanAhead::Forget(Stream* stream) {
  if (stream->piece_bytes > 0)
    cache_->Erase(KeyOf(stream->piece_offset), BlockCache::Segment::kData);
  stream->piece_bytes = 0;
}

void ScanAhead::Keep(const Page& page, Slice bytes) {
  auto piece = std::make_shared<PieceAhead>();
  piece->bytes.assign(bytes.data(), bytes.size());
  MutexLock lock(&mutex_);
  Stream& stream = streams_[page.stream_];
  if (stream.next != page.end_ || stream.piece_bytes > 0) return;  // another page took its place
  stream.piece_offset = page.end_;
  stream.piece_bytes = bytes.size();
  (void)cache_->Insert(KeyOf(page.end_), BlockCache::Segment::kData, std::move(piece), use_);
}

}  // namespace lava

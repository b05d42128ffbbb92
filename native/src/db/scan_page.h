// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <string>

#include "base/internal_key.h"
#include "lava/db.h"

namespace lava {

/// Fills one page of a scan.
/// Threads:    one.
/// Ownership:  borrows request and page.
class ScanPageWriter {
 public:
  ScanPageWriter(const ScanRequest& request, uint32_t partition_bytes, ScanPage* page)
      : request_(request),
        partition_bytes_(partition_bytes),
        page_(page),
        // If the last key is not kept, the skipped bytes are those of the prefix.
        keep_last_(request.skip_key_bytes > request.prefix_bytes) {
    // Copied, because the bounds may point into the page that is cleared below.
    if (!keep_last_) skipped_ = request.lower.substr(0, request.skip_key_bytes);
    page_->bytes.clear();
    page_->entries = 0;
    page_->done = false;
    page_->last_key.clear();
  }

  uint32_t entries_left() const { return request_.entries_max - page_->entries; }
  /// Whether the page continues an earlier page of the scan.
  bool goes_on() const { return request_.lower_exclusive; }
  /// The number of pages of this size that the rest of the request would fill.
  double pages_left() const {
    return static_cast<double>(entries_left()) / std::max(page_->entries, 1u);
  }

  bool Fits(Slice internal_key, uint64_t value_bytes) const {
    if (page_->entries >= request_.entries_max) return false;
    return page_->entries == 0 ||
           beside_ + page_->bytes.size() + 8 + KeyBytes(internal_key) + value_bytes <=
               request_.bytes_max;
  }
  /// Sets the bytes of the page outside of its entries. They also count towards bytes_max.
  void SetBeside(uint64_t bytes) { beside_ = bytes; }

  /// False: the page is full, and the entry was not added.
  bool Add(Slice internal_key, Slice value) {
    if (!AddKey(internal_key, value.size())) return false;
    page_->bytes.append(value);
    return true;
  }
  /// As Add(), but the caller copies the value to the page afterwards: value_bytes bytes at
  /// *offset.
  bool Reserve(Slice internal_key, uint64_t value_bytes, uint64_t* offset) {
    if (!AddKey(internal_key, value_bytes)) return false;
    *offset = page_->bytes.size();
    page_->bytes.resize(*offset + value_bytes);
    return true;
  }
  char* bytes() { return page_->bytes.data(); }
  void Finish(bool done) {
    page_->done = done;
    if (page_->entries == 0) return;
    if (keep_last_) return AppendUserKey(last_, partition_bytes_, 0, &page_->last_key);
    page_->last_key = skipped_;
    page_->last_key.append(page_->bytes, last_offset_, last_bytes_);
  }

 private:
  bool AddKey(Slice internal_key, size_t value_bytes) {
    if (!Fits(internal_key, value_bytes)) return false;
    const size_t key_bytes = KeyBytes(internal_key);
    const size_t skip = internal_key.size() - kTableIdBytes - key_bytes;
    const uint32_t header[2] = {__builtin_bswap32(static_cast<uint32_t>(key_bytes)),
                                __builtin_bswap32(static_cast<uint32_t>(value_bytes))};
    page_->bytes.append(reinterpret_cast<const char*>(header), sizeof(header));
    last_offset_ = page_->bytes.size();
    last_bytes_ = key_bytes;
    AppendUserKey(internal_key, partition_bytes_, skip, &page_->bytes);
    ++page_->entries;
    if (keep_last_) last_.assign(internal_key);
    return true;
  }
  // The bytes of the user key in an entry: all but the skipped ones.
  size_t KeyBytes(Slice internal_key) const {
    const size_t user_bytes = internal_key.size() - kTableIdBytes;
    return user_bytes - std::min<size_t>(request_.skip_key_bytes, user_bytes);
  }

  const ScanRequest& request_;
  const uint32_t partition_bytes_;
  ScanPage* const page_;
  const bool keep_last_;
  uint64_t beside_ = 0;
  size_t last_offset_ = 0, last_bytes_ = 0;  // position and length of the last key in the page
  std::string last_;                         // the last internal key, if keep_last_
  std::string skipped_;                      // the skipped bytes of all keys, unless keep_last_
};

}  // namespace lava

#pragma once

#include <cstring>

#include "base/coding.h"
#include "db/internal_key.h"
#include "lava/db.h"

namespace lava {

/// Fills one page of a scan.
/// Threads:    one.
/// Ownership:  borrows request and page.
class ScanPageWriter {
 public:
  ScanPageWriter(const ScanRequest& request, uint32_t partition_bytes, ScanPage* page)
      : request_(request), partition_bytes_(partition_bytes), page_(page) {
    page_->bytes.clear();
    page_->entries = 0;
    page_->done = false;
    page_->last_key.clear();
  }

  uint32_t entries_left() const { return request_.entries_max - page_->entries; }

  /// False when the page is full and the entry was not taken.
  bool Add(Slice internal_key, Slice value) {
    if (page_->entries >= request_.entries_max) return false;
    const size_t user_bytes = internal_key.size() - kTableIdBytes;
    const size_t skip = std::min<size_t>(request_.skip_key_bytes, user_bytes);
    const size_t key_bytes = user_bytes - skip;
    if (page_->entries > 0 &&
        page_->bytes.size() + 8 + key_bytes + value.size() > request_.bytes_max)
      return false;
    char header[8];
    EncodeBigEndian(header, key_bytes, 4);
    EncodeBigEndian(header + 4, value.size(), 4);
    page_->bytes.append(header, sizeof(header));
    AppendUserKey(internal_key, partition_bytes_, skip, &page_->bytes);
    page_->bytes.append(value);
    ++page_->entries;
    last_.assign(internal_key);
    return true;
  }
  void Finish(bool done) {
    page_->done = done;
    if (page_->entries > 0) AppendUserKey(last_, partition_bytes_, 0, &page_->last_key);
  }

 private:
  const ScanRequest& request_;
  const uint32_t partition_bytes_;
  ScanPage* const page_;
  std::string last_;
};

}  // namespace lava

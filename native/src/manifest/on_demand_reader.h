// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <memory>

#include "base/check.h"

namespace lava {

/// The open reader of a file. A restore may name files that it has not fetched yet; the reader of
/// such a missing file comes when the file has arrived.
/// Threads:    any. get() takes no lock.
/// Ownership:  owns the reader.
template <typename Reader>
class OnDemandReader {
 public:
  OnDemandReader() = default;
  OnDemandReader(const OnDemandReader&) = delete;
  OnDemandReader& operator=(const OnDemandReader&) = delete;

  /// Only the first call counts: a reader stays until the file's description goes.
  void Set(std::shared_ptr<Reader> reader) {
    LAVA_CHECK(reader != nullptr);
    Reader* none = nullptr;
    if (reader_.compare_exchange_strong(none, reader.get(), std::memory_order_acq_rel))
      owned_ = std::move(reader);
  }
  /// Null while the file is missing.
  Reader* get() const { return reader_.load(std::memory_order_acquire); }

  /// The file is missing again. Only for tests: nobody may use the reader.
  std::shared_ptr<Reader> TakeForTest() {
    reader_.store(nullptr, std::memory_order_release);
    return std::move(owned_);
  }

 private:
  std::atomic<Reader*> reader_{nullptr};
  std::shared_ptr<Reader> owned_;  // written by the call that changed reader_
};

}  // namespace lava

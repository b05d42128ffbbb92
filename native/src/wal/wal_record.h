// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava {

/// A record of the write-ahead log: the changes of one call, by internal keys, in the order of the
/// call.
/// Threads:    one at a time.
class WalRecord {
 public:
  enum class Kind : uint8_t {
    kPut = 1,
    kDelete = 2,
    kAppend = 3,
    kDeletePrefix = 4,
    kDeleteRange = 5,  // key: the beginning of the range; value: the end
    kPutReference =
        6,           // value: a reference to a value log segment; only older logs have such changes
    kPutLogged = 7,  // value: the file system's boot() at the write, or kSynced; a reference
    kDropTable = 8,  // key: the first key that the table could have in partition 0
    kCreateTable = 9,  // key: as kDropTable; value: an edit of the manifest with the registration
  };
  struct Change {
    Kind kind = Kind::kPut;
    uint32_t prefix_bytes = 0;
    Slice key, value;  // borrow from the record
  };

  /// Instead of a boot(): the value was on the device before the record was written.
  static constexpr uint64_t kSynced = UINT64_MAX;

  void Clear() { bytes_.clear(); }
  void Add(Kind kind, Slice internal_key, uint32_t prefix_bytes, Slice value);
  /// Adds a kPutLogged change. boot: of the file system, or kSynced.
  void AddLogged(Slice internal_key, uint32_t prefix_bytes, uint64_t boot, Slice reference);
  Slice bytes() const { return bytes_; }

  /// Takes one change off the front of *in. Errors: Corruption.
  static Status Take(Slice* in, Change* change);

 private:
  std::string bytes_;
};

}  // namespace lava

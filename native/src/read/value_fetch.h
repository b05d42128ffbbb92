// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/value_reference.h"
#include "fs/gathered_reads.h"
#include "manifest/version.h"
#include "memory/memory_counter.h"
#include "value/value_reader.h"

namespace lava {

/// Fetches many values at once, for a page of a scan. Neighbouring values in a file come in one
/// read, and the reads of all files are issued together. Small gaps between wanted values are read
/// along because separate reads would cost more.
/// Threads:    one thread.
/// Ownership:  the version and the counter must outlive this object.
class ValueFetch {
 public:
  /// counter: charged for the read buffers; if it refuses, smaller reads are made. Null: no charge.
  explicit ValueFetch(const Version& version, MemoryCounter* counter = nullptr);

  /// Corruption if the reference names more bytes than its file has. Call before allocating memory.
  Status CheckSize(const ValueReference& reference) const;
  /// The value of key goes to the reference's raw_bytes bytes at `offset` of Run()'s buffer.
  void Add(Slice key, const ValueReference& reference, uint64_t offset);
  /// For a page that follows another page of the same scan. Up to pages_left more pages of this
  /// size may follow; their values are read ahead into the cache.
  void GoesOn(double pages_left) { pages_left_ = pages_left; }
  /// Fetches all added values, and forgets them. Beside the values it holds at most 1 MiB of read
  /// data, or one value if that is larger.
  /// Errors:     as ReadValue(); the contents of `to` are then undefined.
  Status Run(char* to);
  bool empty() const { return wanted_.empty(); }

 private:
  struct Wanted {
    uint64_t key_offset;
    uint32_t key_bytes;
    ValueReference reference;
    uint64_t offset;
    size_t next_location = 0;  // the next location of the blob file to ask
    const ValueReader* reader = nullptr;
    ValueHandle handle;
  };
  Slice KeyOf(const Wanted& wanted) const {
    return Slice(keys_).substr(wanted.key_offset, wanted.key_bytes);
  }
  Status LocateAll(char* to);
  Status Locate(Wanted* wanted, char* to, bool* cached);
  Status TakeAhead(char* to);
  Status ReadAll(char* to);
  Status Take(Wanted* wanted, Slice records, char* to);

  const Version& version_;
  MemoryCounter* const counter_;
  std::optional<double> pages_left_;
  std::string keys_;
  std::vector<Wanted> wanted_;
  bool fill_cache_ = false;
  std::vector<Wanted*> order_;      // values to read, by file and offset
  std::vector<Wanted*> elsewhere_;  // values that were not where their key seemed to be
  struct Ahead {
    const ValueReader* reader;
    ScanAhead::Page page;
  };
  std::vector<Ahead>
      aheads_;  // to be read after the values in order_ of the same readers, in its order
  fs::GatheredReads reads_;
};

}  // namespace lava

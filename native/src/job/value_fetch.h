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

/// Fetches the values of many keys at once, of a scan's page: values that stand near each other in
/// a file come in one read, and reads of all files go out together. What is between them and of
/// no use comes along where a read of its own would cost more.
/// Threads:    one thread.
/// Ownership:  the version must outlive it, and so must the counter.
class ValueFetch {
 public:
  /// counter: charged with what is read at once; when it refuses, less is. Null: not charged.
  explicit ValueFetch(const Version& version, MemoryCounter* counter = nullptr);

  /// Corruption when the reference speaks of more bytes than there can be: before room is made.
  Status CheckSize(const ValueReference& reference) const;
  /// The value of key goes to the reference's raw_bytes bytes at `offset` of what Run() is given.
  void Add(Slice key, const ValueReference& reference, uint64_t offset);
  /// For a page of a scan of which another one was before: so many as large as it may come, and
  /// what they will want is read along, into the cache.
  void GoesOn(double pages_left) { pages_left_ = pages_left; }
  /// Fetches all that was added, and forgets it. Beside the values it holds at most 1 MiB of what
  /// it reads, or one value if that is more.
  /// Errors:     as ReadValue(); what `to` then holds is undefined.
  Status Run(char* to);
  bool empty() const { return wanted_.empty(); }

 private:
  struct Wanted {
    uint64_t key_offset;
    uint32_t key_bytes;
    ValueReference reference;
    uint64_t offset;
    size_t next_place = 0;  // of the birth's, that was not asked yet
    const ValueReader* reader = nullptr;
    ValuePlace place;
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
  std::vector<Wanted*> order_;      // what must be read, by file and offset
  std::vector<Wanted*> elsewhere_;  // what was not where its key seemed to be
  struct Ahead {
    const ValueReader* reader;
    ScanAhead::Page page;
  };
  std::vector<Ahead>
      aheads_;  // to be read behind what order_ has of the same readers, in its order
  fs::GatheredReads reads_;
};

}  // namespace lava

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "manifest/version.h"
#include "memory/memory_counter.h"
#include "value_log/value_log_segment.h"

namespace lava {

/// A segment of the changelog that the instance shares with the layer above it (XLL 3). It holds
/// that layer's entries; an entry may end with a value of this instance. The segment can be ended
/// at any moment, so that the layer above can upload it unchanged. The index of the segment names
/// the last value put to each key and all values appended to lists; each value appended to a list
/// has a blob file of its own.
///
/// Threads:    AppendEntry() from one thread at a time, and not after End(); End() from any thread.
/// Ownership:  the file system and the counter must outlive the segment. The destructor does not
///             remove the file.
class ChangelogSegment final : public ValueLogSegment {
 public:
  /// id: the segment owns kLogBlobFilesMax file numbers from id.number on.
  static Result<std::shared_ptr<ChangelogSegment>> Create(fs::FileSystem* file_system,
                                                          std::string path, const FileId& id,
                                                          const ValueLogOptions& options,
                                                          MemoryCounter* counter);
  ~ChangelogSegment() override;

  /// A value at the end of an entry.
  struct Value {
    Slice key;  // internal
    Slice bytes;
    uint32_t inline_bytes = 0;  // leading bytes that are not part of the entry
    uint64_t table = 0;
    std::optional<uint64_t> timestamp;
    bool appended = false;  // to a list: values that were put or appended before stay alive
  };
  /// False when the segment cannot hold another value that is appended to this list.
  bool HasBlobFileFor(Slice key) const;
  /// value: null if no value ends the entry. The entry is the head, followed by the value's bytes
  /// from inline_bytes on. sequence, skipped: as vsst::ChangelogEntryHead. *entry: the location of
  /// the entry. Errors: those of ValueLogWriter; later calls then fail, too.
  Status AppendEntry(uint64_t sequence, uint64_t skipped, Slice head, const Value* value,
                     bool synced, LoggedRecord* entry, ValueReference* reference);
  /// Removes the value of the last AppendEntry() from the index because it was not put after all.
  /// The entry stays. Threads: as AppendEntry().
  void Withdraw() {
    LAVA_DCHECK(!named_.empty());
    named_.pop_back();
  }

  /// Makes the segment a complete value file. Later calls return the result of the first one.
  /// Errors: as ValueLogWriter::Finish(); the values in the segment can still be read.
  Status End() LAVA_EXCLUDES(end_mutex_);
  /// Only after End() returned OK.
  const ValueFileProperties& properties() const { return properties_; }
  const std::map<uint64_t, TableShare>& tables() const { return tables_; }

 private:
  // The location of a value, for the index.
  struct Named {
    uint64_t key_offset;
    uint32_t key_bytes;
    LoggedRecord record;
    uint64_t table;
    std::optional<uint64_t> timestamp;
  };
  ChangelogSegment(fs::FileSystem* file_system, std::string path, const FileId& id,
                   MemoryCounter* counter)
      : ValueLogSegment(file_system, std::move(path), id, kLogBlobFilesMax), counter_(counter) {}
  Status WriteIndex() LAVA_REQUIRES(end_mutex_);
  void Charge();
  Slice KeyOf(const Named& named) const {
    return Slice(keys_).substr(named.key_offset, named.key_bytes);
  }

  MemoryCounter* const counter_;
  std::string head_, keys_;
  std::vector<Named> named_;  // in the order in which they were put
  // Number of values appended to a list, by the hash of the list's key. Lists with equal hashes
  // share blob files, so each of them gets fewer.
  std::unordered_map<uint64_t, uint32_t> appended_;
  uint64_t charged_ = 0;

  Mutex end_mutex_;
  std::optional<Status> ended_ LAVA_GUARDED_BY(end_mutex_);
  // Written by the first End() only, and read after it.
  ValueFileProperties properties_;
  std::map<uint64_t, TableShare> tables_;
};

}  // namespace lava

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "job/log_segment.h"
#include "manifest/version.h"
#include "memory/memory_counter.h"

namespace lava {

/// A segment of an instance's log that another layer shares (XLL 3): its entries, of which values
/// of this instance may be the ends. It can be ended at any moment, so that the other layer can
/// bring it away as it is; its index names the last value of each key that was put there, and all
/// that were appended to lists: of one key each of them has a birth of its own.
/// Threads:    AppendEntry() from one at a time, and not once End() was called; that from any.
/// Ownership:  the file system and the counter must outlive it. The file stays when it goes.
class EntrySegment final : public LogSegment {
 public:
  /// id: kLogBirthsMax numbers from its own on are the segment's.
  static Result<std::shared_ptr<EntrySegment>> Create(fs::FileSystem* file_system, std::string path,
                                                      const FileId& id,
                                                      const ValueLogOptions& options,
                                                      MemoryCounter* counter);
  ~EntrySegment() override;

  /// A value that ends an entry.
  struct Value {
    Slice key;  // internal
    Slice bytes;
    uint32_t inline_bytes = 0;  // of its front, which the entry has not
    uint64_t table = 0;
    std::optional<uint64_t> timestamp;
    bool appended = false;  // to a list, so that what was before lives, too
  };
  /// False when it has as many of the list as it may.
  bool HasBirthFor(Slice key) const;
  /// value: null when none ends it, or without its bytes from inline_bytes on, the entry's head.
  /// sequence, skipped: as vsst::EntryHead. *entry: where all of it is.
  /// Errors: those of ValueLogWriter; the segment takes no more then.
  Status AppendEntry(uint64_t sequence, uint64_t skipped, Slice head, const Value* value,
                     bool synced, LoggedRecord* entry, ValueReference* reference);
  /// The value of the last AppendEntry() was not put after all, so the index must not take it for
  /// its key's. The entry stays. Threads: as AppendEntry().
  void Withdraw() { named_.pop_back(); }

  /// It becomes a value file as it stands. The first call does it, later ones tell the same.
  /// Errors: as ValueLogWriter::Finish(); the values in it can still be read.
  Status End() LAVA_EXCLUDES(end_mutex_);
  /// Once End() was OK.
  const ValueFileProperties& properties() const { return properties_; }
  const std::map<uint64_t, TableShare>& tables() const { return tables_; }

 private:
  // A value's place, for the index.
  struct Named {
    uint64_t key_offset;
    uint32_t key_bytes;
    LoggedRecord record;
    uint64_t table;
    std::optional<uint64_t> timestamp;
  };
  EntrySegment(fs::FileSystem* file_system, std::string path, const FileId& id,
               MemoryCounter* counter)
      : LogSegment(file_system, std::move(path), id, kLogBirthsMax), counter_(counter) {}
  Status WriteIndex() LAVA_REQUIRES(end_mutex_);
  void Charge();
  Slice KeyOf(const Named& named) const {
    return Slice(keys_).substr(named.key_offset, named.key_bytes);
  }

  MemoryCounter* const counter_;
  std::string head_, keys_;
  std::vector<Named> named_;  // as they were put
  // Of lists, by the hashes of their keys: lists of one hash share births, of which there are fewer
  // for each then.
  std::unordered_map<uint64_t, uint32_t> appended_;
  uint64_t charged_ = 0;

  Mutex end_mutex_;
  std::optional<Status> ended_ LAVA_GUARDED_BY(end_mutex_);
  // Written by the first End() alone, and read behind it.
  ValueFileProperties properties_;
  std::map<uint64_t, TableShare> tables_;
};

}  // namespace lava

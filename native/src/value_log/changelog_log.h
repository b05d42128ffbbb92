// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/file_id.h"
#include "base/mutex.h"
#include "fs/file_system.h"
#include "lava/db.h"
#include "lava/options.h"
#include "lava/status.h"
#include "value/changelog_entry.h"
#include "value_log/changelog_segment.h"

namespace lava {

/// The changelog that an instance shares with the layer above it, such as Flink's (XLL 3;
/// docs/changelog.md): which changelog segments are held for that layer, the sequences of their
/// entries, and which entries are released. Entries have ascending sequences without gaps over all
/// segments; an entry that could not be written keeps its sequence, and the next entry says so. A
/// segment is held from its first entry on until all of its entries are released and no more come.
/// Threads:    any. One thread at a time calls BeginSegment(), EndSegment(), TakeSequence() and
///             Logged(), and one at a time calls FindReleased() and Drop(). Open() comes first,
///             before other threads use the changelog.
/// Ownership:  the file system must outlive the changelog. It shares the segments of this opening,
///             and names those of earlier openings. It removes no file: Drop() leaves that to its
///             caller.
/// Durability: none of its own. The caller stores the released position and passes it to Open().
class ChangelogLog {
 public:
  /// directory: the instance's. wal: with kNone no entry outlives the process; with kWalSync all
  /// acknowledged entries are on the device, with kWal all up to some entry.
  ChangelogLog(fs::FileSystem* file_system, std::string directory, WalMode wal)
      : file_system_(file_system), directory_(std::move(directory)), wal_(wal) {}
  ChangelogLog(const ChangelogLog&) = delete;
  ChangelogLog& operator=(const ChangelogLog&) = delete;

  /// Finds the segments of earlier openings. origin: of this opening's files. origins: of all
  /// openings of this instance; files of other origins came with a checkpoint, and their entries
  /// are not of this instance's changelog. released: the last released sequence; 0: none.
  /// Errors: Corruption, naming the file: an acknowledged entry is damaged or missing; IOError.
  Status Open(const Origin& origin, const std::vector<Origin>& origins, uint64_t released);

  /// Entries go to this new segment from now on.
  void BeginSegment(const std::shared_ptr<ChangelogSegment>& segment);
  /// No more entries go to the segment that was begun last.
  void EndSegment();
  struct Sequence {
    uint64_t number = 0;
    uint64_t skipped = 0;  // number of entries right before this one that failed
  };
  /// The sequence of the next entry. If writing the entry fails, it may nevertheless be in the
  /// file, so its sequence is not used again.
  Sequence TakeSequence();
  /// The entry that took the last sequence was written.
  void Logged();

  /// The sequence of the last entry, which may have failed; 0: none.
  uint64_t last_sequence() const;
  /// The name of a segment's file. number: see EntryLocation::segment.
  std::string NameOf(uint64_t number) const { return FileId{origin_, number}.ValueFileName(); }
  /// Whether the file of this name is a held segment, of this opening or an earlier one.
  bool Holds(const std::string& name) const;
  /// Makes a segment of this opening a complete value file; see DB::FinishEntries().
  Status Finish(uint64_t number);

  /// The layer above has stored all entries up to this sequence elsewhere. A lower sequence than
  /// that of an earlier call changes nothing.
  void Release(uint64_t through);
  struct Released {
    FileId id;
    bool of_earlier_opening = false;
    uint64_t first = 0;  // sequence
  };
  /// The held segments, oldest first, that are not needed for the layer above any more. They stay
  /// held until Drop().
  std::vector<Released> FindReleased() const;
  void Drop(const Released& segment);

  /// Reads the entry at a location. Errors: see DB::ReadEntry().
  Status Read(const EntryLocation& location, std::string* entry) const;
  /// Reads the value of an entry. Errors: see DB::ReadEntryValue().
  Status ReadValue(const EntryLocation& location, std::string* value) const;
  /// Passes the unreleased entries of earlier openings with sequences above `after` to entry(), in
  /// order; see DB::RecoverEntries().
  Status ReadEarlierOpenings(uint64_t after,
                             const std::function<Status(uint64_t, Slice)>& entry) const;

  /// Forgets all segments.
  void Clear();

 private:
  struct HeldSegment {
    FileId id;
    std::shared_ptr<ChangelogSegment> segment;  // null: of an earlier opening
    // The lowest sequence that may follow the last entry of the segment before. It is lower than
    // the sequence of this segment's first entry if entries between them failed.
    uint64_t follows = 0;
  };
  using HeldSegments = std::map<uint64_t, HeldSegment>;  // by the sequence of their first entry
  using EntryFunction = std::function<Status(uint64_t, Slice)>;
  struct Walk {
    uint64_t end = 0;   // the sequence after the last entry before which none is missing
    uint64_t seen = 0;  // the last sequence that is used, also after missing entries
  };

  std::string PathOf(const std::string& name) const { return directory_ + "/" + name; }
  Status FindSegments(const std::vector<Origin>& origins, HeldSegments* segments) const;
  Status FindFirstEntry(const FileId& id, HeldSegments* segments) const;
  Status JudgeEnd(const vsst::ChangelogEntryFileReader& reader, const Status& unsound) const;
  Status WalkSegments(const HeldSegments& segments, Walk* walk, const EntryFunction& entry) const;
  Status ReadBytes(const EntryLocation& location, std::string* bytes) const;
  void Hold(uint64_t first, HeldSegment segment) LAVA_REQUIRES(mutex_);

  fs::FileSystem* const file_system_;
  const std::string directory_;
  const WalMode wal_;
  Origin origin_;  // written by Open() only

  mutable Mutex mutex_;
  HeldSegments segments_ LAVA_GUARDED_BY(mutex_);
  std::set<std::string> names_ LAVA_GUARDED_BY(mutex_);  // of the files of segments_
  // The number of the segment that gets entries; 0: none.
  uint64_t current_ LAVA_GUARDED_BY(mutex_) = 0;
  uint64_t next_ LAVA_GUARDED_BY(mutex_) = 1;      // sequence of the next entry
  uint64_t skipped_ LAVA_GUARDED_BY(mutex_) = 0;   // entries right before the next one that failed
  uint64_t released_ LAVA_GUARDED_BY(mutex_) = 0;  // last sequence that was released
};

}  // namespace lava

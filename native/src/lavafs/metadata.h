// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lavafs/change.h"
#include "lavafs/names.h"

namespace lava::lavafs {

/// A file: tens of bytes, and 8 for each range of extents after the first.
struct Inode {
  uint64_t size = 0;
  ExtentRange first;                               // count 0: no extents
  std::unique_ptr<std::vector<ExtentRange>> more;  // null: none
  uint32_t links = 0;                              // names
  uint32_t opens : 30 = 0;                         // open readers and writers
  uint32_t used : 1 = 0;
  uint32_t open_ended : 1 = 0;
};

/// All metadata of a volume in memory: directories of one level, names, files and their extents. A
/// change is applied in the same way whether it is new or replayed.
/// Threads:    one at a time.
/// Errors:     Corruption for a change that does not fit the metadata.
class Metadata {
 public:
  /// numbers_max: most files, and most directories, that may exist.
  explicit Metadata(uint32_t numbers_max) : numbers_max_(numbers_max) {}

  /// Applies the change and adds the extents of files that vanished to *freed. kJump and kResume
  /// are not allowed. Errors: Corruption, with nothing changed.
  Status Apply(const Change& change, std::vector<ExtentRange>* freed);

  std::optional<uint32_t> FindDirectory(Slice name) const;
  std::vector<std::string> DirectoryNames() const;
  uint32_t FilesIn(uint32_t directory) const { return directories_[directory].names; }
  /// Names in no particular order.
  std::vector<std::string> List(uint32_t directory) const;
  std::optional<uint32_t> Find(uint32_t directory, Slice name) const;

  /// Unused numbers for the next file or directory; nullopt when the maximum has been reached.
  std::optional<uint32_t> FreeInode() const;
  std::optional<uint32_t> FreeDirectory() const;
  void SetMax(uint32_t numbers_max) { numbers_max_ = numbers_max; }

  const Inode& inode(uint32_t number) const { return inodes_[number]; }
  std::vector<ExtentRange> RangesOf(uint32_t number) const;
  uint64_t ExtentsOf(uint32_t number) const;
  /// Sets the size of contents that no change records yet.
  void SetSize(uint32_t number, uint64_t size) { inodes_[number].size = size; }
  /// An open file outlives its last name; the last Close() frees its extents.
  void Open(uint32_t number) { inodes_[number].opens++; }
  void Close(uint32_t number, std::vector<ExtentRange>* freed);

  /// Visits the changes that would make this metadata from nothing; files without a name are left
  /// out.
  void ForEachChange(const std::function<void(const Change&)>& visit) const;
  /// Files, including those without a name.
  uint32_t files() const { return files_; }
  /// Corruption when a file has no name, or is larger than its extents.
  Status CheckFiles(uint32_t extent_bytes) const;
  /// Memory of inodes, names and their index, without the allocator's overhead.
  uint64_t bytes() const;

 private:
  struct Directory {
    std::string name;
    uint32_t names = 0;
    uint32_t first = Names::kNone;
    bool used = false;
  };
  Status ApplyName(const Change& change, std::vector<ExtentRange>* freed);
  Status Rename(const Change& change, std::vector<ExtentRange>* freed);
  Status NeedsInode(const Change& change, bool used) const;
  Status NeedsDirectory(uint32_t number) const;
  void AddName(uint32_t directory, Slice name, uint32_t inode);
  void RemoveName(uint32_t entry, std::vector<ExtentRange>* freed);
  void TakeInode(uint32_t number);
  void AddRanges(const std::vector<ExtentRange>& ranges, Inode* inode);
  void FreeIfGone(uint32_t number, std::vector<ExtentRange>* freed);

  uint32_t numbers_max_;
  std::deque<Inode> inodes_;
  mutable std::vector<uint32_t> free_inodes_;  // may contain numbers that are in use again
  std::deque<Directory> directories_;
  std::map<std::string, uint32_t, std::less<>> directory_numbers_;
  Names names_;
  uint32_t files_ = 0;
  uint64_t more_bytes_ = 0;
};

}  // namespace lava::lavafs

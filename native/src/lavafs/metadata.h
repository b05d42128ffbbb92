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

/// A file: tens of bytes, and 8 for each run of extents behind the first.
struct Inode {
  uint64_t size = 0;
  ExtentRun first;                               // count 0: no extents
  std::unique_ptr<std::vector<ExtentRun>> more;  // null: none
  uint32_t links = 0;                            // names
  uint32_t opens : 30 = 0;                       // who reads or writes it
  uint32_t used : 1 = 0;
  uint32_t open_ended : 1 = 0;
};

/// All metadata of a volume in memory: directories of one level, names, files and their extents.
/// A change is carried out in one way, whether it happens or is replayed.
/// Threads:    one at a time.
class Metadata {
 public:
  /// numbers_max: how many files, and how many directories, there may be.
  explicit Metadata(uint32_t numbers_max) : numbers_max_(numbers_max) {}

  /// Carries the change out; extents of files that went are added to *freed. kJump and kResume are
  /// not its business. Errors: Corruption, and nothing was changed.
  Status Apply(const Change& change, std::vector<ExtentRun>* freed);

  std::optional<uint32_t> FindDirectory(Slice name) const;
  std::vector<std::string> DirectoryNames() const;
  uint32_t FilesIn(uint32_t directory) const { return directories_[directory].names; }
  /// Names in no order.
  std::vector<std::string> List(uint32_t directory) const;
  std::optional<uint32_t> Find(uint32_t directory, Slice name) const;

  /// Numbers for what comes next; nothing when there are as many as there may be.
  std::optional<uint32_t> FreeInode() const;
  std::optional<uint32_t> FreeDirectory() const;
  void SetMax(uint32_t numbers_max) { numbers_max_ = numbers_max; }

  const Inode& inode(uint32_t number) const { return inodes_[number]; }
  std::vector<ExtentRun> RunsOf(uint32_t number) const;
  uint64_t ExtentsOf(uint32_t number) const;
  /// The size of contents that no change speaks of yet.
  void SetSize(uint32_t number, uint64_t size) { inodes_[number].size = size; }
  /// A file that is open outlives its last name; its extents come with the last Close().
  void Open(uint32_t number) { inodes_[number].opens++; }
  void Close(uint32_t number, std::vector<ExtentRun>* freed);

  /// The changes that make all this out of nothing; files without a name are left out.
  void ForEachChange(const std::function<void(const Change&)>& visit) const;
  /// Files, those without a name among them.
  uint32_t files() const { return files_; }
  /// Corruption when a file has no name, or ends behind its extents.
  Status CheckFiles(uint32_t extent_bytes) const;
  /// Memory: of inodes, names and their index; without what the allocator adds.
  uint64_t bytes() const;

 private:
  struct Directory {
    std::string name;
    uint32_t names = 0;
    uint32_t first = Names::kNone;
    bool used = false;
  };
  Status ApplyName(const Change& change, std::vector<ExtentRun>* freed);
  Status Rename(const Change& change, std::vector<ExtentRun>* freed);
  Status NeedsInode(const Change& change, bool used) const;
  Status NeedsDirectory(uint32_t number) const;
  void AddName(uint32_t directory, Slice name, uint32_t inode);
  void RemoveName(uint32_t entry, std::vector<ExtentRun>* freed);
  void TakeInode(uint32_t number);
  void AddRuns(const std::vector<ExtentRun>& runs, Inode* inode);
  void FreeIfGone(uint32_t number, std::vector<ExtentRun>* freed);

  uint32_t numbers_max_;
  std::deque<Inode> inodes_;
  mutable std::vector<uint32_t> free_inodes_;  // may name ones that were taken since
  std::deque<Directory> directories_;
  std::map<std::string, uint32_t, std::less<>> directory_numbers_;
  Names names_;
  uint32_t files_ = 0;
  uint64_t more_bytes_ = 0;
};

}  // namespace lava::lavafs

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "testing/crashable_file_system.h"

namespace lava::testing {

class Random;

/// A file system in memory that simulates crashes at any moment. Bytes of a file are durable after
/// its Sync; names of files and directories after SyncDirectory of their directory. A directory
/// that does not survive is lost with all of its contents.
/// Threads:    any thread.
/// Ownership:  must outlive its files.
/// Errors:     as FileSystem. Reading a file whose last name was removed returns NotFound, because
///             the posix file system may have to open it again (see SetRemovedFilesReadable).
class MemFileSystem : public CrashableFileSystem {
 public:
  MemFileSystem();
  ~MemFileSystem() override;

  Result<std::unique_ptr<fs::AppendFile>> Create(const std::string& path,
                                                 size_t buffer_bytes) override;
  Result<std::unique_ptr<fs::RandomFile>> OpenRandom(const std::string& path) override;
  Result<std::string> ReadWhole(const std::string& path, uint64_t bytes_max) override;
  Result<uint64_t> FileSize(const std::string& path) override;
  Result<bool> Exists(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status Link(const std::string& from, const std::string& to) override;
  Result<std::vector<std::string>> List(const std::string& directory) override;
  Status CreateDirectory(const std::string& path) override;
  Status SyncDirectory(const std::string& path) override;
  Status SyncFile(const std::string& path, bool* asked) override;
  Result<std::unique_ptr<fs::DirectoryLock>> Lock(const std::string& directory) override;
  uint64_t boot() const override { return boot_; }

  std::unique_ptr<CrashableFileSystem> CrashClone(CrashMode mode, uint64_t seed = 0) const override;
  /// Each unsynced change of a name may have happened or not, in any order. Of each file's unsynced
  /// end nothing, all, or a torn part survives: sectors of 512 bytes that are written, zero or
  /// garbage.
  uint64_t CrashStates() const override;
  std::unique_ptr<CrashableFileSystem> CrashCloneAt(uint64_t state, uint64_t seed) const override;

  /// Creations, flushes, syncs, renames, removals, links, directory syncs. Appends count when their
  /// bytes leave the buffer.
  uint64_t mutating_calls() const override;
  void SetMutationHook(std::function<void(uint64_t call)> hook) override;
  void SetRemovedFilesReadable(bool readable) override;

  Result<std::string> Content(const std::string& path) const override;
  Status SetContent(const std::string& path, std::string content) override;
  std::vector<std::string> Paths() const override;

 private:
  friend class MemAppendFile;
  friend class MemRandomFile;
  friend class MemDirectoryLock;
  struct Node;
  using NodePtr = std::shared_ptr<Node>;
  // A change of a name that no directory sync has made durable. Empty from: a new name; empty to: a
  // removed name. No node: a new directory.
  struct NameChange {
    std::string from;
    std::string to;
    NodePtr node;
  };
  struct Names {
    std::map<std::string, NodePtr> files;
    std::set<std::string> directories;
    /// Whether the directory of the path exists, with all of its parents.
    bool Reaches(const std::string& path) const;
  };

  Status AppendTo(const NodePtr& node, Slice bytes);
  Status SyncNode(const NodePtr& node);
  Status ReadFrom(const NodePtr& node, const std::string& path, uint64_t offset, size_t length,
                  char* to) const;
  void Unlock(const std::string& directory);
  void Change(NameChange change);
  static void Apply(const NameChange& change, Names* names);
  Result<NodePtr> Find(const std::string& path, const char* operation) const;
  Status NeedsDirectory(const std::string& path, const char* operation) const;
  void Mutated(std::unique_lock<std::mutex> lock);
  std::vector<const Node*> UnsyncedNodes() const;
  using SurvivorOf = std::function<std::string(const Node&)>;
  std::unique_ptr<MemFileSystem> Image(const Names& survivors, uint64_t boot,
                                       const SurvivorOf& content) const;
  static std::string Survivor(const Node& node, CrashMode mode, Random* random);

  mutable std::mutex mutex_;
  Names names_;          // as processes see them
  Names durable_names_;  // as a crash leaves them
  std::vector<NameChange> pending_;
  std::set<std::string> locked_;
  uint64_t mutating_calls_ = 0;
  bool removed_readable_ = false;
  uint64_t boot_ = 1;  // incremented by each power cut
  std::function<void(uint64_t)> hook_;
};

}  // namespace lava::testing

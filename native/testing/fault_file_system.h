// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fs/file_system.h"

namespace lava::testing {

enum class FileCall : uint8_t {
  kCreate,
  kAppend,
  kFlush,
  kSync,
  kClose,
  kOpenRandom,
  kRead,
  kReadWhole,
  kFileSize,
  kExists,
  kRename,
  kRemove,
  kLink,
  kList,
  kCreateDirectory,
  kSyncDirectory,
  kSyncFile,
  kLock,
};
inline constexpr size_t kFileCalls = static_cast<size_t>(FileCall::kLock) + 1;
const char* FileCallName(FileCall call);

/// Kinds of faults. A fault strikes, and counts, only the calls that can fail in this way.
enum class Fault : uint8_t {
  kIOError,     // any call: fails, nothing done; SyncFile: the device fails
  kNotOpened,   // calls that open files: fail, as without free descriptors
  kNoSpace,     // calls that need space: fail, nothing done
  kShortWrite,  // Append: half of the bytes reach the file, then NoSpace
  kShortRead,   // Read: Corruption, as at the file's end; ReadWhole: half of the content
  kBitFlip,     // Read, ReadWhole: one bit of the data is wrong
};

/// Injects faults into calls of another file system.
/// Threads:    any thread.
/// Ownership:  borrows the base, which must outlive this object and all files.
class FaultFileSystem : public fs::FileSystem {
 public:
  struct Plan {
    Fault fault = Fault::kIOError;
    /// The fault strikes the n-th call, from 1 on, among those that it can strike and that pass the
    /// filters below.
    uint64_t call = 1;
    /// The fault also strikes all later matching calls, until Disarm().
    bool forever = false;
    std::optional<FileCall> only = std::nullopt;  // calls of one kind
    std::string path_contains = {};  // calls that name such a path; the target of Rename, Link
    uint64_t seed = 0;               // decides which bit flips
  };

  explicit FaultFileSystem(fs::FileSystem* base) : base_(base) {}

  /// Counts matching calls from now on. Replaces the previous plan.
  void Arm(Plan plan);
  void Disarm();
  /// Called before every call, on its thread, without a lock. Set before files are opened. Null: no
  /// hook.
  void SetHook(std::function<void(FileCall)> hook) { hook_ = std::move(hook); }
  /// Path of the last call that the plan struck since Arm(); empty if none.
  std::string struck_path() const;
  /// How often the plan has struck since Arm().
  uint64_t fired() const;
  /// All calls since construction, failed ones included.
  uint64_t calls(FileCall kind) const;
  uint64_t calls() const;
  /// Repeated syncs of a file whose sync failed: must be 0, since the second sync would report a
  /// false success.
  uint64_t syncs_after_failure() const;

  Result<std::unique_ptr<fs::AppendFile>> Create(const std::string& path,
                                                 size_t buffer_bytes) override;
  Result<std::unique_ptr<fs::AppendFile>> CreateFromReserve(const std::string& path,
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
  /// Counts as one creating call and one syncing call.
  Status CreateDurableDirectory(const std::string& path) override;
  Status SyncDirectory(const std::string& path) override;
  Status SyncFile(const std::string& path, bool* asked) override;
  Result<std::unique_ptr<fs::DirectoryLock>> Lock(const std::string& directory) override;
  uint64_t boot() const override { return base_->boot(); }

 private:
  friend class FaultAppendFile;
  friend class FaultRandomFile;

  /// Counts the call and returns the fault that strikes it, if any.
  std::optional<Fault> Count(FileCall kind, const std::string& path);
  /// As Count(), but returns the error of faults that make a call fail.
  Status Refusal(FileCall kind, const std::string& path);
  void FlipBit(char* bytes, size_t count);
  void CountSyncAfterFailure();

  fs::FileSystem* const base_;
  std::function<void(FileCall)> hook_;
  mutable std::mutex mutex_;
  std::optional<Plan> plan_;
  uint64_t matching_ = 0;
  uint64_t fired_ = 0;
  std::string struck_path_;
  uint64_t syncs_after_failure_ = 0;
  std::array<uint64_t, kFileCalls> counts_{};
};

}  // namespace lava::testing

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

/// What goes wrong. Where a fault makes no sense for a call, the call is not counted for it.
enum class Fault : uint8_t {
  kIOError,     // any call: refused, nothing done; SyncFile: by the device
  kNotOpened,   // calls that open files: refused, as when a process has no descriptor left
  kNoSpace,     // calls that need room: refused, nothing done
  kShortWrite,  // Append: half of the bytes reach the file, then NoSpace
  kShortRead,   // Read: Corruption, as at the file's end; ReadWhole: half of the content
  kBitFlip,     // Read, ReadWhole: one bit of what was read is wrong
};

/// Fails calls of another file system.
/// Threads:    any thread.
/// Ownership:  borrows the base, which must outlive it and all files.
class FaultFileSystem : public fs::FileSystem {
 public:
  struct Plan {
    Fault fault = Fault::kIOError;
    /// The n-th call, from 1, that the fault applies to and that the filters below let through.
    uint64_t call = 1;
    /// From then on all of them, until Disarm().
    bool forever = false;
    std::optional<FileCall> only = std::nullopt;  // calls of one kind
    std::string path_contains = {};  // calls that name such a path; for Rename, Link the target
    uint64_t seed = 0;               // which bit flips
  };

  explicit FaultFileSystem(fs::FileSystem* base) : base_(base) {}

  /// Counts matching calls from now. Replaces the plan before.
  void Arm(Plan plan);
  void Disarm();
  /// Called before every call, on its thread, without a lock. Set before files are opened. Null:
  /// none.
  void SetHook(std::function<void(FileCall)> hook) { hook_ = std::move(hook); }
  /// What the plan struck last since Arm(); empty when nothing.
  std::string struck_path() const;
  /// How often the plan struck since Arm().
  uint64_t fired() const;
  /// All calls since construction, failed ones included.
  uint64_t calls(FileCall kind) const;
  uint64_t calls() const;
  /// Syncs of files whose sync failed before: must be 0, since the second one would lie.
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
  /// Counted as one call that creates and one that syncs.
  Status CreateDurableDirectory(const std::string& path) override;
  Status SyncDirectory(const std::string& path) override;
  Status SyncFile(const std::string& path, bool* asked) override;
  Result<std::unique_ptr<fs::DirectoryLock>> Lock(const std::string& directory) override;
  uint64_t boot() const override { return base_->boot(); }

 private:
  friend class FaultAppendFile;
  friend class FaultRandomFile;

  /// Counts the call and tells the fault that strikes it, if any.
  std::optional<Fault> Count(FileCall kind, const std::string& path);
  /// Count, and the Status of faults that refuse a call.
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

#pragma once

#include <memory>
#include <string>

#include "base/framing.h"
#include "fs/file_system.h"
#include "manifest/version_edit.h"

namespace lava {

/// The manifest of one instance: the log of edits that makes its current version, in
/// MANIFEST-<number>, and CURRENT, which names it (docs/manifest-format.md).
/// Threads:    one at a time.
/// Ownership:  the file system must outlive it.
/// Durability: an edit is in the log when LogAndApply is OK: it survives a process kill, with
///             options.sync a power cut too.
/// Errors:     a failed append leaves the state as it was; the next edit starts a new log. A
///             failed sync is final: every later edit is refused with its error.
class Manifest {
 public:
  struct Options {
    fs::FileSystem* file_system = nullptr;
    std::string directory;
    bool sync = false;
    /// A log that is longer, and twice as long as the snapshot that it began with, is replaced by a
    /// snapshot of the state.
    uint64_t roll_over_bytes = 4 << 20;
  };

  /// Starts from nothing; nothing is written before the first edit.
  static std::unique_ptr<Manifest> Fresh(const Options& options);
  /// Reads what CURRENT names; nothing is written before the first edit, which starts a new log.
  /// Errors: NotFound without CURRENT, Corruption, NotSupported for a newer format.
  static Result<std::unique_ptr<Manifest>> Recover(const Options& options);
  /// Reads MANIFEST-<number> by itself, whatever CURRENT says; for tools, which write nothing.
  /// Bytes that end inside a record are a torn tail.
  static Result<std::unique_ptr<Manifest>> ReadLog(const Options& options, uint64_t number);

  /// Writes edit, then applies it to state().
  /// Errors: InvalidArgument from ApplyEdit, nothing was written; IOError, NoSpace.
  Status LogAndApply(const VersionEdit& edit);

  const ManifestState& state() const { return state_; }
  uint64_t number() const { return number_; }
  /// Not OK after a failed sync: nothing is written any more.
  const Status& failed_sync() const { return failed_sync_; }
  /// What Recover() or ReadLog() found of the log: behind sound_bytes is a torn tail.
  struct LogInfo {
    uint64_t bytes = 0, sound_bytes = 0, edits = 0;
  };
  const LogInfo& log_info() const { return log_info_; }

  /// Names the log that counts: without it a directory holds no instance.
  static constexpr std::string_view kCurrentName = "CURRENT";
  static std::string FileName(uint64_t number);
  /// Whether name is of one of a manifest's files.
  static bool IsOne(const std::string& name);
  /// Whether name is of a manifest's file other than the current one: to be removed.
  bool IsObsolete(const std::string& name) const;

 private:
  explicit Manifest(const Options& options) : options_(options) {}
  std::string PathOf(const std::string& name) const;
  Status ReadCurrent(uint64_t* durable_bytes);
  Status ReadNumbered(uint64_t durable_bytes);
  Status Replay(Slice bytes, uint64_t durable_bytes);
  Status ReplayEdit(Slice payload, uint64_t offset);
  Status StartLog(const ManifestState& next);
  Status PointCurrent(uint64_t number, uint64_t durable_bytes);
  Status AppendEdit(const VersionEdit& edit);

  const Options options_;
  ManifestState state_;
  FileTable files_;              // of the replay; empty afterwards
  uint64_t number_ = 0;          // of the log that CURRENT names
  uint64_t snapshot_bytes_ = 0;  // that the log began with
  uint64_t highest_number_ = 0;  // ever tried, so that a failed log's name is not used again
  std::unique_ptr<fs::AppendFile> log_;  // null: the next edit starts a new log
  std::unique_ptr<FrameWriter> frames_;
  bool log_was_synced_ = false;  // the log that was recovered
  LogInfo log_info_;
  Status failed_sync_;
};

}  // namespace lava

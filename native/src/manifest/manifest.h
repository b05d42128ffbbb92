// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include "base/framing.h"
#include "fs/file_system.h"
#include "manifest/version_edit.h"

namespace lava {

/// The manifest of one instance: MANIFEST-<number>, a log of edits that produces the current
/// version, and CURRENT, which names the log (docs/manifest-format.md).
/// Threads:    one at a time.
/// Ownership:  the file system must outlive the manifest.
/// Durability: an edit is in the log once LogAndApply returns OK. It then survives a process kill,
///             and with options.sync also a power cut.
/// Errors:     a failed append leaves the state unchanged; the next edit starts a new log. A failed
///             sync is final: every later edit fails with the error of that sync.
class Manifest {
 public:
  struct Options {
    fs::FileSystem* file_system = nullptr;
    std::string directory;
    bool sync = false;
    /// A log is replaced by a snapshot of the state once the log has this size and is twice as
    /// long as the snapshot at its start.
    uint64_t roll_over_bytes = 4 << 20;
  };

  /// A manifest with an empty state. Writes nothing before the first edit.
  static std::unique_ptr<Manifest> Fresh(const Options& options);
  /// Reads the log that CURRENT names. Writes nothing before the first edit, which starts a new
  /// log.
  /// Errors: NotFound without CURRENT, Corruption, NotSupported for a newer format.
  static Result<std::unique_ptr<Manifest>> Recover(const Options& options);
  /// Reads MANIFEST-<number> without reading CURRENT. For tools, which write nothing.
  /// A log that ends inside a record has a torn tail.
  static Result<std::unique_ptr<Manifest>> ReadLog(const Options& options, uint64_t number);

  /// Writes the edit, then applies it to state().
  /// Errors: InvalidArgument from ApplyEdit (nothing was written); IOError, NoSpace.
  Status LogAndApply(const VersionEdit& edit);

  const ManifestState& state() const { return state_; }
  uint64_t number() const { return number_; }
  /// Not OK after a failed sync: the manifest then refuses all edits.
  const Status& failed_sync() const { return failed_sync_; }
  /// Figures of the log that Recover() or ReadLog() read. Bytes after sound_bytes are a torn tail.
  struct LogInfo {
    uint64_t bytes = 0, sound_bytes = 0, edits = 0;
  };
  const LogInfo& log_info() const { return log_info_; }

  /// The file that names the current log. A directory without this file holds no instance.
  static constexpr std::string_view kCurrentName = "CURRENT";
  static std::string FileName(uint64_t number);
  /// Whether a file of this name belongs to a manifest.
  static bool IsOne(const std::string& name);
  /// Whether a file of this name belongs to a manifest but is not in use, and may be removed.
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
  FileTable files_;              // used by the replay; empty afterwards
  uint64_t number_ = 0;          // of the log that CURRENT names
  uint64_t snapshot_bytes_ = 0;  // size of the snapshot at the log's start
  uint64_t highest_number_ = 0;  // highest tried; the name of a failed log is not used again
  std::unique_ptr<fs::AppendFile> log_;  // null: the next edit starts a new log
  std::unique_ptr<FrameWriter> frames_;
  bool log_was_synced_ = false;  // whether the recovered log was synced
  LogInfo log_info_;
  Status failed_sync_;
};

}  // namespace lava

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <jni.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "event_ring.h"
#include "lava/db.h"
#include "lava/host.h"
#include "lava/volume.h"

namespace lava::jni {

/// Counts the running calls of an object and refuses new ones once it was closed.
/// Threads:    any thread.
class CloseGuard {
 public:
  /// Returns false when closed; otherwise Leave() must follow.
  bool Enter() noexcept {
    // The check before the increment keeps refused calls from delaying the thread that waits for
    // running calls to end.
    if ((state_.load() & kClosed) != 0) return false;
    if ((state_.fetch_add(1) & kClosed) == 0) return true;
    state_.fetch_sub(1);
    return false;
  }
  void Leave() noexcept { state_.fetch_sub(1); }
  void Close() noexcept { state_.fetch_or(kClosed); }
  bool closed() const noexcept { return (state_.load() & kClosed) != 0; }
  bool empty() const noexcept { return (state_.load() & ~kClosed) == 0; }

 private:
  static constexpr uint32_t kClosed = 1u << 31;
  std::atomic<uint32_t> state_{0};
};

/// The native object behind a Java object's `handle`. It outlives the object's close, so that late
/// calls find a closed guard instead of freed memory. The Java cleaner deletes it.
/// Threads:    any thread, but Release() is the last call.
class Handle {
 public:
  enum class Kind : uint32_t {
    kDatabase = 0x4c444201,
    kLease = 0x4c444202,
    kSnapshot = 0x4c444203,
    kVolume = 0x4c444204,
    kVolumeInput = 0x4c444205,
    kVolumeOutput = 0x4c444206
  };
  static constexpr int kWaitMsMax = 100;

  virtual ~Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  Kind kind() const noexcept { return kind_; }
  virtual CloseGuard& close_guard() noexcept = 0;
  /// "the database in /x is closed", for the exception.
  virtual std::string ClosedMessage() const = 0;

  /// Closes the guard, waits at most kWaitMsMax for running calls, then frees the resources, once.
  /// Returns false when the call must be repeated.
  bool Close();
  /// Closes the object, however long that takes, and deletes it. Returns true if it had been open.
  bool Release();

  /// Number of handles of all kinds that are not closed.
  static int64_t open_count() noexcept { return open_count_.load(); }

 protected:
  explicit Handle(Kind kind) : kind_(kind) { open_count_.fetch_add(1); }
  /// Frees the resources. No call is running, and no new call can begin. Returns false, after a
  /// bounded wait, when it must be called again.
  virtual bool Free() = 0;

 private:
  enum class Phase { kOpen, kFreeing, kClosed };
  static std::atomic<int64_t> open_count_;

  const Kind kind_;
  std::atomic<Phase> phase_{Phase::kOpen};
};

/// State shared by a database and its snapshots: the guard, and the engine until the database
/// closes.
struct DatabaseState {
  explicit DatabaseState(std::string p) : path(std::move(p)) {}
  const std::string path;
  CloseGuard close_guard;
  std::shared_ptr<DB> db;  // reset by close, when no call is running
};

class DatabaseHandle final : public Handle {
 public:
  static constexpr Kind kKind = Kind::kDatabase;
  /// events: the listener that the database was opened with; null: none.
  DatabaseHandle(std::unique_ptr<DB> db, std::string path, std::shared_ptr<EventRing> events);
  CloseGuard& close_guard() noexcept override { return state_->close_guard; }
  std::string ClosedMessage() const override;
  const std::shared_ptr<DatabaseState>& state() const noexcept { return state_; }
  DB* db() const noexcept { return state_->db.get(); }
  EventRing* events() const noexcept { return events_.get(); }
  /// The result of DB::LeftOpen(). Only valid after Close() has returned true, which happens after
  /// Free().
  const std::string& left_open() const noexcept { return left_open_; }

 protected:
  bool Free() override;

 private:
  std::string left_open_;
  const std::shared_ptr<DatabaseState> state_;
  std::shared_ptr<EventRing> events_;  // reset by close, as state_->db is
};

class LeaseHandle final : public Handle {
 public:
  static constexpr Kind kKind = Kind::kLease;
  explicit LeaseHandle(std::shared_ptr<Lease> lease) : Handle(kKind), lease_(std::move(lease)) {}
  CloseGuard& close_guard() noexcept override { return close_guard_; }
  std::string ClosedMessage() const override { return "this memory lease is closed"; }
  const std::shared_ptr<Lease>& lease() const noexcept { return lease_; }

 protected:
  bool Free() override {
    lease_.reset();
    return true;
  }

 private:
  CloseGuard close_guard_;
  std::shared_ptr<Lease> lease_;
};

/// Keeps the engine object (closed or not) until the snapshot is closed, in any order.
class SnapshotHandle final : public Handle {
 public:
  static constexpr Kind kKind = Kind::kSnapshot;
  SnapshotHandle(std::shared_ptr<DatabaseState> state, std::shared_ptr<Snapshot> snapshot)
      : Handle(kKind), state_(std::move(state)), db_(state_->db), snapshot_(std::move(snapshot)) {}
  CloseGuard& close_guard() noexcept override { return close_guard_; }
  std::string ClosedMessage() const override {
    return "this snapshot of " + state_->path + " is closed";
  }
  DatabaseState& state() const noexcept { return *state_; }
  Snapshot* snapshot() const noexcept { return snapshot_.get(); }

 protected:
  bool Free() override {
    snapshot_.reset();
    db_.reset();
    return true;
  }

 private:
  CloseGuard close_guard_;
  const std::shared_ptr<DatabaseState> state_;
  std::shared_ptr<DB> db_;
  std::shared_ptr<Snapshot> snapshot_;
};

/// One reference to a volume. Files that were opened through it hold their own references, so that
/// they may be closed after it.
class VolumeHandle final : public Handle {
 public:
  static constexpr Kind kKind = Kind::kVolume;
  /// pinned_directory: the directory of Host::OpenPinned(), else empty.
  VolumeHandle(std::shared_ptr<SharedVolume> volume, std::string pinned_directory,
               std::vector<std::string> left_behind)
      : Handle(kKind),
        path_(volume->path()),
        pinned_directory_(std::move(pinned_directory)),
        left_behind_(std::move(left_behind)),
        volume_(std::move(volume)) {}
  CloseGuard& close_guard() noexcept override { return close_guard_; }
  std::string ClosedMessage() const override { return "the volume " + path_ + " is closed here"; }
  const std::string& path() const noexcept { return path_; }
  const std::string& pinned_directory() const noexcept { return pinned_directory_; }
  const std::vector<std::string>& left_behind() const noexcept { return left_behind_; }
  const std::shared_ptr<SharedVolume>& volume() const noexcept { return volume_; }

 protected:
  bool Free() override {
    volume_.reset();
    return true;
  }

 private:
  CloseGuard close_guard_;
  const std::string path_;
  const std::string pinned_directory_;
  const std::vector<std::string> left_behind_;
  std::shared_ptr<SharedVolume> volume_;
};

/// An open file of a volume, with a reference that keeps the volume until it is closed.
class VolumeInputHandle final : public Handle {
 public:
  static constexpr Kind kKind = Kind::kVolumeInput;
  VolumeInputHandle(std::shared_ptr<SharedVolume> volume, std::unique_ptr<VolumeInput> input)
      : Handle(kKind), volume_(std::move(volume)), input_(std::move(input)) {}
  CloseGuard& close_guard() noexcept override { return close_guard_; }
  std::string ClosedMessage() const override { return "this file of a volume is closed"; }
  VolumeInput* input() const noexcept { return input_.get(); }

 protected:
  bool Free() override {
    input_.reset();
    volume_.reset();
    return true;
  }

 private:
  CloseGuard close_guard_;
  std::shared_ptr<SharedVolume> volume_;
  std::unique_ptr<VolumeInput> input_;
};

/// A new file of a volume, with a reference that keeps the volume until it is closed.
class VolumeOutputHandle final : public Handle {
 public:
  static constexpr Kind kKind = Kind::kVolumeOutput;
  VolumeOutputHandle(std::shared_ptr<SharedVolume> volume, std::unique_ptr<VolumeOutput> output)
      : Handle(kKind), volume_(std::move(volume)), output_(std::move(output)) {}
  CloseGuard& close_guard() noexcept override { return close_guard_; }
  std::string ClosedMessage() const override { return "this new file of a volume is closed"; }
  Status Append(Slice data) LAVA_EXCLUDES(mutex_);
  Status Finish() LAVA_EXCLUDES(mutex_);

 protected:
  bool Free() override {
    output_.reset();
    volume_.reset();
    return true;
  }

 private:
  CloseGuard close_guard_;
  Mutex mutex_;  // the engine's file is for one thread, but several Java threads may call
  std::shared_ptr<SharedVolume> volume_;
  std::unique_ptr<VolumeOutput> output_ LAVA_PT_GUARDED_BY(mutex_);
};

[[noreturn]] void ThrowClosed(std::string message);
[[noreturn]] void ThrowBadHandle();

/// A running call of an object. Throws LavaClosedException's JavaError when the object is closed.
template <typename H>
class Use {
 public:
  explicit Use(jlong handle) : handle_(Cast(handle)) {
    if (!handle_->close_guard().Enter()) [[unlikely]] {
      ThrowClosed(handle_->ClosedMessage());
    }
  }
  ~Use() { handle_->close_guard().Leave(); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  H* operator->() const noexcept { return handle_; }

 private:
  static H* Cast(jlong number) {
    auto* handle = reinterpret_cast<Handle*>(number);
    if (handle == nullptr || handle->kind() != H::kKind) [[unlikely]] {
      ThrowBadHandle();
    }
    return static_cast<H*>(handle);
  }
  H* const handle_;
};

/// A running call of a snapshot and its database; of nothing for 0.
class UseSnapshot {
 public:
  UseSnapshot(jlong handle, const DatabaseState* expected);
  ~UseSnapshot();
  UseSnapshot(const UseSnapshot&) = delete;
  UseSnapshot& operator=(const UseSnapshot&) = delete;
  Snapshot* get() const noexcept { return handle_ == nullptr ? nullptr : handle_->snapshot(); }

 private:
  SnapshotHandle* handle_ = nullptr;
};

/// The number by which Java refers to a handle.
jlong ToJava(std::unique_ptr<Handle> handle) noexcept;

/// The table that a number from Java refers to.
Table* ToTable(jlong number);

}  // namespace lava::jni

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "handles.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "event_ring.h"
#include "jni_util.h"
#include "lava/db.h"
#include "lava/slice.h"

namespace lava::jni {

std::atomic<int64_t> Handle::open_count_{0};

namespace {

/// Waits until done() returns true, at most Handle::kWaitMsMax. Sleeps, because waits are rare and
/// short.
template <typename Done>
bool WaitBounded(Done&& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(Handle::kWaitMsMax);
  auto pause = std::chrono::microseconds(20);
  while (!done()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::microseconds(1000));
  }
  return true;
}

}  // namespace

bool Handle::Close() {
  close_guard().Close();
  if (!WaitBounded([this] { return close_guard().empty(); })) return false;
  Phase expected = Phase::kOpen;
  if (phase_.compare_exchange_strong(expected, Phase::kFreeing)) {
    // If Free() throws, the object counts as closed: a second attempt could not do better.
    struct Done {
      Handle* handle;
      bool freed = true;
      ~Done() {
        handle->phase_.store(freed ? Phase::kClosed : Phase::kOpen);
        if (freed) open_count_.fetch_sub(1);
      }
    } done{this};
    done.freed = Free();
    return done.freed;
  }
  return WaitBounded([this] { return phase_.load() == Phase::kClosed; });
}

bool Handle::Release() {
  const bool was_open = phase_.load() == Phase::kOpen;
  while (!Close()) {
  }
  delete this;
  return was_open;
}

DatabaseHandle::DatabaseHandle(std::unique_ptr<DB> db, std::string path,
                               std::shared_ptr<EventRing> events)
    : Handle(kKind),
      state_(std::make_shared<DatabaseState>(std::move(path))),
      events_(std::move(events)) {
  state_->db = std::move(db);
}

std::string DatabaseHandle::ClosedMessage() const {
  return "the database in " + state_->path + " is closed";
}

bool DatabaseHandle::Free() {
  if (injected_fault.load(std::memory_order_relaxed) == Fault::kCloseBusy) {
    std::this_thread::sleep_for(std::chrono::milliseconds(kWaitMsMax));
    return false;
  }
  // Without a log nothing that Close() could still write matters. Therefore the caller cannot act
  // on its status, except Busy. The engine has already reported failed flushes.
  if (state_->db->Close().IsBusy()) return false;
  left_open_ = state_->db->LeftOpen();
  state_->db.reset();
  events_.reset();
  return true;
}

Status VolumeOutputHandle::Append(Slice data) {
  MutexLock lock(&mutex_);
  return output_->Append(data);
}

Status VolumeOutputHandle::Finish() {
  MutexLock lock(&mutex_);
  return output_->Close();
}

void ThrowClosed(std::string message) {
  Check(Status::Closed(std::move(message)));
  std::abort();  // Check throws
}

void ThrowBadHandle() {
  Check(Status::InvalidArgument("a native handle is of another kind of object"));
  std::abort();  // Check throws
}

UseSnapshot::UseSnapshot(jlong number, const DatabaseState* expected) {
  if (number == 0) return;
  auto* handle = reinterpret_cast<Handle*>(number);
  if (handle->kind() != Handle::Kind::kSnapshot) ThrowBadHandle();
  auto* snapshot = static_cast<SnapshotHandle*>(handle);
  DatabaseState& state = snapshot->state();
  if (expected != nullptr && expected != &state) {
    Check(Status::InvalidArgument("this snapshot is of the instance in " + state.path));
  }
  if (!snapshot->close_guard().Enter()) ThrowClosed(snapshot->ClosedMessage());
  if (!state.close_guard.Enter()) {
    snapshot->close_guard().Leave();
    ThrowClosed("the database in " + state.path + " is closed, and so is this snapshot of it");
  }
  handle_ = snapshot;
}

UseSnapshot::~UseSnapshot() {
  if (handle_ != nullptr) {
    handle_->state().close_guard.Leave();
    handle_->close_guard().Leave();
  }
}

jlong ToJava(std::unique_ptr<Handle> handle) noexcept {
  return reinterpret_cast<jlong>(handle.release());
}

Table* ToTable(jlong number) {
  if (number == 0) ThrowNull("table");
  return reinterpret_cast<Table*>(number);
}

}  // namespace lava::jni

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/manual_compactions.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/guarded.h"
#include "base/mutex.h"
#include "lava/status.h"

namespace lava {

uint64_t ManualCompactions::Request(uint64_t sequence) {
  MutexLock lock(&mutex_);
  if (requested_ - finished_ < 2) ++requested_;
  const bool waits = requested_ - finished_ == 2;
  uint64_t& last = waits ? next_sequence_ : current_.sequence;
  last = std::max(last, sequence);
  return requested_;
}

bool ManualCompactions::IsKnown(uint64_t ticket) const {
  MutexLock lock(&mutex_);
  return ticket <= requested_;
}

Status ManualCompactions::Await(uint64_t ticket, std::chrono::steady_clock::time_point deadline) {
  MutexLock lock(&mutex_);
  while (finished_ < ticket) {
    if (closed_) return Status::Closed("the instance was closed");
    if (!changed_.WaitUntil(&mutex_, deadline)) break;
  }
  return finished_ < ticket ? Status::Busy() : status_;
}

void ManualCompactions::Close() {
  MutexLock lock(&mutex_);
  closed_ = true;
  changed_.NotifyAll();
}

std::optional<ManualCompactions::Current> ManualCompactions::current() const {
  MutexLock lock(&mutex_);
  if (!IsActive()) return std::nullopt;
  return current_;
}

void ManualCompactions::SetCompacted(bool compacted) {
  MutexLock lock(&mutex_);
  current_.compacted = compacted;
}

void ManualCompactions::Finish(const Status& status) {
  MutexLock lock(&mutex_);
  if (IsActive()) FinishCurrent(status);
}

void ManualCompactions::FinishAll(const Status& status) {
  MutexLock lock(&mutex_);
  while (IsActive()) FinishCurrent(status);
}

void ManualCompactions::FinishCurrent(const Status& status) {
  ++finished_;
  if (!Tried([&] {
        mutex_.AssertHeld();
        status_ = status;
      }))
    status_ = Status(status.code(), {});
  current_ = {.sequence = next_sequence_};
  changed_.NotifyAll();
}

}  // namespace lava

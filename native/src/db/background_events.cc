// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/background_events.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lava/event_listener.h"
#include "lava/status.h"

namespace lava {

void BackgroundEvents::Failed(Work work, const Status& status, int64_t now_ms) {
  Fault& fault = faults_[status.code()];
  const bool begins = fault.failing.empty();
  fault.failing.insert(work);
  if (!begins) {
    ++fault.began.failures;
    return;
  }
  fault.began = {.code = status.code(),
                 .over = false,
                 .message = std::string(status.message()),
                 .file = {},
                 .tables = {},
                 .failures = 1,
                 .since_ms = now_ms};
  Add(fault.began);
}

void BackgroundEvents::Worked(Work work) {
  for (auto at = faults_.begin(); at != faults_.end();) {
    Fault& fault = at->second;
    if (fault.failing.erase(work) == 0 || !fault.failing.empty()) {
      ++at;
      continue;
    }
    fault.began.over = true;
    Add(std::move(fault.began));
    at = faults_.erase(at);
  }
}

void BackgroundEvents::Damaged(std::string name, const Status& status,
                               std::vector<std::string> tables, int64_t now_ms) {
  Add({.code = status.code(),
       .over = false,
       .message = std::string(status.message()),
       .file = std::move(name),
       .tables = std::move(tables),
       .failures = 1,
       .since_ms = now_ms});
}

Status BackgroundEvents::Corruption() const {
  const auto found = faults_.find(Status::Code::kCorruption);
  return found == faults_.end() ? Status::OK() : Status::Corruption(found->second.began.message);
}

std::vector<BackgroundEvent> BackgroundEvents::Take() {
  std::vector<BackgroundEvent> taken(waiting_.begin(), waiting_.end());
  waiting_.clear();
  any_ = false;
  return taken;
}

void BackgroundEvents::QueueForListeners(const BackgroundEvent& event) {
  if (!event.file.empty()) {
    notifier_->Queue(&EventListener::OnDamage, [&event] {
      DamageInfo info;
      info.file = event.file;
      info.status = Status(event.code, event.message);
      info.tables = event.tables;
      return info;
    });
    return;
  }
  const auto told =
      event.over ? &EventListener::OnBackgroundErrorEnd : &EventListener::OnBackgroundErrorBegin;
  notifier_->Queue(told, [&event] {
    BackgroundErrorInfo info;
    info.status = Status(event.code, event.message);
    info.since_ms = event.since_ms;
    info.failures = event.failures;
    return info;
  });
}

void BackgroundEvents::Add(BackgroundEvent event) {
  QueueForListeners(event);
  if (waiting_.size() >= kWaitingMax) waiting_.pop_front();
  waiting_.push_back(std::move(event));
  any_ = true;
}

}  // namespace lava

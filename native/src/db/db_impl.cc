// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/db_impl.h"

#include <atomic>
#include <cstdint>

#include "lava/db.h"
#include "lava/event_listener.h"
#include "lava/status.h"

namespace lava {

Status DBImpl::Flush(uint32_t timeout_ms, FlushTicket* ticket) {
  if (ticket->seal == 0) {
    ticket->failures_seen = components_.faults.flush_failures();
    LAVA_RETURN_IF_ERROR(components_.writer.Seal(FlushCause::kRequested, &ticket->seal));
  }
  std::atomic<uint64_t> failures_seen{ticket->failures_seen};
  const Status status = components_.flushes.WaitUntil(
      [this, seal = ticket->seal] {
        components_.tree.mutex()->AssertHeld();
        return components_.tree.sealed().installed_through() >= seal;
      },
      timeout_ms, &failures_seen);
  ticket->failures_seen = failures_seen;
  components_.remover.RemoveObsolete();
  components_.instance.notifier->Deliver();
  return status;
}

Status DBImpl::CompactAll(uint32_t timeout_ms, uint64_t* ticket) {
  uint64_t sealed_through = 0;
  if (*ticket == 0) {
    LAVA_RETURN_IF_ERROR(components_.writer.Seal(FlushCause::kCompactAll, &sealed_through));
    components_.flushes.Schedule(/*force=*/true);
  }
  const Status status = components_.jobs.CompactAll(sealed_through, timeout_ms, ticket);
  components_.instance.notifier->Deliver();
  return status;
}

}  // namespace lava

#include "db/db_impl.h"

#include <cstdint>

#include "lava/event_listener.h"
#include "lava/status.h"

namespace lava {

Status DBImpl::Flush(uint32_t timeout_ms) {
  const uint64_t failures = components_.faults.flush_failures();
  uint64_t sequence = 0;
  LAVA_RETURN_IF_ERROR(components_.writer.Seal(FlushCause::kRequested, &sequence));
  components_.faults.FlushWaits(sequence, failures);
  const Status status = components_.flushes.WaitUntil(
      [this, sequence] {
        components_.tree.mutex()->AssertHeld();
        return components_.tree.sealed().installed_through() >= sequence;
      },
      timeout_ms, components_.faults.seen_by_flush());
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

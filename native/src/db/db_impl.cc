#include "db/db_impl.h"

namespace lava {

Status DBImpl::Flush(uint32_t timeout_ms) {
  uint64_t sequence = 0;
  LAVA_RETURN_IF_ERROR(writer_->Seal(FlushCause::kRequested, &sequence));
  const Status status = flushes_->WaitUntil(
      [this, sequence] {
        tree_->mutex()->AssertHeld();
        return tree_->sealed().installed_through() >= sequence;
      },
      timeout_ms, faults_.seen_by_flush());
  remover_->RemoveObsolete();
  instance_->notifier->Deliver();
  return status;
}

Status DBImpl::CompactAll(uint32_t timeout_ms, uint64_t* ticket) {
  uint64_t sealed_through = 0;
  if (*ticket == 0) {
    LAVA_RETURN_IF_ERROR(writer_->Seal(FlushCause::kCompactAll, &sealed_through));
    flushes_->Schedule(/*force=*/true);
  }
  const Status status = jobs_->CompactAll(sealed_through, timeout_ms, ticket);
  instance_->notifier->Deliver();
  return status;
}

}  // namespace lava

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "fs/file_system.h"
#include "lava/status.h"
#include "log/format.h"
#include "log/lava_log_impl.h"
#include "log/log_image.h"

namespace lava::log {

Status LavaLogImpl::Recover() {
  fs::FileSystem* const files = options_.file_system;
  // The log's files are synced, and would be lost with a directory that is not durable.
  LAVA_RETURN_IF_ERROR(files->CreateDurableDirectory(options_.directory));
  LAVA_ASSIGN_OR_RETURN(directory_lock_, files->Lock(options_.directory));
  LogImage image;
  LAVA_RETURN_IF_ERROR(ReadLogImage(files, options_.directory, &image));
  {
    MutexLock lock(&job_->mutex);
    job_->log = this;
  }
  leader_.AssertHeld();  // no other thread has the log yet
  last_meta_ = image.last_meta;
  last_sound_meta_ = image.last_sound_meta;
  meta_.acknowledged = image.meta_bytes;
  next_data_ = image.next_data;
  data_.acknowledged = image.data_bytes;
  data_since_checkpoint_ = image.tail_bytes;
  {
    MutexLock lock(&mutex_);
    index_ = std::move(image.index);
    statistics_.recovered_bytes_read = image.read_bytes;
    ChargeIndex();
  }
  if (image.fresh) {
    LAVA_RETURN_IF_ERROR(RemoveLeftOver(image.left_over));
    return Checkpoint();
  }
  // The files that were written last are not continued. Changes of names become durable before
  // files are removed because of them, and records before an index file lists them.
  LAVA_RETURN_IF_ERROR(RollMeta());
  LAVA_RETURN_IF_ERROR(RemoveLeftOver(image.left_over));
  const uint32_t active = index().active();
  if (active == 0) return Status::OK();
  LAVA_RETURN_IF_ERROR(SyncByName(FileKind::kData, active));
  return WriteIndexFile(active);
}

Status LavaLogImpl::RemoveLeftOver(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const Status status = options_.file_system->Remove(options_.directory + "/" + name);
    if (!status.ok() && !status.IsNotFound()) return status;
  }
  return Status::OK();
}

}  // namespace lava::log

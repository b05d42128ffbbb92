// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lava/host.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/run_in_background.h"
#include "host/host_impl.h"
#include "host/process_parts.h"
#include "host/space_quota.h"
#include "lava/status.h"
#include "log/lava_log.h"
#include "memory/memory_counter.h"
#include "memory/page_pool.h"
#include "process/lava_log_wal.h"
#include "process/volume_registry.h"
#include "process/wal_registry.h"

namespace lava {
namespace {

class LavaLogs final : public WalOpener {
 public:
  LavaLogs(MemoryCounter* memory, RunInBackground run) : logs_(memory, std::move(run)) {}
  Result<std::unique_ptr<Wal>> Open(const WalLocation& location, bool synced,
                                    std::optional<uint64_t> flushed) override {
    LAVA_ASSIGN_OR_RETURN(std::shared_ptr<log::LavaLog> log,
                          logs_.Open(location.file_system, location.keep, location.directory));
    return OpenLavaLogWal(std::move(log), location.name, location.directory, synced, flushed);
  }
  Status Delete(const WalLocation& location) override {
    LAVA_ASSIGN_OR_RETURN(const bool exists, location.file_system->Exists(location.directory));
    if (!exists) return Status::OK();
    LAVA_ASSIGN_OR_RETURN(const std::shared_ptr<log::LavaLog> log,
                          logs_.Open(location.file_system, location.keep, location.directory));
    const Result<log::LogId> id = log->Find(location.name);
    if (id.ok()) return log->Delete(*id);
    return id.status().IsNotFound() ? Status::OK() : id.status();
  }

 private:
  WalRegistry logs_;
};

std::unique_ptr<WalOpener> NewLogs(MemoryCounter* memory, RunInBackground run) {
  return std::make_unique<LavaLogs>(memory, std::move(run));
}

std::unique_ptr<VolumeOpener> NewVolumes(MemoryCounter* memory, RunInBackground run,
                                         SpaceQuota* process) {
  return std::make_unique<VolumeRegistry>(memory, std::move(run), process);
}

}  // namespace

Host& Host::Get() {
  // Never destroyed: instances may be closed by threads that outlive main().
  static HostImpl* const host = [] {
    auto* made = new HostImpl({.wals = NewLogs, .volumes = NewVolumes});
    PagePool::Process().SetKeptPagesLimit(made);
    return made;
  }();
  return *host;
}

}  // namespace lava

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "db/db_impl.h"
#include "db/instance_context.h"
#include "host/process_parts.h"
#include "lava/options.h"
#include "lava/status.h"
#include "manifest/version_edit.h"

namespace lava {
std::string WalDirectory(const DBOptions& options, const std::string& path) {
  if (!options.wal_directory.empty()) return options.wal_directory;
  const size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? "wal" : path.substr(0, slash) + "/wal";
}

Status DBImpl::OpenWal(VersionEdit* first) {
  const std::optional<uint64_t> flushed = components_.tree.versions.state().wal_flushed;
  if (components_.instance.options.wal == WalMode::kNone) {
    if (!flushed) return Status::OK();
    return Status::InvalidArgument(
        "the instance has a write-ahead log, and options.wal says that it has none: what is only "
        "in the log would be lost");
  }
  const std::string directory =
      WalDirectory(components_.instance.options, components_.instance.path);
  // Does not use direct I/O: it is an option of one instance, but instances share the log.
  const WalLocation location{FileSystemOf(components_.instance.options, nullptr),
                             components_.instance.options.volume, directory,
                             components_.instance.path};
  LAVA_ASSIGN_OR_RETURN(std::unique_ptr<Wal> wal, components_.instance.lease->host()->wals()->Open(
                                                      location, components_.wal.synced(), flushed));
  components_.wal.Open(std::move(wal), flushed);
  first->wal_flushed = flushed.value_or(0);
  components_.remover.SetReplayedThrough(components_.wal.last());
  return Status::OK();
}

}  // namespace lava

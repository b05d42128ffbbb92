// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "host/process_parts.h"
#include "lava/status.h"
#include "log/lava_log.h"

namespace lava {

/// One instance's write-ahead log as a logical log in the LavaLog that all instances of a process
/// share. Ownership: shares the LavaLog. name: of the logical log. directory: of the LavaLog, for
/// messages. synced, flushed, errors: as WalOpener::Open().
Result<std::unique_ptr<Wal>> OpenLavaLogWal(std::shared_ptr<log::LavaLog> log,
                                            const std::string& name, const std::string& directory,
                                            bool synced, std::optional<uint64_t> flushed);

}  // namespace lava

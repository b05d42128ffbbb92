// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

namespace lava::os {

/// A number that identifies the current boot of the machine. Unsynced data written before this boot
/// may have been lost in a power cut; data written since is readable while the machine runs. 0: the
/// kernel gives no boot id.
/// Threads:    any.
uint64_t BootId();

}  // namespace lava::os

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lava/options.h"

namespace lava::testing {

/// The setup of an instance for a history. The options for an index are deterministic.
struct OptionSet {
  enum class Files : uint8_t { kMemory, kPosix, kLavaFs };
  enum class Jobs : uint8_t {
    kRandomOrder,  // simulated: jobs run when the history requests it, in any order
    kPriority,     // simulated, in the order of their priorities
    kThreads,      // its own threads
  };
  uint32_t index = 0;
  Files files = Files::kMemory;
  bool direct_io = false;  // kPosix
  Jobs jobs = Jobs::kRandomOrder;
  uint32_t threads = 1;  // kThreads
  uint64_t lease_bytes = 64 << 20;
  double write_buffer_ratio = 0.5;
  std::optional<bool> sync;        // otherwise as drawn
  bool changes_at_reopen = false;  // whether later opens use other block sizes, levels, ...
};
inline constexpr uint32_t kOptionSetCount = 64;
/// The first sixteen each use one extreme option; the others are drawn.
OptionSet OptionSetAt(uint32_t index);
/// The same for all opens: an instance whose data is only in the log cannot be opened without the
/// log.
WalMode WalOf(const OptionSet& set);
/// The options for the n-th open, from 0; the caller sets lease and file system.
DBOptions OptionsOf(const OptionSet& set, uint32_t opening);
/// The separation size of each table opened then; 0: values stay in the tree.
uint64_t SeparationOf(const OptionSet& set, uint32_t opening);
std::string Describe(const OptionSet& set);

}  // namespace lava::testing

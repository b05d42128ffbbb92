#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lava/options.h"

namespace lava::testing {

/// How an instance is set up for a history. What is drawn from an index is always the same.
struct OptionSet {
  enum class Files : uint8_t { kMemory, kPosix, kLavaFs };
  enum class Jobs : uint8_t {
    kRandomOrder,  // simulated: run where the history says, in any order
    kPriority,     // simulated, in the order of their priorities
    kThreads,      // a pool of its own
  };
  uint32_t index = 0;
  Files files = Files::kMemory;
  bool direct_io = false;  // kPosix
  Jobs jobs = Jobs::kRandomOrder;
  uint32_t threads = 1;  // kThreads
  uint64_t lease_bytes = 64 << 20;
  double write_buffer_ratio = 0.5;
  std::optional<bool> sync;        // else as drawn
  bool changes_at_reopen = false;  // other block sizes, levels, ... from then on
};
inline constexpr uint32_t kOptionSetCount = 64;
/// The first sixteen each stretch one option; the others are drawn.
OptionSet OptionSetAt(uint32_t index);
/// The same for all openings: what is only in the log is not opened without.
WalMode WalOf(const OptionSet& set);
/// For the n-th opening, from 0; lease and file system are left to the caller.
DBOptions OptionsOf(const OptionSet& set, uint32_t opening);
/// What each table that is opened then says; 0: values stay in the tree.
uint64_t SeparationOf(const OptionSet& set, uint32_t opening);
std::string Describe(const OptionSet& set);

}  // namespace lava::testing

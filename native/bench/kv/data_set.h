// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "testing/random.h"

namespace lava::bench {

enum class ValueSizes {
  kFixed,
  kMixed,   // half of 16 KiB, half of 100 to 512 bytes (Scavenger 4.1)
  kPareto,  // generalized Pareto, drawn for each value (DiffKV 5.1)
};

/// The papers' records: keys of 36 bytes (LavaStore 4.1) unless set otherwise, values that compress
/// to half their size.
/// Threads:    const, any thread; a RecordMaker is used by one thread.
struct DataSet {
  ValueSizes sizes = ValueSizes::kFixed;
  uint64_t value_bytes = 0;  // for kFixed
  uint64_t keys = 0;
  size_t key_bytes = 36;
};

/// Chooses the next key: uniformly, or from a Zipf distribution with an exponent of 0.9.
class KeyChooser {
 public:
  KeyChooser(uint64_t keys, bool zipf) : keys_(keys), zipf_(zipf) {}
  uint64_t Next(testing::Random* random) const;

 private:
  const uint64_t keys_;
  const bool zipf_;
};

/// Creates the n-th key and a new value for it, in reused memory.
class RecordMaker {
 public:
  RecordMaker(const DataSet& data, uint64_t seed);
  const std::string& Key(uint64_t n);
  const std::string& Value(uint64_t n);
  testing::Random* random() { return &random_; }

 private:
  uint64_t ValueBytesOf(uint64_t n);
  const DataSet data_;
  testing::Random random_;
  std::string noise_;
  std::string key_, value_;
};

/// Uniform between 0 and 1, both exclusive.
double UnitOf(testing::Random* random);

/// Bytes after LZ4 compression per byte of data, with values compressed individually and keys
/// uncompressed.
double StoredPerUserByte(const DataSet& data);

}  // namespace lava::bench

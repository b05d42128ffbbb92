#pragma once

#include <cstdint>
#include <string>

#include "testing/random.h"

namespace lava::bench {

enum class ValueSizes {
  kFixed,
  kMixed,   // half of 16 KiB, half of 100 to 512 bytes (Scavenger 4.1)
  kPareto,  // generalized Pareto, drawn anew for each value (DiffKV 5.1)
};

/// The papers' records: keys of 36 bytes (LavaStore 4.1) unless said otherwise, values that
/// compress to half. Threads:    const, any thread; a RecordMaker is of one thread.
struct DataSet {
  ValueSizes sizes = ValueSizes::kFixed;
  uint64_t value_bytes = 0;  // of fixed ones
  uint64_t keys = 0;
  size_t key_bytes = 36;
};

/// Which key comes next: uniform, or by Zipf's law with an exponent of 0.9.
class KeyChooser {
 public:
  KeyChooser(uint64_t keys, bool zipf) : keys_(keys), zipf_(zipf) {}
  uint64_t Next(testing::Random* random) const;

 private:
  const uint64_t keys_;
  const bool zipf_;
};

/// Makes the n-th key and a new value for it, into memory that is used again.
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

/// Between 0 and 1, of which it is neither.
double UnitOf(testing::Random* random);

/// How many bytes LZ4 makes of a byte of the data, each value by itself and keys as they are.
double StoredPerUserByte(const DataSet& data);

}  // namespace lava::bench

#pragma once

#include <cstdint>
#include <string>

#include "testing/random.h"

namespace lava::bench {

/// The papers' records: keys of 36 bytes (LavaStore 4.1), values that compress to half, of one
/// length or mixed: half of 16 KiB, half of 100 to 512 bytes (Scavenger 4.1).
/// Threads:    const, any thread; a RecordMaker is of one thread.
struct DataSet {
  bool mixed = false;
  uint64_t value_bytes = 0;
  uint64_t keys = 0;

  uint64_t ValueBytesOf(uint64_t n) const {
    if (!mixed) return value_bytes;
    return n % 2 == 0 ? 16 << 10 : 100 + n / 2 % 413;
  }
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
  const DataSet data_;
  testing::Random random_;
  std::string noise_;
  std::string key_, value_;
};

/// How many bytes LZ4 makes of a byte of the data, each value by itself and keys as they are.
double StoredPerUserByte(const DataSet& data);

}  // namespace lava::bench

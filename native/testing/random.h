// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

namespace lava::testing {

/// A small seeded generator: the same seed gives the same numbers on every machine.
/// Threads:    one.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  /// splitmix64.
  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  /// In [0, n); n > 0.
  uint64_t Uniform(uint64_t n) { return Next() % n; }
  /// In [low, high].
  uint64_t Between(uint64_t low, uint64_t high) { return low + Uniform(high - low + 1); }
  bool OneIn(uint64_t n) { return Uniform(n) == 0; }
  std::string Bytes(size_t count);
  /// Mostly short: all size classes from 0 to bytes_max are equally likely.
  std::string SkewedBytes(size_t bytes_max);

 private:
  uint64_t state_;
};

/// Keys as Flink creates them: [key group][serialized key][namespace]. They are short, with long
/// common prefixes, and few enough that operations hit the same keys. Map entries append a user key
/// to this prefix.
/// Threads:    one.
class KeyGenerator {
 public:
  struct Options {
    uint32_t partition_bytes = 1;
    uint32_t partitions = 4;
    uint32_t keys = 64;              // distinct keys per partition
    uint32_t user_keys = 8;          // map entries per key
    std::string common = "k\0\0\0";  // start of every key, after its partition
  };
  KeyGenerator(uint64_t seed, Options options) : random_(seed), options_(std::move(options)) {}

  /// A key without a deletable prefix.
  std::string Key();
  /// A key whose first *prefix_bytes bytes are a deletable prefix.
  std::string MapKey(uint32_t* prefix_bytes);
  /// A prefix that keys of MapKey() have.
  std::string MapPrefix();
  /// The n-th key, n < partitions * keys; ascending in n.
  std::string KeyAt(uint64_t n) const;
  Random& random() { return random_; }

 private:
  Random random_;
  Options options_;
};

}  // namespace lava::testing

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "testing/random.h"

#include "base/coding.h"

namespace lava::testing {

std::string Random::Bytes(size_t count) {
  std::string bytes(count, '\0');
  for (char& byte : bytes) byte = static_cast<char>(Next() & 0xff);
  return bytes;
}

std::string Random::SkewedBytes(size_t bytes_max) {
  size_t classes = 1;
  while (bytes_max >> classes != 0) ++classes;
  const size_t limit = bytes_max >> Uniform(classes + 1);
  return Bytes(limit == 0 ? 0 : Uniform(limit + 1));
}

std::string KeyGenerator::KeyAt(uint64_t n) const {
  std::string key;
  PutBigEndian(&key, n / options_.keys % options_.partitions, options_.partition_bytes);
  key.append(options_.common);
  PutBigEndian(&key, n % options_.keys, 4);
  key.push_back('\0');  // an empty namespace
  return key;
}

std::string KeyGenerator::Key() {
  return KeyAt(random_.Uniform(uint64_t{options_.partitions} * options_.keys));
}

std::string KeyGenerator::MapPrefix() { return Key(); }

std::string KeyGenerator::MapKey(uint32_t* prefix_bytes) {
  std::string key = MapPrefix();
  *prefix_bytes = static_cast<uint32_t>(key.size());
  const uint64_t user_key = random_.Uniform(options_.user_keys);
  // One entry has an empty user key: its key is the prefix itself.
  if (user_key > 0) PutBigEndian(&key, user_key, 1 + user_key % 3);
  return key;
}

}  // namespace lava::testing

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "bench/kv/data_set.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/coding.h"
#include "base/compression.h"

namespace lava::bench {
namespace {

constexpr double kZipf = 0.9;
// DiffKV 5.1: about 1 KB on average.
constexpr double kParetoShape = 0.92, kParetoScale = 226;
constexpr double kParetoBytesMax = 128 << 10;
constexpr size_t kNoiseBytes = 1 << 20;
constexpr uint64_t kSampled = 1000;

}  // namespace

double UnitOf(testing::Random* random) {
  return (static_cast<double>(random->Next() >> 11) + 0.5) / 9007199254740992.0;
}

// For exponents below 1, ranks of a Zipf distribution can be computed without rejection.
uint64_t KeyChooser::Next(testing::Random* random) const {
  if (!zipf_) return random->Uniform(keys_);
  const double rank = std::pow(UnitOf(random), 1 / (1 - kZipf)) * static_cast<double>(keys_);
  return std::min(static_cast<uint64_t>(rank), keys_ - 1);
}

RecordMaker::RecordMaker(const DataSet& data, uint64_t seed)
    : data_(data), random_(seed), noise_(random_.Bytes(kNoiseBytes)) {}

// Spread over all partitions, so that keys of neighbouring ranks are not neighbours.
const std::string& RecordMaker::Key(uint64_t n) {
  key_.clear();
  PutBigEndian(&key_, n * 0x9e3779b97f4a7c15ull, 8);
  PutBigEndian(&key_, n, 8);
  key_.resize(data_.key_bytes, 'k');
  return key_;
}

uint64_t RecordMaker::ValueBytesOf(uint64_t n) {
  switch (data_.sizes) {
    case ValueSizes::kMixed:
      return n % 2 == 0 ? 16 << 10 : 100 + n / 2 % 413;
    case ValueSizes::kPareto: {
      const double scaled = std::pow(UnitOf(&random_), -kParetoShape) - 1;
      return static_cast<uint64_t>(
          std::clamp(scaled * kParetoScale / kParetoShape, 1.0, kParetoBytesMax));
    }
    case ValueSizes::kFixed:
      break;
  }
  return data_.value_bytes;
}

// Half random bytes, half zeros.
const std::string& RecordMaker::Value(uint64_t n) {
  const uint64_t bytes = ValueBytesOf(n);
  value_.assign(bytes, '\0');
  const size_t from = random_.Uniform(noise_.size() / 2);
  std::memcpy(value_.data(), noise_.data() + from,
              std::min<size_t>(bytes / 2, noise_.size() - from));
  return value_;
}

double StoredPerUserByte(const DataSet& data) {
  RecordMaker records(data, 1);
  Compressor compressor(Compression::kLz4);
  std::string compressed;
  uint64_t raw = 0, stored = 0;
  for (uint64_t n = 0; n < kSampled; ++n) {
    const std::string& value = records.Value(n);
    raw += data.key_bytes + value.size();
    const bool shrinks = compressor.Compress(value, &compressed) != Compression::kNone;
    stored += data.key_bytes + (shrinks ? compressed.size() : value.size());
  }
  return static_cast<double>(stored) / static_cast<double>(raw);
}

}  // namespace lava::bench

#include "bench/kv/data_set.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/coding.h"
#include "base/compression.h"

namespace lava::bench {
namespace {

constexpr size_t kKeyBytes = 36;
constexpr double kZipf = 0.9;
constexpr size_t kNoiseBytes = 1 << 20;
constexpr uint64_t kSampled = 1000;

}  // namespace

// Ranks by Zipf's law have a rejection-free inverse for exponents below 1.
uint64_t KeyChooser::Next(testing::Random* random) const {
  if (!zipf_) return random->Uniform(keys_);
  const double u = (static_cast<double>(random->Next() >> 11) + 0.5) / 9007199254740992.0;
  const double rank = std::pow(u, 1 / (1 - kZipf)) * static_cast<double>(keys_);
  return std::min(static_cast<uint64_t>(rank), keys_ - 1);
}

RecordMaker::RecordMaker(const DataSet& data, uint64_t seed)
    : data_(data), random_(seed), noise_(random_.Bytes(kNoiseBytes)) {}

// Spread over all partitions, so that neighbours in rank are none in key order.
const std::string& RecordMaker::Key(uint64_t n) {
  key_.clear();
  PutBigEndian(&key_, n * 0x9e3779b97f4a7c15ull, 8);
  PutBigEndian(&key_, n, 8);
  key_.resize(kKeyBytes, 'k');
  return key_;
}

// Half noise, half zeros.
const std::string& RecordMaker::Value(uint64_t n) {
  const uint64_t bytes = data_.ValueBytesOf(n);
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
    raw += kKeyBytes + value.size();
    const bool shrinks = compressor.Compress(value, &compressed) != Compression::kNone;
    stored += kKeyBytes + (shrinks ? compressed.size() : value.size());
  }
  return static_cast<double>(stored) / static_cast<double>(raw);
}

}  // namespace lava::bench

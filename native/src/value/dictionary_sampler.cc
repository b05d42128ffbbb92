// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/dictionary_sampler.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/compression.h"
#include "base/dictionary.h"
#include "base/file_id.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "value/format.h"
#include "value/value_file.h"
#include "value/value_writer.h"

namespace lava::vsst {
namespace {

constexpr size_t kValuesMax = 1024;
constexpr uint64_t kRawBytesMax = 1 << 20;
constexpr size_t kMemoryBytesMax = 3 << 20;
/// Values of a larger mean size compress well without a dictionary. The mean is taken over at least
/// kMeanValuesMin samples.
constexpr uint64_t kMeanBytesMax = 32 << 10;
constexpr uint32_t kMeanValuesMin = 8;
/// Size of a trained dictionary. Each reader keeps its own in memory, with 27 KiB of tables.
constexpr uint64_t kTrainedBytesMax = 16 << 10, kTrainedBytesMin = 256;
constexpr uint64_t kTriedBytesMax = 128 << 10;
/// Approximate, in both indexes.
constexpr uint64_t kIndexBytesPerRecord = 12;

}  // namespace

bool DictionarySampler::Fits(size_t key_bytes, size_t value_bytes) const {
  return size() < kValuesMax && sample_raw_bytes_ + value_bytes <= kRawBytesMax &&
         memory_.size() + key_bytes + 2 * value_bytes <= kMemoryBytesMax;
}

bool DictionarySampler::TooLarge() const {
  return sample_raw_bytes_ > kMeanBytesMax * std::max(samples_, kMeanValuesMin);
}

void DictionarySampler::Add(Slice key, const FileId& blob_file, const StoredValue& stored,
                            const Slice* raw) {
  locations_.push_back({memory_.size(), static_cast<uint32_t>(key.size()),
                        static_cast<uint32_t>(stored.bytes.size()), stored.raw_bytes, stored.codec,
                        raw != nullptr, blob_file});
  memory_.append(key);
  memory_.append(stored.bytes);
  if (raw != nullptr) {
    if (stored.codec != Compression::kNone) memory_.append(*raw);
    ++samples_;
    sample_raw_bytes_ += raw->size();
    sample_stored_bytes_ += stored.bytes.size();
  }
  estimated_bytes_ += key.size() + stored.bytes.size() + kRecordBytesMin + kIndexBytesPerRecord;
}

DictionarySampler::Value DictionarySampler::at(size_t i) const {
  const Location& location = locations_[i];
  Slice rest = Slice(memory_).substr(location.begin);
  Value value;
  value.key = rest.substr(0, location.key_bytes);
  value.blob_file = location.blob_file;
  rest.remove_prefix(location.key_bytes);
  value.stored = {location.codec, location.raw_bytes, rest.substr(0, location.stored_bytes)};
  value.is_sample = location.is_sample;
  if (location.is_sample) {
    if (location.codec != Compression::kNone) rest.remove_prefix(location.stored_bytes);
    value.raw = rest.substr(0, location.raw_bytes);
  }
  return value;
}

// Trains on every second sample. Keys ascend, so these represent all of them.
std::string DictionarySampler::Train() const {
  std::string samples;
  std::vector<size_t> sizes;
  bool trains = false;
  for (size_t i = 0; i < size(); ++i) {
    const Value value = at(i);
    if (!value.is_sample) continue;
    trains = !trains;
    if (!trains) continue;
    samples.append(value.raw);
    sizes.push_back(value.raw.size());
  }
  const uint64_t bytes = std::clamp(sample_raw_bytes_ / 8, kTrainedBytesMin, kTrainedBytesMax);
  return TrainDictionary(samples, sizes, bytes);
}

bool DictionarySampler::Pays(Slice dictionary, uint32_t saving_percent_min) const {
  DictionaryCompressor compressor(dictionary);
  std::string compressed;
  uint64_t tried = 0, without = 0, with = 0;
  bool trained = false;
  for (size_t i = 0; i < size() && tried < kTriedBytesMax; ++i) {
    const Value value = at(i);
    if (!value.is_sample) continue;
    trained = !trained;
    if (trained) continue;
    const Compression codec = compressor.Compress(value.raw, &compressed);
    tried += value.raw.size();
    without += value.stored.bytes.size();
    with += codec == Compression::kNone ? value.raw.size() : compressed.size();
  }
  if (with >= without || (without - with) * 100 < without * saving_percent_min) return false;
  // The sampled values are all that the file is certain to get, so the dictionary must pay for
  // them.
  const uint64_t saved = sample_stored_bytes_ * (without - with) / without;
  std::string stored;
  const Compression codec = Compressor(Compression::kZstd).Compress(dictionary, &stored);
  return saved > (codec == Compression::kNone ? dictionary.size() : stored.size());
}

std::string DictionarySampler::ChooseDictionary(const DictionaryOptions& options) const {
  if (options.enabled && !options.given.empty()) return std::string(options.given);
  if (!options.enabled || TooLarge() || samples_ < options.values_min ||
      sample_raw_bytes_ < options.raw_bytes_min)
    return {};
  std::string dictionary = Train();
  // A dictionary that cannot be loaded would make its file unreadable.
  if (dictionary.empty() || Dictionary::Load(dictionary) == nullptr) return {};
  if (options.saving_percent_min == 0 || Pays(dictionary, options.saving_percent_min))
    return dictionary;
  return {};
}

}  // namespace lava::vsst

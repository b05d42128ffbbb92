// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "value/crit_bit.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/coding.h"
#include "lava/slice.h"
#include "value/format.h"

namespace lava::vsst {
namespace {

constexpr size_t kHeadBytes = 10;  // count, base of the bits, widths of bits and positions
constexpr uint32_t kBitsPerByte = 9;

bool BitOf(Slice key, uint64_t bit) {
  uint64_t byte = bit / kBitsPerByte;
  if (byte >= key.size()) return false;
  uint64_t within = bit % kBitsPerByte;
  return within == 0 || ((static_cast<unsigned char>(key[byte]) >> (8 - within)) & 1) != 0;
}

uint64_t ReadNumber(const char* from, size_t width) {
  uint64_t number = 0;
  std::memcpy(&number, from, width);
  return number;
}

void PutNumber(std::string* out, uint64_t number, size_t width) {
  out->append(reinterpret_cast<const char*>(&number), width);
}

uint8_t WidthOf(uint64_t greatest) {
  return static_cast<uint8_t>(std::max<uint64_t>(1, (std::bit_width(greatest) + 7) / 8));
}

}  // namespace

uint32_t FirstDifferingBit(Slice low, Slice high) {
  size_t shared = static_cast<size_t>(
      std::mismatch(low.begin(), low.end(), high.begin(), high.end()).first - low.begin());
  uint32_t at = static_cast<uint32_t>(shared) * kBitsPerByte;
  if (shared == low.size()) return at;
  unsigned char differing = static_cast<unsigned char>(low[shared] ^ high[shared]);
  return at + 1 + static_cast<uint32_t>(std::countl_zero(differing));
}

void IndexPartitionBuilder::Add(Slice key, uint64_t offset) {
  if (!positions_.empty()) bits_.push_back(FirstDifferingBit(last_key_, key));
  fingerprints_.push_back(static_cast<char>(FingerprintOf(KeyHash(key))));
  positions_.push_back(offset);
  last_key_.assign(key);
}

uint64_t IndexPartitionBuilder::Finish(uint64_t end, std::string* out) {
  size_t before = out->size();
  uint64_t begin = positions_.front();
  uint32_t base = bits_.empty() ? 0 : *std::min_element(bits_.begin(), bits_.end());
  uint32_t greatest = bits_.empty() ? 0 : *std::max_element(bits_.begin(), bits_.end());
  uint8_t bit_width = WidthOf(greatest - base);
  if (bit_width == 3) bit_width = 4;
  uint8_t position_width = WidthOf(end - begin);
  PutFixed32(out, count());
  PutFixed32(out, base);
  out->push_back(static_cast<char>(bit_width));
  out->push_back(static_cast<char>(position_width));
  for (uint32_t bit : bits_) PutNumber(out, bit - base, bit_width);
  out->append(fingerprints_);
  uint64_t tree_bytes = out->size() - before;
  positions_.push_back(end);
  for (size_t i = 1; i < positions_.size(); ++i)
    PutNumber(out, positions_[i] - begin, position_width);
  bits_.clear();
  fingerprints_.clear();
  positions_.clear();
  return tree_bytes;
}

const char* IndexPartitionView::Load(Slice payload, uint64_t extent_bytes) {
  if (payload.size() < kHeadBytes) return "a partition's head is cut short";
  count_ = DecodeFixed32(payload.data());
  bit_base_ = DecodeFixed32(payload.data() + 4);
  bit_width_ = static_cast<uint8_t>(payload[8]);
  position_width_ = static_cast<uint8_t>(payload[9]);
  if (count_ == 0 || count_ > kIndexPartitionKeysMax) return "a partition's count is impossible";
  if ((bit_width_ != 1 && bit_width_ != 2 && bit_width_ != 4) || position_width_ == 0 ||
      position_width_ > 8)
    return "a partition's widths are impossible";
  if (payload.size() != tree_bytes() + size_t{count_} * position_width_)
    return "a partition has not the length that its count asks for";
  bits_ = payload.data() + kHeadBytes;
  fingerprints_ = bits_ + size_t{count_ - 1} * bit_width_;
  positions_ = fingerprints_ + count_;
  uint64_t begin = 0;
  for (uint32_t i = 0; i < count_; ++i) {
    uint64_t end = Position(i);
    if (end < begin || end - begin < kRecordBytesMin)
      return "a partition's positions do not ascend";
    begin = end;
  }
  return begin == extent_bytes ? nullptr : "a partition's records do not end where they must";
}

uint64_t IndexPartitionView::tree_bytes() const {
  return kHeadBytes + uint64_t{count_ - 1} * bit_width_ + count_;
}

uint64_t IndexPartitionView::bit(uint32_t i) const {
  return bit_base_ + ReadNumber(bits_ + size_t{i} * bit_width_, bit_width_);
}

uint64_t IndexPartitionView::Position(uint32_t i) const {
  return ReadNumber(positions_ + size_t{i} * position_width_, position_width_);
}

uint32_t IndexPartitionView::Candidate(Slice key) const {
  if (bit_width_ == 1) return Search<uint8_t>(key);
  return bit_width_ == 2 ? Search<uint16_t>(key) : Search<uint32_t>(key);
}

template <typename Number>
uint32_t IndexPartitionView::Search(Slice key) const {
  auto at = [this](uint32_t i) {
    Number number;
    std::memcpy(&number, bits_ + size_t{i} * sizeof(Number), sizeof(Number));
    return number;
  };
  uint32_t candidate = 0;
  uint32_t last = count_ - 1;
  for (uint32_t i = 0; i < last;) {
    Number bit = at(i);
    if (BitOf(key, uint64_t{bit_base_} + bit)) {
      candidate = ++i;
    } else {
      // The keys behind entries with greater bits all have a 1 here: skip them.
      do ++i;
      while (i < last && at(i) > bit);
    }
  }
  return candidate;
}

}  // namespace lava::vsst

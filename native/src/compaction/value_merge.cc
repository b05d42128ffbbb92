// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "compaction/value_merge.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/dictionary.h"
#include "base/list_parts.h"
#include "base/record.h"
#include "base/value_reference.h"
#include "job/value_output.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "policy/overlap_depth.h"
#include "read/version_lookup.h"
#include "value/value_file.h"

namespace lava {
namespace {

// A read of a list fetches each reference. Lists with more are joined, at least half of this many.
constexpr int kListReferencesMax = 16;
// Bytes read at once from a file. The more files overlap, the smaller the pieces.
constexpr uint64_t kPieceBytesMin = 64 << 10, kPieceBytesMax = 256 << 10;
constexpr uint64_t kPiecesBytesMax = 4 << 20;

uint64_t DepthOf(const std::set<const ValueFileMeta*>& files) {
  std::vector<KeyRange> ranges;
  ranges.reserve(files.size());
  for (const ValueFileMeta* file : files) ranges.push_back({file->lower, file->upper});
  return OverlapDepth(ranges);
}

uint64_t PieceBytesOf(uint64_t depth) {
  return std::clamp(kPiecesBytesMax / std::max<uint64_t>(1, depth), kPieceBytesMin, kPieceBytesMax);
}

}  // namespace

uint64_t ValueMerge::AheadBytesOf(const std::set<const ValueFileMeta*>& files) {
  const uint64_t depth = DepthOf(files);
  return depth * PieceBytesOf(depth);
}

ValueMerge::ValueMerge(const Version& version, const std::set<const ValueFileMeta*>& files,
                       ValueOutput* output)
    : version_(version),
      files_(files),
      values_(version, PieceBytesOf(DepthOf(files))),
      output_(*output) {}

Status ValueMerge::Move(Record* record) {
  if (HasParts(record->kind)) return MoveList(record);
  if (files_.empty() || record->kind != RecordKind::kPutReference) return Status::OK();
  ValueReference reference;
  if (!DecodeReference(record->value, &reference))
    return Status::Corruption("a reference to a value file is malformed");
  StoredValue stored;
  LAVA_ASSIGN_OR_RETURN(const bool found, values_.Find(files_, record->key, reference, &stored));
  if (!found) return Status::OK();
  bytes_read_ += stored.raw_bytes;
  const bool separated = output_.Separates(record->key, stored.raw_bytes);
  if (separated && stored.codec != kZstdDictionary)
    return output_.MoveStored(record, stored, reference.timestamp);
  Slice value;
  LAVA_RETURN_IF_ERROR(values_.Decode(stored, &value));
  record->kind = RecordKind::kPut;
  record->value = value;
  return output_.MoveOut(record);
}

Status ValueMerge::FindParts(Slice key, size_t* first, size_t* last) {
  *first = *last = parts_.size();
  found_.assign(parts_.size(), std::nullopt);
  if (files_.empty()) return Status::OK();
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (!parts_[i].is_reference) continue;
    ValueReference reference;
    LAVA_RETURN_IF_ERROR(ReferenceOf(parts_[i], &reference));
    StoredValue stored;
    LAVA_ASSIGN_OR_RETURN(const bool found, values_.Find(files_, key, reference, &stored));
    if (!found) continue;
    Slice value;
    LAVA_RETURN_IF_ERROR(values_.Decode(stored, &value));
    found_[i].emplace(value);
    bytes_read_ += value.size();
    if (*first == parts_.size()) *first = i;
    *last = i;
  }
  return Status::OK();
}

Result<size_t> ValueMerge::FirstOfTail() const {
  std::vector<uint64_t> bytes(parts_.size());
  uint64_t tail = 0;
  int references = 0;
  size_t begin = parts_.size();  // first part that may be joined at all
  for (size_t i = parts_.size(); i > 0; --i) {
    const ListPart& part = parts_[i - 1];
    ValueReference reference;
    if (part.is_reference) LAVA_RETURN_IF_ERROR(ReferenceOf(part, &reference));
    bytes[i - 1] = part.is_reference ? reference.raw_bytes : part.bytes.size();
    if (bytes[i - 1] > kListTailBytesMax - tail) break;
    tail += bytes[i - 1];
    references += part.is_reference;
    begin = i - 1;
  }
  if (references <= kListReferencesMax) return parts_.size();
  uint64_t together = 0;
  int taken = 0;
  size_t first = parts_.size();
  for (; first > begin; --first) {
    if (taken > kListReferencesMax / 2 && bytes[first - 1] > 2 * together) break;
    together += bytes[first - 1];
    taken += parts_[first - 1].is_reference;
  }
  return first;
}

Result<bool> ValueMerge::PutTogether(Slice key, size_t first, size_t last) {
  for (size_t i = first; i <= last; ++i) {
    if (!parts_[i].is_reference) {
      list_.append(parts_[i].bytes);
    } else if (found_[i]) {
      list_.append(*found_[i]);
    } else {
      ValueReference reference;
      LAVA_RETURN_IF_ERROR(ReferenceOf(parts_[i], &reference));
      Slice value;
      std::shared_ptr<const void> pin;
      const Result<bool> there = FindValue(version_, key, reference, false, &value, &pin);
      if (there.status().IsNeedsFile()) return false;  // its file is still missing
      LAVA_RETURN_IF_ERROR(there.status());
      if (!*there) return false;
      bytes_read_ += value.size();
      list_.append(value);
    }
  }
  return true;
}

Status ValueMerge::MoveList(Record* record) {
  LAVA_RETURN_IF_ERROR(SplitList(record->value, &parts_));
  size_t first, last;
  LAVA_RETURN_IF_ERROR(FindParts(record->key, &first, &last));
  if (first == parts_.size()) {
    LAVA_ASSIGN_OR_RETURN(first, FirstOfTail());
    last = parts_.size() - 1;
  }
  if (first == parts_.size()) return Status::OK();
  list_.clear();
  bool parts_left = false;
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (i == first) {
      LAVA_ASSIGN_OR_RETURN(const bool whole, PutTogether(record->key, first, last));
      if (!whole) return Status::OK();  // a value is gone: another record hides this one
      i = last;
    } else {
      AppendListPart(parts_[i], &list_);
      parts_left = parts_left || parts_[i].is_reference;
    }
  }
  record->kind = WithoutParts(record->kind);
  if (parts_left) record->kind = WithParts(record->kind);
  record->value = list_;
  return Status::OK();
}

}  // namespace lava

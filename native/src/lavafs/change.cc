// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lavafs/change.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/coding.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lavafs/format.h"

namespace lava::lavafs {
namespace {

constexpr std::array<Slice, 12> kNames = {
    "",        "make directory", "remove directory", "create", "link",  "unlink", "rename",
    "extents", "size",           "restore",          "jump",   "resume"};

void PutRanges(const std::vector<ExtentRange>& ranges, std::string* out) {
  LAVA_CHECK(ranges.size() <= kRangesMax);
  PutVarint32(out, static_cast<uint32_t>(ranges.size()));
  for (const ExtentRange& range : ranges) {
    PutVarint32(out, range.first);
    PutVarint32(out, range.count);
  }
}

bool GetRanges(Slice* in, std::vector<ExtentRange>* ranges) {
  uint32_t count = 0;
  if (!GetVarint32(in, &count) || count > kRangesMax) return false;
  ranges->resize(count);
  for (ExtentRange& range : *ranges) {
    if (!GetVarint32(in, &range.first) || !GetVarint32(in, &range.count)) return false;
    if (range.first < kFirstExtent || range.first >= kExtentsMax || range.count == 0 ||
        range.count > kExtentsMax - range.first) {
      return false;
    }
  }
  return true;
}

void PutSize(const Change& change, std::string* out) {
  PutVarint64(out, change.size);
  out->push_back(change.open_ended ? 1 : 0);
}

bool GetSize(Slice* in, Change* change) {
  Slice flag;
  if (!GetVarint64(in, &change->size) || !GetBytes(in, 1, &flag)) return false;
  change->open_ended = flag[0] != 0;
  return static_cast<unsigned char>(flag[0]) <= 1 &&
         change->size <= uint64_t{kExtentsMax} * kExtentBytesMax;
}

bool GetName(Slice* in, Slice* name) { return GetLengthPrefixed(in, name) && IsFileName(*name); }

// Reads the fields that follow the type.
bool GetFields(Slice* in, Change* change) {
  using Type = Change::Type;
  switch (change->type) {
    case Type::kMakeDirectory:
      return GetVarint32(in, &change->directory) && GetLengthPrefixed(in, &change->name) &&
             IsDirectoryName(change->name);
    case Type::kRemoveDirectory:
      return GetVarint32(in, &change->directory);
    case Type::kCreate:
    case Type::kLink:
      return GetVarint32(in, &change->inode) && GetVarint32(in, &change->directory) &&
             GetName(in, &change->name);
    case Type::kUnlink:
      return GetVarint32(in, &change->directory) && GetName(in, &change->name);
    case Type::kRename:
      return GetVarint32(in, &change->directory) && GetName(in, &change->name) &&
             GetVarint32(in, &change->to_directory) && GetName(in, &change->to_name);
    case Type::kExtents:
      return GetVarint32(in, &change->inode) && GetRanges(in, &change->ranges);
    case Type::kSize:
      return GetVarint32(in, &change->inode) && GetSize(in, change);
    case Type::kRestore:
      return GetVarint32(in, &change->inode) && GetSize(in, change) &&
             GetRanges(in, &change->ranges);
    case Type::kJump:
      return GetVarint32(in, &change->extent);
    case Type::kResume:
      return GetVarint32(in, &change->start.extent) && GetFixed64(in, &change->start.sequence) &&
             GetFixed64(in, &change->start.previous);
  }
  return false;
}

}  // namespace

Slice NameOf(Change::Type type) { return kNames[static_cast<size_t>(type)]; }

bool IsFileName(Slice name) {
  return !name.empty() && name.size() <= kNameBytesMax &&
         name.find_first_of(Slice("/\0", 2)) == Slice::npos;
}

bool IsDirectoryName(Slice name) {
  return !name.empty() && name.size() <= kDirectoryNameBytesMax && name.find('\0') == Slice::npos;
}

void EncodeChange(const Change& change, std::string* out) {
  using Type = Change::Type;
  out->push_back(static_cast<char>(change.type));
  switch (change.type) {
    case Type::kMakeDirectory:
      PutVarint32(out, change.directory);
      PutLengthPrefixed(out, change.name);
      break;
    case Type::kRemoveDirectory:
      PutVarint32(out, change.directory);
      break;
    case Type::kCreate:
    case Type::kLink:
      PutVarint32(out, change.inode);
      PutVarint32(out, change.directory);
      PutLengthPrefixed(out, change.name);
      break;
    case Type::kUnlink:
      PutVarint32(out, change.directory);
      PutLengthPrefixed(out, change.name);
      break;
    case Type::kRename:
      PutVarint32(out, change.directory);
      PutLengthPrefixed(out, change.name);
      PutVarint32(out, change.to_directory);
      PutLengthPrefixed(out, change.to_name);
      break;
    case Type::kExtents:
      PutVarint32(out, change.inode);
      PutRanges(change.ranges, out);
      break;
    case Type::kSize:
      PutVarint32(out, change.inode);
      PutSize(change, out);
      break;
    case Type::kRestore:
      PutVarint32(out, change.inode);
      PutSize(change, out);
      PutRanges(change.ranges, out);
      break;
    case Type::kJump:
      PutVarint32(out, change.extent);
      break;
    case Type::kResume:
      PutVarint32(out, change.start.extent);
      PutFixed64(out, change.start.sequence);
      PutFixed64(out, change.start.previous);
      break;
  }
}

Result<Change> DecodeChange(Slice* in) {
  Slice type;
  if (!GetBytes(in, 1, &type)) return Status::Corruption("a change ends before its type");
  const auto number = static_cast<unsigned char>(type[0]);
  if (number == 0 || number >= kNames.size()) {
    return Status::Corruption("a change of unknown type " + std::to_string(number));
  }
  Change change;
  change.type = static_cast<Change::Type>(number);
  if (!GetFields(in, &change)) {
    return Status::Corruption("a change \"" + std::string(NameOf(change.type)) +
                              "\" that no version writes");
  }
  return change;
}

}  // namespace lava::lavafs

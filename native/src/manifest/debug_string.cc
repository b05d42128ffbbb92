// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_id.h"
#include "lava/slice.h"
#include "manifest/blob_locations.h"
#include "manifest/version.h"
#include "manifest/version_edit.h"

namespace lava {
namespace {

// Bytes shown of a bound, and hexadecimal digits shown of an origin.
constexpr size_t kShownBytesMax = 12, kOriginDigits = 8;

std::string ShortHex(Slice bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes.substr(0, std::min(bytes.size(), kShownBytesMax))) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return bytes.size() > kShownBytesMax ? text + ".." : text;
}

// An empty upper bound has no end.
std::string BoundsText(Slice lower, Slice upper) {
  return " [" + ShortHex(lower) + ", " + (upper.empty() ? "end" : ShortHex(upper)) + ")";
}

std::string ShortName(const FileId& id) {
  return id.origin.ToString().substr(0, kOriginDigits) + "-" + std::to_string(id.number);
}

std::string Field(std::string_view what, uint64_t number) {
  return ", " + std::string(what) + " " + std::to_string(number);
}

std::string Describe(const KeyFileEntry& entry) {
  const FileMeta& file = *entry.file;
  std::string text = ShortName(file.id) + ".ksst" + BoundsText(entry.lower, entry.upper);
  if (entry.clipped()) text += " of" + BoundsText(file.lower, file.upper);
  text += Field("bytes", file.bytes) + Field("records", file.records);
  if (!file.blob_references.empty()) text += Field("blob files", file.blob_references.size());
  return text;
}

std::string Describe(const ValueFileMeta& file) {
  std::string text = ShortName(file.id) + ".vsst" + BoundsText(file.lower, file.upper) +
                     Field("bytes", file.bytes) + Field("raw", file.raw_bytes) +
                     Field("records", file.records) + Field("level", file.level) +
                     Field("group", file.group);
  return file.hot ? text + ", hot" : text;
}

}  // namespace

std::string Version::DebugString() const {
  std::string text;
  for (uint32_t n = 0; n < kLevelCountMax; ++n) {
    if (levels[n].empty()) continue;
    text += "level " + std::to_string(n) + Field("entries", levels[n].size()) +
            Field("bytes", sums.levels[n].entry_bytes) +
            Field("records", sums.levels[n].entry_records) + "\n";
    for (const KeyFileEntry& entry : levels[n]) text += "  " + Describe(entry) + "\n";
  }
  if (!value_files.empty())
    text += "value files: " + std::to_string(value_files.size()) +
            Field("bytes", sums.value_file_bytes) + Field("raw", sums.value_raw_bytes) + "\n";
  for (const auto& [id, entry] : value_files)
    text += "  " + Describe(*entry.file) + Field("garbage", entry.garbage.min) + " to " +
            std::to_string(entry.garbage.max) + Field("referenced", entry.garbage.referenced) +
            Field("locations", entry.locations) + "\n";
  for (const auto& [id, blob_file] : blob_files) {
    text += "blob file " + ShortName(id) + Field("named by", blob_file->named_by) +
            Field("records", blob_file->records) + Field("raw", blob_file->raw_bytes);
    // The sums of clipped entries: which part of them is visible is unknown.
    if (blob_file->clipped_records > 0)
      text += Field("clipped records", blob_file->clipped_records) +
              Field("clipped raw", blob_file->clipped_raw_bytes);
    text += ", in";
    for (const BlobLocation& location : blob_file->locations)
      text += " " + ShortName(location.file->id) + BoundsText(location.lower, location.upper);
    text += '\n';
  }
  return text.empty() ? "empty\n" : text;
}

std::string VersionEdit::DebugString() const {
  std::string text;
  const auto line = [&text](const std::string& what) { text += what + "\n"; };
  for (const AddedFile& file : added)
    line("add to level " + std::to_string(file.level) + ": " + Describe(file.entry));
  for (const RemovedFile& file : removed)
    line("remove from level " + std::to_string(file.level) + ": " + ShortName(file.id) +
         ".ksst from " + ShortHex(file.lower));
  for (const AddedValueFile& value : values_added) {
    std::string locations;
    for (const AddedValueFile::Location& location : value.locations)
      locations += " " + ShortName(location.blob_file) + BoundsText(location.lower, location.upper);
    line("add value file: " + Describe(*value.file) + ", for" + locations);
  }
  for (const FileId& id : values_removed) line("remove value file: " + ShortName(id) + ".vsst");
  for (const ExpiredBlobFile& blob_file : blob_files_expired)
    line("expire: blob file " + ShortName(blob_file.blob_file) + Field("table", blob_file.table) +
         ", to " + std::to_string(blob_file.timestamp_ms));
  for (const TableRegistration& table : registered)
    line("register: table '" + table.name + "'" + Field("id", table.id));
  for (const uint64_t id : dropped) line("drop: table " + std::to_string(id));
  for (const Origin& origin : origins)
    line("origin: " + origin.ToString().substr(0, kOriginDigits));
  const auto number = [&line](std::string_view name, const auto& value) {
    if (value) line(std::string(name) + ": " + std::to_string(*value));
  };
  number("partition bytes", partition_bytes);
  number("next file number", next_file_number);
  number("log flushed to", wal_flushed);
  number("entries released to", entries_released);
  return text.empty() ? "empty\n" : text;
}

}  // namespace lava

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "manifest/garbage.h"
#include "manifest/sums.h"
#include "manifest/version_edit.h"

namespace lava {

/// Helpers that build versions with blob files edit by edit. For tests of this folder.
inline FileId IdOf(uint64_t number) { return {{7, 9}, number}; }

inline std::shared_ptr<ValueFileMeta> ValueFileOf(uint64_t number, std::string lower,
                                                  std::string upper,
                                                  std::vector<BlobReference> blob_files) {
  auto meta = std::make_shared<ValueFileMeta>();
  meta->id = IdOf(number);
  meta->bytes = 5000 + number;
  meta->crc32c = 0xabcd0000 + static_cast<uint32_t>(number);
  meta->lower = std::move(lower);
  meta->upper = std::move(upper);
  meta->blob_files = std::move(blob_files);
  for (const BlobReference& reference : meta->blob_files) {
    meta->records += reference.records;
    meta->raw_bytes += reference.raw_bytes;
  }
  meta->stored_bytes = meta->raw_bytes / 2;
  return meta;
}
/// A value file in which all of its values were first written.
inline std::shared_ptr<ValueFileMeta> NewValueFile(uint64_t number, uint64_t records,
                                                   uint64_t raw_bytes, std::string lower = "a",
                                                   std::string upper = "z") {
  return ValueFileOf(number, std::move(lower), std::move(upper),
                     {{IdOf(number), records, raw_bytes}});
}
inline std::shared_ptr<FileMeta> KeyFileOf(uint64_t number, std::vector<BlobReference> references,
                                           std::string lower = "a", std::string upper = "z") {
  auto meta = std::make_shared<FileMeta>();
  meta->id = IdOf(number);
  meta->bytes = 1000 + number;
  meta->records = 10;
  meta->lower = std::move(lower);
  meta->upper = std::move(upper);
  meta->blob_references = std::move(references);
  return meta;
}
inline KeyFileEntry WholeOf(const std::shared_ptr<FileMeta>& file) {
  return {file, file->lower, file->upper};
}

/// All blob files and value files of a version as text: "blob file N: named, records/bytes, clipped
/// records/bytes, [lower,upper)@file ..." and "file N: locations".
inline std::string ValuesOf(const Version& version) {
  std::string text;
  const auto number = [](uint64_t n) { return std::to_string(n); };
  for (const auto& [id, blob_file] : version.blob_files) {
    text += "blob file " + number(id.number) + ": " + number(blob_file->named_by) + ", " +
            number(blob_file->records) + "/" + number(blob_file->raw_bytes) + ", " +
            number(blob_file->clipped_records) + "/" + number(blob_file->clipped_raw_bytes);
    std::vector<std::string> locations;
    for (const BlobLocation& location : blob_file->locations)
      locations.push_back(" [" + location.lower + "," + location.upper + ")@" +
                          number(location.file->id.number));
    std::sort(locations.begin(), locations.end());
    for (const std::string& location : locations) text += location;
    text += "\n";
  }
  for (const auto& [id, entry] : version.value_files)
    text += "file " + number(id.number) + ": " + number(entry.locations) + "\n";
  return text;
}

/// The sums that edits maintain must equal a full count.
inline void ExpectSums(const Version& version) {
  EXPECT_EQ(version.sums, CountSums(version));
  for (const auto& [id, entry] : version.value_files)
    EXPECT_EQ(entry.garbage, GarbageOf(version, *entry.file)) << "of file " << id.number;
}

class BlobFilesForTest {
 public:
  BlobFilesForTest() {
    VersionEdit first;
    first.partition_bytes = 1;
    Apply(first);
  }
  /// Applies the edit directly, and encoded and decoded as in a manifest's replay. Both results
  /// must be the same.
  Status Try(const VersionEdit& edit) {
    std::string bytes;
    EncodeEdit(edit, &bytes);
    VersionEdit decoded;
    LAVA_RETURN_IF_ERROR(DecodeEdit(bytes, 0, &files_, &decoded));
    const Status replayed_status = ApplyEdit(decoded, &replayed_);
    const Status status = ApplyEdit(edit, &state_);
    EXPECT_EQ(status.ToString(), replayed_status.ToString());
    EXPECT_EQ(Values(), ValuesOf(*replayed_.version));
    ExpectSums(version());
    return status;
  }
  void Apply(const VersionEdit& edit) {
    const Status status = Try(edit);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  /// Installs a flush: a key file and the value files that it references.
  void Flush(const KeyFileEntry& entry,
             const std::vector<std::shared_ptr<ValueFileMeta>>& value_files) {
    VersionEdit edit;
    edit.Add(0, entry);
    for (const auto& file : value_files) edit.AddNewValueFile(file);
    Apply(edit);
  }
  /// Installs a garbage collection.
  void Replace(const std::vector<uint64_t>& removed,
               std::vector<VersionEdit::AddedValueFile> added) {
    VersionEdit edit;
    for (const uint64_t number : removed) edit.values_removed.push_back(IdOf(number));
    edit.values_added = std::move(added);
    Apply(edit);
  }
  void RemoveKeys(uint32_t level, const KeyFileEntry& entry) {
    VersionEdit edit;
    edit.Remove(level, entry);
    Apply(edit);
  }

  std::string Values() const { return ValuesOf(*state_.version); }
  const Version& version() const { return *state_.version; }
  const ManifestState& state() const { return state_; }

 private:
  ManifestState state_, replayed_;
  FileTable files_;
};

}  // namespace lava

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

/// Helpers that build versions with births edit by edit. For tests of this folder.
inline FileId IdOf(uint64_t number) { return {{7, 9}, number}; }

inline std::shared_ptr<ValueFileMeta> ValueFileOf(uint64_t number, std::string lower,
                                                  std::string upper,
                                                  std::vector<BirthShare> births) {
  auto meta = std::make_shared<ValueFileMeta>();
  meta->id = IdOf(number);
  meta->bytes = 5000 + number;
  meta->crc32c = 0xabcd0000 + static_cast<uint32_t>(number);
  meta->lower = std::move(lower);
  meta->upper = std::move(upper);
  meta->births = std::move(births);
  for (const BirthShare& share : meta->births) {
    meta->records += share.records;
    meta->raw_bytes += share.raw_bytes;
  }
  meta->stored_bytes = meta->raw_bytes / 2;
  return meta;
}
/// A value file in which all of its values were born.
inline std::shared_ptr<ValueFileMeta> BornFile(uint64_t number, uint64_t records,
                                               uint64_t raw_bytes, std::string lower = "a",
                                               std::string upper = "z") {
  return ValueFileOf(number, std::move(lower), std::move(upper),
                     {{IdOf(number), records, raw_bytes}});
}
inline std::shared_ptr<FileMeta> KeyFileOf(uint64_t number, std::vector<BirthShare> births,
                                           std::string lower = "a", std::string upper = "z") {
  auto meta = std::make_shared<FileMeta>();
  meta->id = IdOf(number);
  meta->bytes = 1000 + number;
  meta->records = 10;
  meta->lower = std::move(lower);
  meta->upper = std::move(upper);
  meta->births = std::move(births);
  return meta;
}
inline FileEntry WholeOf(const std::shared_ptr<FileMeta>& file) {
  return {file, file->lower, file->upper};
}

/// All births and value files of a version as text: "birth N: named, records/bytes, clipped
/// records/bytes, [lower,upper)@file ..." and "file N: placements".
inline std::string ValuesOf(const Version& version) {
  std::string text;
  const auto number = [](uint64_t n) { return std::to_string(n); };
  for (const auto& [id, birth] : version.births) {
    text += "birth " + number(id.number) + ": " + number(birth->named_by) + ", " +
            number(birth->records) + "/" + number(birth->raw_bytes) + ", " +
            number(birth->clipped_records) + "/" + number(birth->clipped_raw_bytes);
    std::vector<std::string> places;
    for (const Placement& place : birth->places)
      places.push_back(" [" + place.lower + "," + place.upper + ")@" +
                       number(place.file->id.number));
    std::sort(places.begin(), places.end());
    for (const std::string& place : places) text += place;
    text += "\n";
  }
  for (const auto& [id, entry] : version.value_files)
    text += "file " + number(id.number) + ": " + number(entry.placements) + "\n";
  return text;
}

/// The sums that edits maintain must equal a full count.
inline void ExpectSums(const Version& version) {
  EXPECT_EQ(version.sums, CountSums(version));
  for (const auto& [id, entry] : version.value_files)
    EXPECT_EQ(entry.garbage, GarbageOf(version, *entry.file)) << "of file " << id.number;
}

class BirthsForTest {
 public:
  BirthsForTest() {
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
  void Flush(const FileEntry& entry, const std::vector<std::shared_ptr<ValueFileMeta>>& born) {
    VersionEdit edit;
    edit.Add(0, entry);
    for (const auto& file : born) edit.AddBorn(file);
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
  void RemoveKeys(uint32_t level, const FileEntry& entry) {
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

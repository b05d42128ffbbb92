// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "manifest/version_edit.h"

#include <gtest/gtest.h>

#include <functional>
#include <iterator>

#include "base/checksum.h"
#include "base/coding.h"

namespace lava {
namespace {

std::shared_ptr<FileMeta> File(uint64_t number, std::string lower, std::string upper) {
  auto meta = std::make_shared<FileMeta>();
  meta->id = {{7, 9}, number};
  meta->bytes = 1000 + number;
  meta->crc32c = 0xdeadbeef;
  meta->records = 10;
  meta->lower = std::move(lower);
  meta->upper = std::move(upper);
  meta->tables[42] = {10, 900};
  return meta;
}
KeyFileEntry Whole(const std::shared_ptr<FileMeta>& file) {
  return {file, file->lower, file->upper};
}

ManifestState SomeState() {
  ManifestState state;
  VersionEdit edit;
  edit.partition_bytes = 1;
  edit.next_file_number = 12;
  edit.entries_released = 34;
  edit.origins = {{1, 2}, {3, 4}};
  edit.registered.push_back({"state", 42, {.kind = TableKind::kList, .ttl_ms = 5}});
  edit.Add(0, Whole(File(3, "a", "z")));
  edit.Add(0, Whole(File(2, "b", "c")));
  const auto shared = File(1, "d", "m");
  edit.Add(1, {shared, "d", "f"});
  edit.Add(2, {shared, "g", "m"});
  EXPECT_TRUE(ApplyEdit(edit, &state).ok());
  return state;
}

TEST(FileTable, DescriptionsOfOneFileMustAgreeInEverything) {
  FileTable files;
  const auto known = File(1, "a", "z");
  ASSERT_TRUE(files.Intern(known).ok());
  const auto same = files.Intern(File(1, "a", "z"));
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(*same, known);
  const std::function<void(FileMeta*)> changes[] = {
      [](FileMeta* m) { ++m->bytes; },          [](FileMeta* m) { ++m->crc32c; },
      [](FileMeta* m) { ++m->records; },        [](FileMeta* m) { ++m->deletes; },
      [](FileMeta* m) { ++m->prefix_deletes; }, [](FileMeta* m) { ++m->range_tombstones; },
      [](FileMeta* m) { ++m->raw_bytes; },      [](FileMeta* m) { m->lower = "b"; },
      [](FileMeta* m) { m->upper = "y"; },      [](FileMeta* m) { m->tables[42] = {1, 2}; }};
  for (size_t i = 0; i < std::size(changes); ++i) {
    const auto other = File(1, "a", "z");
    changes[i](other.get());
    const Status status = files.Intern(other).status();
    EXPECT_TRUE(status.IsCorruption()) << i;
    EXPECT_NE(status.message().find(known->id.FileName()), Slice::npos) << status.ToString();
  }
}

TEST(VersionEdit, SnapshotSurvivesEncoding) {
  const ManifestState state = SomeState();
  std::string bytes;
  EncodeEdit(SnapshotOf(state), &bytes);
  FileTable files;
  VersionEdit decoded;
  ASSERT_TRUE(DecodeEdit(bytes, 0, &files, &decoded).ok());
  ManifestState again;
  ASSERT_TRUE(ApplyEdit(decoded, &again).ok());
  std::string bytes_again;
  EncodeEdit(SnapshotOf(again), &bytes_again);
  EXPECT_EQ(bytes, bytes_again);
  EXPECT_EQ(again.version->levels[0][0].file->id.number, 3u);
  EXPECT_EQ(again.version->levels[1][0].file, again.version->levels[2][0].file);
  EXPECT_EQ(again.tables.at(42).options.ttl_ms, 5);
  EXPECT_EQ(again.origins.size(), 2u);
  EXPECT_EQ(again.entries_released, 34u);
  VersionEdit back;
  back.entries_released = 33;
  EXPECT_FALSE(ApplyEdit(back, &again).ok()) << "entries_released must never decrease";
}

std::shared_ptr<ValueFileMeta> ValueFile(uint64_t number) {
  auto meta = std::make_shared<ValueFileMeta>();
  meta->id = {{7, 9}, number};
  meta->bytes = 500;
  meta->records = 3;
  meta->raw_bytes = 900;
  meta->stored_bytes = 450;
  meta->lower = "a";
  meta->upper = "z";
  meta->blob_files = {{meta->id, 3, 900}};
  meta->tables[42] = {3, 900, 77};
  return meta;
}

// Value files of all manifest formats. Without a group the level is not written either.
TEST(VersionEdit, ValueFilesKeepLevelAndGroup) {
  VersionEdit edit;
  for (const uint64_t number : {1, 2, 3}) edit.AddNewValueFile(ValueFile(number));
  edit.values_added[0].file->level = 6;
  edit.values_added[0].file->group = 1'000'000;
  edit.values_added[2].file->tables.clear();
  std::string bytes;
  EncodeEdit(edit, &bytes);
  FileTable files;
  VersionEdit decoded;
  ASSERT_TRUE(DecodeEdit(bytes, 0, &files, &decoded).ok());
  ASSERT_EQ(decoded.values_added.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const ValueFileMeta &was = *edit.values_added[i].file, &is = *decoded.values_added[i].file;
    EXPECT_EQ(is.level, was.level);
    EXPECT_EQ(is.group, was.group);
    EXPECT_EQ(is.tables, was.tables);
    EXPECT_EQ(decoded.values_added[i].locations.size(), 1u);
  }
  const auto other = ValueFile(1);
  EXPECT_TRUE(files.Intern(other).status().IsCorruption())
      << "the same file must not be known with another level and group";
}

TEST(VersionEdit, ALevelOrGroupThatCannotBeIsCorruption) {
  for (const auto& [level, group] : {std::pair{kLevelCountMax, 1u}, {1u, 0u}}) {
    VersionEdit edit;
    edit.AddNewValueFile(ValueFile(1));
    edit.values_added[0].file->level = 3;
    edit.values_added[0].file->group = 5;
    std::string bytes;
    EncodeEdit(edit, &bytes);
    const size_t at = bytes.find(std::string("\x03\x05\x01", 3));  // and one location
    ASSERT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(level);
    bytes[at + 1] = static_cast<char>(group);
    FileTable files;
    VersionEdit decoded;
    const Status status = DecodeEdit(bytes, 0, &files, &decoded);
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  }
}

TEST(VersionEdit, EveryTruncationAndUnknownTagIsCorruption) {
  std::string bytes;
  EncodeEdit(SnapshotOf(SomeState()), &bytes);
  size_t refused = 0;
  for (size_t length = 0; length < bytes.size(); ++length) {
    FileTable files;
    VersionEdit edit;
    const Status status = DecodeEdit(Slice(bytes).substr(0, length), 100, &files, &edit);
    // A cut between two fields leaves a valid, shorter edit; only the frame's checksum detects it.
    if (status.ok()) continue;
    ++refused;
    EXPECT_TRUE(status.IsCorruption());
    EXPECT_NE(status.message().find(" at offset "), std::string_view::npos) << status.ToString();
  }
  EXPECT_GT(refused, bytes.size() - 20);
  FileTable files;
  VersionEdit edit;
  EXPECT_TRUE(DecodeEdit("\x63", 0, &files, &edit).IsCorruption());
}

TEST(VersionEdit, HugeLengthsAreRefusedBeforeAllocation) {
  // A registered table whose name claims 2^62 bytes.
  const std::string bytes("\x04\xff\xff\xff\xff\xff\xff\xff\xff\x3f", 10);
  FileTable files;
  VersionEdit edit;
  EXPECT_TRUE(DecodeEdit(bytes, 0, &files, &edit).IsCorruption());
}

TEST(VersionEdit, AnInputThatLeftFailsTheEdit) {
  ManifestState state = SomeState();
  VersionEdit edit;
  edit.Remove(0, state.version->levels[0][1]);
  ASSERT_TRUE(ApplyEdit(edit, &state).ok());
  const auto before = state.version;
  EXPECT_TRUE(ApplyEdit(edit, &state).IsInvalidArgument());
  EXPECT_EQ(state.version, before);
}

TEST(VersionEdit, OverlapsInALevelAreRefused) {
  ManifestState state = SomeState();
  VersionEdit edit;
  edit.Add(1, Whole(File(9, "e", "h")));
  EXPECT_TRUE(ApplyEdit(edit, &state).IsInvalidArgument());
}

TEST(VersionEdit, OneFileTwiceNeedsDisjointBounds) {
  ManifestState state = SomeState();
  const auto shared = state.version->levels[1][0].file;
  VersionEdit disjoint;
  disjoint.Add(3, {shared, "f", "g"});
  EXPECT_TRUE(ApplyEdit(disjoint, &state).ok());
  VersionEdit overlapping;
  overlapping.Add(4, {shared, "e", "g"});
  EXPECT_TRUE(ApplyEdit(overlapping, &state).IsInvalidArgument());
}

TEST(VersionEdit, OutputsWithinL0TakeTheirInputsPlace) {
  ManifestState state;
  VersionEdit fill;
  for (uint64_t n : {5, 4, 3, 2, 1}) fill.Add(0, Whole(File(n, "a", "b")));
  ASSERT_TRUE(ApplyEdit(fill, &state).ok());
  VersionEdit merge;
  merge.Remove(0, state.version->levels[0][1]);
  merge.Remove(0, state.version->levels[0][2]);
  merge.Add(0, Whole(File(9, "a", "b")));
  ASSERT_TRUE(ApplyEdit(merge, &state).ok());
  std::vector<uint64_t> numbers;
  for (const KeyFileEntry& entry : state.version->levels[0])
    numbers.push_back(entry.file->id.number);
  EXPECT_EQ(numbers, (std::vector<uint64_t>{5, 9, 2, 1}));
}

TEST(VersionEdit, TwoTablesWithOneIdAreRefusedNamingBoth) {
  ManifestState state = SomeState();
  VersionEdit edit;
  edit.registered.push_back({"other", 42, {}});
  const Status status = ApplyEdit(edit, &state);
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.message().find("'state' and 'other'"), std::string_view::npos);
}

TEST(Metadata, EveryFlippedBitAndEveryTruncationIsRefused) {
  const std::string metadata = EncodeMetadata(SomeState());
  FileTable files;
  ManifestState state;
  ASSERT_TRUE(DecodeMetadata(metadata, &files, &state).ok());
  for (size_t i = 0; i < metadata.size(); ++i) {
    FileTable none;
    EXPECT_TRUE(DecodeMetadata(Slice(metadata).substr(0, i), &none, &state).IsCorruption());
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = metadata;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      const Status status = DecodeMetadata(damaged, &none, &state);
      EXPECT_TRUE(status.IsCorruption()) << i << " " << status.ToString();
      EXPECT_NE(status.message().find("offset"), std::string_view::npos);
    }
  }
}

TEST(Metadata, ANewerFormatNamesBothVersions) {
  std::string metadata = EncodeMetadata(SomeState());
  metadata[8] = kManifestFormatVersion + 1;
  // Recompute the header's checksum as a newer library would have written it.
  EncodeFixed32(metadata.data() + 12, Crc32c(Slice(metadata).substr(0, 12)));
  FileTable files;
  ManifestState state;
  const Status status = DecodeMetadata(metadata, &files, &state);
  EXPECT_EQ(status.code(), Status::Code::kNotSupported);
  EXPECT_NE(status.message().find("format " + std::to_string(kManifestFormatVersion + 1)),
            std::string_view::npos);
  EXPECT_NE(status.message().find("up to " + std::to_string(kManifestFormatVersion)),
            std::string_view::npos);
}

}  // namespace
}  // namespace lava

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "manifest/blob_files.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/coding.h"
#include "manifest/blob_files_for_test.h"

namespace lava {
namespace {

using Location = VersionEdit::AddedValueFile::Location;

TEST(BlobFiles, AFlushBringsABlobFileItsLocationAndItsSums) {
  BlobFilesForTest blob_files;
  blob_files.Flush(WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}})), {NewValueFile(2, 3, 300, "b", "y")});
  EXPECT_EQ(blob_files.Values(), "blob file 2: 1, 3/300, 0/0 [b,y)@2\nfile 2: 1\n");
}

TEST(BlobFiles, EveryEntryThatNamesABlobFileCounts) {
  BlobFilesForTest blob_files;
  blob_files.Flush(WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}})), {NewValueFile(2, 3, 300)});
  const auto second = KeyFileOf(3, {{IdOf(2), 1, 100}, {IdOf(4), 1, 50}}, "a", "k");
  VersionEdit edit;
  edit.Add(1, {second, "a", "c"});  // clipped
  edit.Add(1, {second, "f", "k"});
  blob_files.Apply(edit);
  EXPECT_EQ(blob_files.Values(),
            "blob file 2: 3, 3/300, 2/200 [a,z)@2\nblob file 4: 2, 0/0, 2/100\nfile 2: 1\n");
  blob_files.RemoveKeys(1, {second, "f", "k"});
  EXPECT_EQ(blob_files.Values(),
            "blob file 2: 2, 3/300, 1/100 [a,z)@2\nblob file 4: 1, 0/0, 1/50\nfile 2: 1\n");
}

TEST(BlobFiles, GoWithTheLastKeyFileThatNamesThem) {
  BlobFilesForTest blob_files;
  const KeyFileEntry first = WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}}));
  const KeyFileEntry second = WholeOf(KeyFileOf(3, {{IdOf(2), 1, 100}}));
  blob_files.Flush(first, {NewValueFile(2, 3, 300)});
  blob_files.Flush(second, {});
  blob_files.RemoveKeys(0, first);
  EXPECT_EQ(blob_files.Values(), "blob file 2: 1, 1/100, 0/0 [a,z)@2\nfile 2: 1\n");
  blob_files.RemoveKeys(0, second);
  EXPECT_EQ(blob_files.Values(), "");
}

TEST(BlobFiles, AMoveToAnotherLevelKeepsThem) {
  BlobFilesForTest blob_files;
  const KeyFileEntry entry = WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}}));
  blob_files.Flush(entry, {NewValueFile(2, 3, 300)});
  const std::string before = blob_files.Values();
  VersionEdit move;
  move.Remove(0, entry);
  move.Add(1, entry);
  blob_files.Apply(move);
  EXPECT_EQ(blob_files.Values(), before);
}

TEST(BlobFiles, AValueFileLivesAsLongAsOneOfItsBlobFiles) {
  BlobFilesForTest blob_files;
  const KeyFileEntry first = WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}}));
  const KeyFileEntry second = WholeOf(KeyFileOf(3, {{IdOf(4), 1, 100}}));
  blob_files.Flush(first, {NewValueFile(2, 3, 300)});
  blob_files.Flush(second, {NewValueFile(4, 1, 100)});
  const auto both = ValueFileOf(5, "a", "z", {{IdOf(2), 3, 300}, {IdOf(4), 1, 100}});
  blob_files.Replace({2, 4}, {{both, {{IdOf(2), "a", "z"}, {IdOf(4), "b", "c"}}}});
  EXPECT_EQ(blob_files.Values(),
            "blob file 2: 1, 3/300, 0/0 [a,z)@5\nblob file 4: 1, 1/100, 0/0 [b,c)@5\nfile 5: 2\n");
  blob_files.RemoveKeys(0, first);
  EXPECT_EQ(blob_files.Values(), "blob file 4: 1, 1/100, 0/0 [b,c)@5\nfile 5: 1\n");
  blob_files.RemoveKeys(0, second);
  EXPECT_EQ(blob_files.Values(), "");
}

// Stale references name a blob file that has no location: they are older than other records of
// their keys.
TEST(BlobFiles, GhostsAreNamedAndNowhere) {
  BlobFilesForTest blob_files;
  const KeyFileEntry entry = WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}}));
  blob_files.Flush(entry, {NewValueFile(2, 3, 300)});
  blob_files.Replace({2}, {});
  EXPECT_EQ(blob_files.Values(), "blob file 2: 1, 3/300, 0/0\n");
  blob_files.RemoveKeys(0, entry);
  EXPECT_EQ(blob_files.Values(), "");
}

TEST(BlobFiles, AFileForBlobFilesThatWentMeanwhileIsForgottenAtOnce) {
  BlobFilesForTest blob_files;
  const KeyFileEntry first = WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}}));
  blob_files.Flush(first, {NewValueFile(2, 3, 300)});
  blob_files.Flush(WholeOf(KeyFileOf(3, {{IdOf(4), 1, 100}})), {NewValueFile(4, 1, 100)});
  blob_files.RemoveKeys(0, first);
  const auto late = ValueFileOf(5, "a", "z", {{IdOf(2), 3, 300}, {IdOf(4), 1, 100}});
  blob_files.Replace({4}, {{late, {{IdOf(2), "a", "z"}, {IdOf(4), "a", "z"}}}});
  EXPECT_EQ(blob_files.Values(), "blob file 4: 1, 1/100, 0/0 [a,z)@5\nfile 5: 1\n");
  blob_files.Replace({}, {{NewValueFile(6, 1, 1), {{IdOf(6), "a", "z"}}}});
  EXPECT_EQ(blob_files.Values(), "blob file 4: 1, 1/100, 0/0 [a,z)@5\nfile 5: 1\n");
}

TEST(BlobFiles, AnInputThatLeftFailsTheEditAndChangesNothing) {
  BlobFilesForTest blob_files;
  const KeyFileEntry first = WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}}));
  blob_files.Flush(first, {NewValueFile(2, 3, 300)});
  blob_files.Flush(WholeOf(KeyFileOf(3, {{IdOf(4), 1, 100}})), {NewValueFile(4, 1, 100)});
  const std::string before = blob_files.Values();
  const auto version = blob_files.state().version;
  VersionEdit edit;
  edit.values_removed = {IdOf(4), IdOf(99)};
  const auto merged = ValueFileOf(5, "a", "z", {{IdOf(4), 1, 100}});
  edit.values_added.push_back({merged, {{IdOf(4), "a", "z"}}});
  const Status status = blob_files.Try(edit);
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.message().find(IdOf(99).ValueFileName()), Slice::npos) << status.ToString();
  EXPECT_EQ(blob_files.Values(), before);
  EXPECT_EQ(blob_files.state().version, version);
  blob_files.RemoveKeys(0, first);
  VersionEdit late;
  late.values_removed = {IdOf(2)};
  EXPECT_TRUE(blob_files.Try(late).IsInvalidArgument())
      << "the value file was removed together with its blob file";
}

TEST(BlobFiles, AValueFileIsAddedOnce) {
  BlobFilesForTest blob_files;
  const auto file = NewValueFile(2, 3, 300);
  blob_files.Flush(WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}})), {file});
  const std::string before = blob_files.Values();
  VersionEdit again;
  again.AddNewValueFile(file);
  EXPECT_TRUE(blob_files.Try(again).IsInvalidArgument());
  VersionEdit twice;
  twice.values_removed = {IdOf(2)};
  twice.values_added.push_back({NewValueFile(5, 1, 1), {}});
  twice.values_added[0].file->blob_files[0].blob_file = IdOf(2);
  twice.values_added[0].locations = {{IdOf(2), "a", "d"}, {IdOf(2), "a", "c"}};
  EXPECT_TRUE(blob_files.Try(twice).IsInvalidArgument())
      << "two locations of one blob file begin at the same bound";
  EXPECT_EQ(blob_files.Values(), before);
}

// Two instances collected the blob file separately and were united; one key has a hot and a cold
// file.
TEST(BlobFiles, OneBlobFileMayHaveSeveralFiles) {
  BlobFilesForTest blob_files;
  const KeyFileEntry keys = WholeOf(KeyFileOf(1, {{IdOf(2), 4, 400}}));
  blob_files.Flush(keys, {NewValueFile(2, 4, 400)});
  blob_files.Replace({2}, {{ValueFileOf(5, "a", "m", {{IdOf(2), 2, 200}}), {{IdOf(2), "a", "k"}}},
                           {ValueFileOf(6, "k", "z", {{IdOf(2), 2, 200}}), {{IdOf(2), "k", "z"}}}});
  EXPECT_EQ(blob_files.Values(),
            "blob file 2: 1, 4/400, 0/0 [a,k)@5 [k,z)@6\nfile 5: 1\nfile 6: 1\n");
  const auto hot = ValueFileOf(7, "b", "z", {{IdOf(2), 1, 100}});
  blob_files.Replace({6}, {{hot, {{IdOf(2), "b", "c"}, {IdOf(2), "x", "z"}}},
                           {ValueFileOf(8, "b", "z", {{IdOf(2), 1, 100}}), {{IdOf(2), "b", "z"}}}});
  EXPECT_EQ(blob_files.Values(),
            "blob file 2: 1, 4/400, 0/0 [a,k)@5 [b,c)@7 [b,z)@8 [x,z)@7\n"
            "file 5: 1\nfile 7: 2\nfile 8: 1\n");
  blob_files.Replace({7}, {});
  EXPECT_EQ(blob_files.Values(),
            "blob file 2: 1, 4/400, 0/0 [a,k)@5 [b,z)@8\nfile 5: 1\nfile 8: 1\n");
  blob_files.RemoveKeys(0, keys);
  EXPECT_EQ(blob_files.Values(), "");
}

// Versions share their blob files: readers of the old one see no change.
TEST(BlobFiles, AnOlderVersionStaysAsItWas) {
  BlobFilesForTest blob_files;
  const KeyFileEntry keys = WholeOf(KeyFileOf(1, {{IdOf(2), 4, 400}}));
  blob_files.Flush(keys, {NewValueFile(2, 4, 400)});
  const auto old = blob_files.state().version;
  const std::string before = blob_files.Values();
  blob_files.Flush(WholeOf(KeyFileOf(3, {{IdOf(2), 1, 100}})), {});
  blob_files.Replace({2}, {{ValueFileOf(5, "a", "z", {{IdOf(2), 4, 400}}), {{IdOf(2), "a", "z"}}}});
  EXPECT_NE(blob_files.Values(), before);
  EXPECT_EQ(ValuesOf(*old), before);
}

BlobFilesForTest SomeBlobFiles() {
  BlobFilesForTest blob_files;
  const auto shared = KeyFileOf(1, {{IdOf(2), 4, 400}, {IdOf(9), 1, 10}}, "a", "z");
  blob_files.Flush({shared, "a", "k"}, {NewValueFile(2, 4, 400)});
  VersionEdit more;
  more.Add(2, {shared, "l", "m"});
  more.Add(3, WholeOf(KeyFileOf(3, {{IdOf(4), 7, 700}})));
  more.AddNewValueFile(NewValueFile(4, 9, 900, "c", "q"));
  blob_files.Apply(more);
  blob_files.Replace({2}, {{ValueFileOf(5, "a", "m", {{IdOf(2), 2, 200}}),
                            {{IdOf(2), "a", "c"}, {IdOf(2), "e", "m"}}},
                           {ValueFileOf(6, "k", "z", {{IdOf(2), 2, 200}}), {{IdOf(2), "m", "z"}}}});
  return blob_files;
}

TEST(BlobFiles, AStateFromItsSnapshotIsEqual) {
  const BlobFilesForTest blob_files = SomeBlobFiles();
  EXPECT_EQ(
      blob_files.Values(),
      "blob file 2: 2, 0/0, 8/800 [a,c)@5 [e,m)@5 [m,z)@6\nblob file 4: 1, 7/700, 0/0 [c,q)@4\n"
      "blob file 9: 2, 0/0, 2/20\nfile 4: 1\nfile 5: 2\nfile 6: 1\n");
  ManifestState again;
  ASSERT_TRUE(ApplyEdit(SnapshotOf(blob_files.state()), &again).ok());
  EXPECT_EQ(ValuesOf(*again.version), blob_files.Values());
  std::string bytes, bytes_again;
  EncodeEdit(SnapshotOf(blob_files.state()), &bytes);
  EncodeEdit(SnapshotOf(again), &bytes_again);
  EXPECT_EQ(bytes, bytes_again);
}

TEST(BlobFiles, MetadataSurvivesEncoding) {
  const BlobFilesForTest blob_files = SomeBlobFiles();
  const std::string metadata = EncodeMetadata(blob_files.state());
  FileTable files;
  ManifestState again;
  ASSERT_TRUE(DecodeMetadata(metadata, &files, &again).ok());
  EXPECT_EQ(ValuesOf(*again.version), blob_files.Values());
  EXPECT_EQ(EncodeMetadata(again), metadata);
  const ValueFileMeta& was = *blob_files.version().value_files.at(IdOf(5)).file;
  const ValueFileMeta& is = *again.version->value_files.at(IdOf(5)).file;
  EXPECT_EQ(is.bytes, was.bytes);
  EXPECT_EQ(is.crc32c, was.crc32c);
  EXPECT_EQ(is.stored_bytes, was.stored_bytes);
  EXPECT_EQ(is.blob_files, was.blob_files);
}

Status Decode(const std::string& bytes, VersionEdit* edit) {
  FileTable files;
  return DecodeEdit(bytes, 0, &files, edit);
}

TEST(BlobFiles, EveryTruncationOfAnEditIsRefused) {
  VersionEdit edit;
  edit.values_added.push_back({ValueFileOf(5, "a", "m", {{IdOf(2), 2, 200}, {IdOf(5), 1, 9}}),
                               {{IdOf(2), "a", "c"}, {IdOf(5), "e", "m"}}});
  std::string bytes;
  EncodeEdit(edit, &bytes);
  VersionEdit decoded;
  ASSERT_TRUE(Decode(bytes, &decoded).ok());
  ASSERT_EQ(decoded.values_added.at(0).locations.size(), 2u);
  for (size_t length = 1; length < bytes.size(); ++length) {
    VersionEdit part;
    EXPECT_TRUE(Decode(bytes.substr(0, length), &part).IsCorruption()) << length;
  }
}

TEST(BlobFiles, LocationsBeyondTheirFileAreRefused) {
  const auto file = ValueFileOf(5, "c", "m", {{IdOf(2), 2, 200}});
  const auto decodes = [&](const Location& location) {
    VersionEdit edit, decoded;
    edit.values_added.push_back({file, {location}});
    std::string bytes;
    EncodeEdit(edit, &bytes);
    return Decode(bytes, &decoded);
  };
  EXPECT_TRUE(decodes({IdOf(2), "c", "m"}).ok());
  EXPECT_TRUE(decodes({IdOf(2), "b", "m"}).IsCorruption());
  EXPECT_TRUE(decodes({IdOf(2), "c", "ma"}).IsCorruption());
  EXPECT_TRUE(decodes({IdOf(2), "d", "d"}).IsCorruption());
  EXPECT_TRUE(decodes({IdOf(2), "e", "d"}).IsCorruption());
  EXPECT_TRUE(decodes({IdOf(5), "c", "m"}).IsCorruption())
      << "the file does not hold this blob file";
}

TEST(BlobFiles, SharesThatDoNotAscendAreRefused) {
  for (const auto& blob_files : {std::vector<BlobReference>{{IdOf(3), 1, 1}, {IdOf(2), 1, 1}},
                                 std::vector<BlobReference>{{IdOf(3), 1, 1}, {IdOf(3), 1, 1}}}) {
    VersionEdit values, keys, decoded;
    values.values_added.push_back({ValueFileOf(5, "c", "m", blob_files), {}});
    keys.Add(0, WholeOf(KeyFileOf(1, blob_files)));
    for (const VersionEdit* edit : {&values, &keys}) {
      std::string bytes;
      EncodeEdit(*edit, &bytes);
      EXPECT_TRUE(Decode(bytes, &decoded).IsCorruption());
    }
  }
}

// A count is checked against the remaining bytes before memory is allocated for it.
TEST(BlobFiles, CountsBeyondTheBytesAreRefused) {
  VersionEdit edit, decoded;
  edit.values_added.push_back({ValueFileOf(5, "c", "m", {}), {}});
  std::string bytes;
  EncodeEdit(edit, &bytes);
  ASSERT_TRUE(Decode(bytes, &decoded).ok());
  ASSERT_TRUE(bytes.ends_with(std::string(2, '\0')))
      << "the encoding must end with no blob files and no locations";
  std::string huge;
  PutVarint64(&huge, uint64_t{1} << 60);
  const std::string head = bytes.substr(0, bytes.size() - 2);
  const Status blob_files = Decode(head + huge + std::string(19, 'x'), &decoded);
  EXPECT_TRUE(blob_files.IsCorruption());
  EXPECT_NE(blob_files.message().find("blob file count"), Slice::npos) << blob_files.ToString();
  const Status locations = Decode(head + '\0' + huge + std::string(19, 'x'), &decoded);
  EXPECT_TRUE(locations.IsCorruption());
  EXPECT_NE(locations.message().find("location count"), Slice::npos) << locations.ToString();
}

TEST(BlobFiles, DescriptionsOfOneValueFileMustAgree) {
  const auto known = NewValueFile(1, 2, 200);
  const std::function<void(ValueFileMeta*)> changes[] = {[](ValueFileMeta* m) { ++m->bytes; },
                                                         [](ValueFileMeta* m) { ++m->crc32c; },
                                                         [](ValueFileMeta* m) { ++m->records; },
                                                         [](ValueFileMeta* m) { ++m->raw_bytes; },
                                                         [](ValueFileMeta* m) { m->lower = "b"; },
                                                         [](ValueFileMeta* m) { ++m->stored_bytes; },
                                                         [](ValueFileMeta* m) { m->upper = "y"; },
                                                         [](ValueFileMeta* m) { m->blob_files[0].records = 9; }};
  for (const auto& change : changes) {
    FileTable files;
    ASSERT_TRUE(files.Intern(known).ok());
    const auto same = files.Intern(NewValueFile(1, 2, 200));
    ASSERT_TRUE(same.ok());
    EXPECT_EQ(*same, known);
    const auto other = NewValueFile(1, 2, 200);
    change(other.get());
    const Status status = files.Intern(other).status();
    EXPECT_TRUE(status.IsCorruption());
    EXPECT_NE(status.message().find(known->id.ValueFileName()), Slice::npos);
  }
}

TEST(BlobFiles, WhatExpiredIsMarkedAsLongAsItIsNamed) {
  BlobFilesForTest blob_files;
  const KeyFileEntry key_file = WholeOf(KeyFileOf(1, {{IdOf(2), 10, 1000}}));
  blob_files.Flush(key_file, {NewValueFile(2, 10, 1000)});
  VersionEdit edit;
  edit.values_removed.push_back(IdOf(2));
  edit.blob_files_expired = {
      {IdOf(2), 5, 70}, {IdOf(2), 5, 60}, {IdOf(2), 6, 50}, {IdOf(99), 5, 80}};
  blob_files.Apply(edit);
  const auto& version = blob_files.version();
  EXPECT_TRUE(version.value_files.empty());
  ASSERT_EQ(version.blob_files.size(), 1u)
      << "a mark must not bring back a blob file without references";
  const std::map<uint64_t, int64_t> marks{{5, 70}, {6, 50}};
  EXPECT_EQ(version.blob_files.at(IdOf(2))->expired_to_ms, marks);

  std::string bytes;
  EncodeEdit(SnapshotOf(blob_files.state()), &bytes);
  FileTable files;
  VersionEdit decoded;
  ASSERT_TRUE(DecodeEdit(bytes, 0, &files, &decoded).ok());
  ManifestState again;
  ASSERT_TRUE(ApplyEdit(decoded, &again).ok());
  EXPECT_EQ(again.version->blob_files.at(IdOf(2))->expired_to_ms, marks);

  blob_files.RemoveKeys(0, key_file);
  EXPECT_TRUE(blob_files.version().blob_files.empty());
}

TEST(BlobFiles, SharesOfTablesSurviveEncodingAndAddUp) {
  VersionEdit edit;
  auto file = NewValueFile(2, 10, 1000);
  file->tables[5] = {3, 300, 77};
  file->tables[9] = {7, 700, TableShare::kNeverExpires};
  edit.AddNewValueFile(file);
  std::string bytes;
  EncodeEdit(edit, &bytes);
  FileTable files;
  VersionEdit decoded;
  ASSERT_TRUE(DecodeEdit(bytes, 0, &files, &decoded).ok());
  EXPECT_EQ(decoded.values_added.at(0).file->tables, file->tables);

  for (const int broken : {0, 1}) {
    file->tables[9] = broken == 0 ? TableShare{8, 700, 1} : TableShare{7, 701, 1};
    bytes.clear();
    EncodeEdit(edit, &bytes);
    FileTable other_files;
    VersionEdit other;
    const Status status = DecodeEdit(bytes, 0, &other_files, &other);
    EXPECT_TRUE(status.IsCorruption());
    EXPECT_NE(status.message().find("do not add up"), Slice::npos) << status.ToString();
  }
}

}  // namespace
}  // namespace lava

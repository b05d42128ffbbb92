#include "manifest/births.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/coding.h"
#include "manifest/births_for_test.h"

namespace lava {
namespace {

using Place = VersionEdit::AddedValueFile::Place;

TEST(Births, AFlushBringsABirthItsPlaceAndItsSums) {
  BirthsForTest births;
  births.Flush(WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}})), {BornFile(2, 3, 300, "b", "y")});
  EXPECT_EQ(births.Values(), "birth 2: 1, 3/300, 0/0 [b,y)@2\nfile 2: 1\n");
}

TEST(Births, EveryEntryThatNamesABirthCounts) {
  BirthsForTest births;
  births.Flush(WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}})), {BornFile(2, 3, 300)});
  const auto second = KeyFileOf(3, {{IdOf(2), 1, 100}, {IdOf(4), 1, 50}}, "a", "k");
  VersionEdit edit;
  edit.Add(1, {second, "a", "c"});  // clipped
  edit.Add(1, {second, "f", "k"});
  births.Apply(edit);
  EXPECT_EQ(births.Values(),
            "birth 2: 3, 3/300, 2/200 [a,z)@2\nbirth 4: 2, 0/0, 2/100\nfile 2: 1\n");
  births.RemoveKeys(1, {second, "f", "k"});
  EXPECT_EQ(births.Values(),
            "birth 2: 2, 3/300, 1/100 [a,z)@2\nbirth 4: 1, 0/0, 1/50\nfile 2: 1\n");
}

TEST(Births, GoWithTheLastKeyFileThatNamesThem) {
  BirthsForTest births;
  const FileEntry first = WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}}));
  const FileEntry second = WholeOf(KeyFileOf(3, {{IdOf(2), 1, 100}}));
  births.Flush(first, {BornFile(2, 3, 300)});
  births.Flush(second, {});
  births.RemoveKeys(0, first);
  EXPECT_EQ(births.Values(), "birth 2: 1, 1/100, 0/0 [a,z)@2\nfile 2: 1\n");
  births.RemoveKeys(0, second);
  EXPECT_EQ(births.Values(), "");
}

TEST(Births, AMoveToAnotherLevelKeepsThem) {
  BirthsForTest births;
  const FileEntry entry = WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}}));
  births.Flush(entry, {BornFile(2, 3, 300)});
  const std::string before = births.Values();
  VersionEdit move;
  move.Remove(0, entry);
  move.Add(1, entry);
  births.Apply(move);
  EXPECT_EQ(births.Values(), before);
}

TEST(Births, AValueFileLivesAsLongAsOneOfItsBirths) {
  BirthsForTest births;
  const FileEntry first = WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}}));
  const FileEntry second = WholeOf(KeyFileOf(3, {{IdOf(4), 1, 100}}));
  births.Flush(first, {BornFile(2, 3, 300)});
  births.Flush(second, {BornFile(4, 1, 100)});
  const auto both = ValueFileOf(5, "a", "z", {{IdOf(2), 3, 300}, {IdOf(4), 1, 100}});
  births.Replace({2, 4}, {{both, {{IdOf(2), "a", "z"}, {IdOf(4), "b", "c"}}}});
  EXPECT_EQ(births.Values(),
            "birth 2: 1, 3/300, 0/0 [a,z)@5\nbirth 4: 1, 1/100, 0/0 [b,c)@5\nfile 5: 2\n");
  births.RemoveKeys(0, first);
  EXPECT_EQ(births.Values(), "birth 4: 1, 1/100, 0/0 [b,c)@5\nfile 5: 1\n");
  births.RemoveKeys(0, second);
  EXPECT_EQ(births.Values(), "");
}

// Stale references name a birth that has no place: they are older than other records of their keys.
TEST(Births, GhostsAreNamedAndNowhere) {
  BirthsForTest births;
  const FileEntry entry = WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}}));
  births.Flush(entry, {BornFile(2, 3, 300)});
  births.Replace({2}, {});
  EXPECT_EQ(births.Values(), "birth 2: 1, 3/300, 0/0\n");
  births.RemoveKeys(0, entry);
  EXPECT_EQ(births.Values(), "");
}

TEST(Births, AFileForBirthsThatWentMeanwhileIsForgottenAtOnce) {
  BirthsForTest births;
  const FileEntry first = WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}}));
  births.Flush(first, {BornFile(2, 3, 300)});
  births.Flush(WholeOf(KeyFileOf(3, {{IdOf(4), 1, 100}})), {BornFile(4, 1, 100)});
  births.RemoveKeys(0, first);
  const auto late = ValueFileOf(5, "a", "z", {{IdOf(2), 3, 300}, {IdOf(4), 1, 100}});
  births.Replace({4}, {{late, {{IdOf(2), "a", "z"}, {IdOf(4), "a", "z"}}}});
  EXPECT_EQ(births.Values(), "birth 4: 1, 1/100, 0/0 [a,z)@5\nfile 5: 1\n");
  births.Replace({}, {{BornFile(6, 1, 1), {{IdOf(6), "a", "z"}}}});
  EXPECT_EQ(births.Values(), "birth 4: 1, 1/100, 0/0 [a,z)@5\nfile 5: 1\n");
}

TEST(Births, AnInputThatLeftFailsTheEditAndChangesNothing) {
  BirthsForTest births;
  const FileEntry first = WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}}));
  births.Flush(first, {BornFile(2, 3, 300)});
  births.Flush(WholeOf(KeyFileOf(3, {{IdOf(4), 1, 100}})), {BornFile(4, 1, 100)});
  const std::string before = births.Values();
  const auto version = births.state().version;
  VersionEdit edit;
  edit.values_removed = {IdOf(4), IdOf(99)};
  const auto merged = ValueFileOf(5, "a", "z", {{IdOf(4), 1, 100}});
  edit.values_added.push_back({merged, {{IdOf(4), "a", "z"}}});
  const Status status = births.Try(edit);
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.message().find(IdOf(99).ValueFileName()), Slice::npos) << status.ToString();
  EXPECT_EQ(births.Values(), before);
  EXPECT_EQ(births.state().version, version);
  births.RemoveKeys(0, first);
  VersionEdit late;
  late.values_removed = {IdOf(2)};
  EXPECT_TRUE(births.Try(late).IsInvalidArgument()) << "it went with its birth";
}

TEST(Births, AValueFileIsAddedOnce) {
  BirthsForTest births;
  const auto file = BornFile(2, 3, 300);
  births.Flush(WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}})), {file});
  const std::string before = births.Values();
  VersionEdit again;
  again.AddBorn(file);
  EXPECT_TRUE(births.Try(again).IsInvalidArgument());
  VersionEdit twice;
  twice.values_removed = {IdOf(2)};
  twice.values_added.push_back({BornFile(5, 1, 1), {}});
  twice.values_added[0].file->births[0].birth = IdOf(2);
  twice.values_added[0].places = {{IdOf(2), "a", "d"}, {IdOf(2), "a", "c"}};
  EXPECT_TRUE(births.Try(twice).IsInvalidArgument()) << "one birth twice from one bound on";
  EXPECT_EQ(births.Values(), before);
}

// Two instances collected the birth separately and were united; one key has a hot and a cold file.
TEST(Births, OneBirthMayHaveSeveralFiles) {
  BirthsForTest births;
  const FileEntry keys = WholeOf(KeyFileOf(1, {{IdOf(2), 4, 400}}));
  births.Flush(keys, {BornFile(2, 4, 400)});
  births.Replace({2}, {{ValueFileOf(5, "a", "m", {{IdOf(2), 2, 200}}), {{IdOf(2), "a", "k"}}},
                       {ValueFileOf(6, "k", "z", {{IdOf(2), 2, 200}}), {{IdOf(2), "k", "z"}}}});
  EXPECT_EQ(births.Values(), "birth 2: 1, 4/400, 0/0 [a,k)@5 [k,z)@6\nfile 5: 1\nfile 6: 1\n");
  const auto hot = ValueFileOf(7, "b", "z", {{IdOf(2), 1, 100}});
  births.Replace({6}, {{hot, {{IdOf(2), "b", "c"}, {IdOf(2), "x", "z"}}},
                       {ValueFileOf(8, "b", "z", {{IdOf(2), 1, 100}}), {{IdOf(2), "b", "z"}}}});
  EXPECT_EQ(births.Values(),
            "birth 2: 1, 4/400, 0/0 [a,k)@5 [b,c)@7 [b,z)@8 [x,z)@7\n"
            "file 5: 1\nfile 7: 2\nfile 8: 1\n");
  births.Replace({7}, {});
  EXPECT_EQ(births.Values(), "birth 2: 1, 4/400, 0/0 [a,k)@5 [b,z)@8\nfile 5: 1\nfile 8: 1\n");
  births.RemoveKeys(0, keys);
  EXPECT_EQ(births.Values(), "");
}

// Versions share their births: readers of the old one see no change.
TEST(Births, AnOlderVersionStaysAsItWas) {
  BirthsForTest births;
  const FileEntry keys = WholeOf(KeyFileOf(1, {{IdOf(2), 4, 400}}));
  births.Flush(keys, {BornFile(2, 4, 400)});
  const auto old = births.state().version;
  const std::string before = births.Values();
  births.Flush(WholeOf(KeyFileOf(3, {{IdOf(2), 1, 100}})), {});
  births.Replace({2}, {{ValueFileOf(5, "a", "z", {{IdOf(2), 4, 400}}), {{IdOf(2), "a", "z"}}}});
  EXPECT_NE(births.Values(), before);
  EXPECT_EQ(ValuesOf(*old), before);
}

BirthsForTest SomeBirths() {
  BirthsForTest births;
  const auto shared = KeyFileOf(1, {{IdOf(2), 4, 400}, {IdOf(9), 1, 10}}, "a", "z");
  births.Flush({shared, "a", "k"}, {BornFile(2, 4, 400)});
  VersionEdit more;
  more.Add(2, {shared, "l", "m"});
  more.Add(3, WholeOf(KeyFileOf(3, {{IdOf(4), 7, 700}})));
  more.AddBorn(BornFile(4, 9, 900, "c", "q"));
  births.Apply(more);
  births.Replace({2}, {{ValueFileOf(5, "a", "m", {{IdOf(2), 2, 200}}),
                        {{IdOf(2), "a", "c"}, {IdOf(2), "e", "m"}}},
                       {ValueFileOf(6, "k", "z", {{IdOf(2), 2, 200}}), {{IdOf(2), "m", "z"}}}});
  return births;
}

TEST(Births, AStateFromItsSnapshotIsEqual) {
  const BirthsForTest births = SomeBirths();
  EXPECT_EQ(births.Values(),
            "birth 2: 2, 0/0, 8/800 [a,c)@5 [e,m)@5 [m,z)@6\nbirth 4: 1, 7/700, 0/0 [c,q)@4\n"
            "birth 9: 2, 0/0, 2/20\nfile 4: 1\nfile 5: 2\nfile 6: 1\n");
  ManifestState again;
  ASSERT_TRUE(ApplyEdit(SnapshotOf(births.state()), &again).ok());
  EXPECT_EQ(ValuesOf(*again.version), births.Values());
  std::string bytes, bytes_again;
  EncodeEdit(SnapshotOf(births.state()), &bytes);
  EncodeEdit(SnapshotOf(again), &bytes_again);
  EXPECT_EQ(bytes, bytes_again);
}

TEST(Births, MetadataSurvivesEncoding) {
  const BirthsForTest births = SomeBirths();
  const std::string metadata = EncodeMetadata(births.state());
  FileTable files;
  ManifestState again;
  ASSERT_TRUE(DecodeMetadata(metadata, &files, &again).ok());
  EXPECT_EQ(ValuesOf(*again.version), births.Values());
  EXPECT_EQ(EncodeMetadata(again), metadata);
  const ValueFileMeta& was = *births.version().value_files.at(IdOf(5)).file;
  const ValueFileMeta& is = *again.version->value_files.at(IdOf(5)).file;
  EXPECT_EQ(is.bytes, was.bytes);
  EXPECT_EQ(is.crc32c, was.crc32c);
  EXPECT_EQ(is.stored_bytes, was.stored_bytes);
  EXPECT_EQ(is.births, was.births);
}

Status Decode(const std::string& bytes, VersionEdit* edit) {
  FileTable files;
  return DecodeEdit(bytes, 0, &files, edit);
}

TEST(Births, EveryTruncationOfAnEditIsRefused) {
  VersionEdit edit;
  edit.values_added.push_back({ValueFileOf(5, "a", "m", {{IdOf(2), 2, 200}, {IdOf(5), 1, 9}}),
                               {{IdOf(2), "a", "c"}, {IdOf(5), "e", "m"}}});
  std::string bytes;
  EncodeEdit(edit, &bytes);
  VersionEdit decoded;
  ASSERT_TRUE(Decode(bytes, &decoded).ok());
  ASSERT_EQ(decoded.values_added.at(0).places.size(), 2u);
  for (size_t length = 1; length < bytes.size(); ++length) {
    VersionEdit part;
    EXPECT_TRUE(Decode(bytes.substr(0, length), &part).IsCorruption()) << length;
  }
}

TEST(Births, PlacesBeyondTheirFileAreRefused) {
  const auto file = ValueFileOf(5, "c", "m", {{IdOf(2), 2, 200}});
  const auto decodes = [&](const Place& place) {
    VersionEdit edit, decoded;
    edit.values_added.push_back({file, {place}});
    std::string bytes;
    EncodeEdit(edit, &bytes);
    return Decode(bytes, &decoded);
  };
  EXPECT_TRUE(decodes({IdOf(2), "c", "m"}).ok());
  EXPECT_TRUE(decodes({IdOf(2), "b", "m"}).IsCorruption());
  EXPECT_TRUE(decodes({IdOf(2), "c", "ma"}).IsCorruption());
  EXPECT_TRUE(decodes({IdOf(2), "d", "d"}).IsCorruption());
  EXPECT_TRUE(decodes({IdOf(2), "e", "d"}).IsCorruption());
  EXPECT_TRUE(decodes({IdOf(5), "c", "m"}).IsCorruption()) << "not a birth that it holds";
}

TEST(Births, SharesThatDoNotAscendAreRefused) {
  for (const auto& births : {std::vector<BirthShare>{{IdOf(3), 1, 1}, {IdOf(2), 1, 1}},
                             std::vector<BirthShare>{{IdOf(3), 1, 1}, {IdOf(3), 1, 1}}}) {
    VersionEdit values, keys, decoded;
    values.values_added.push_back({ValueFileOf(5, "c", "m", births), {}});
    keys.Add(0, WholeOf(KeyFileOf(1, births)));
    for (const VersionEdit* edit : {&values, &keys}) {
      std::string bytes;
      EncodeEdit(*edit, &bytes);
      EXPECT_TRUE(Decode(bytes, &decoded).IsCorruption());
    }
  }
}

// A count is checked against the remaining bytes before memory is allocated for it.
TEST(Births, CountsBeyondTheBytesAreRefused) {
  VersionEdit edit, decoded;
  edit.values_added.push_back({ValueFileOf(5, "c", "m", {}), {}});
  std::string bytes;
  EncodeEdit(edit, &bytes);
  ASSERT_TRUE(Decode(bytes, &decoded).ok());
  ASSERT_TRUE(bytes.ends_with(std::string(2, '\0'))) << "no births, no places";
  std::string huge;
  PutVarint64(&huge, uint64_t{1} << 60);
  const std::string head = bytes.substr(0, bytes.size() - 2);
  const Status births = Decode(head + huge + std::string(19, 'x'), &decoded);
  EXPECT_TRUE(births.IsCorruption());
  EXPECT_NE(births.message().find("birth count"), Slice::npos) << births.ToString();
  const Status places = Decode(head + '\0' + huge + std::string(19, 'x'), &decoded);
  EXPECT_TRUE(places.IsCorruption());
  EXPECT_NE(places.message().find("place count"), Slice::npos) << places.ToString();
}

TEST(Births, DescriptionsOfOneValueFileMustAgree) {
  const auto known = BornFile(1, 2, 200);
  const std::function<void(ValueFileMeta*)> changes[] = {
      [](ValueFileMeta* m) { ++m->bytes; },     [](ValueFileMeta* m) { ++m->crc32c; },
      [](ValueFileMeta* m) { ++m->records; },   [](ValueFileMeta* m) { ++m->raw_bytes; },
      [](ValueFileMeta* m) { m->lower = "b"; }, [](ValueFileMeta* m) { ++m->stored_bytes; },
      [](ValueFileMeta* m) { m->upper = "y"; }, [](ValueFileMeta* m) { m->births[0].records = 9; }};
  for (const auto& change : changes) {
    FileTable files;
    ASSERT_TRUE(files.Intern(known).ok());
    const auto same = files.Intern(BornFile(1, 2, 200));
    ASSERT_TRUE(same.ok());
    EXPECT_EQ(*same, known);
    const auto other = BornFile(1, 2, 200);
    change(other.get());
    const Status status = files.Intern(other).status();
    EXPECT_TRUE(status.IsCorruption());
    EXPECT_NE(status.message().find(known->id.ValueFileName()), Slice::npos);
  }
}

TEST(Births, WhatExpiredIsMarkedAsLongAsItIsNamed) {
  BirthsForTest births;
  const FileEntry key_file = WholeOf(KeyFileOf(1, {{IdOf(2), 10, 1000}}));
  births.Flush(key_file, {BornFile(2, 10, 1000)});
  VersionEdit edit;
  edit.values_removed.push_back(IdOf(2));
  edit.births_expired = {{IdOf(2), 5, 70}, {IdOf(2), 5, 60}, {IdOf(2), 6, 50}, {IdOf(99), 5, 80}};
  births.Apply(edit);
  const auto& version = births.version();
  EXPECT_TRUE(version.value_files.empty());
  ASSERT_EQ(version.births.size(), 1u) << "one that nothing names is not brought up";
  const std::map<uint64_t, int64_t> marks{{5, 70}, {6, 50}};
  EXPECT_EQ(version.births.at(IdOf(2))->expired_to_ms, marks);

  std::string bytes;
  EncodeEdit(SnapshotOf(births.state()), &bytes);
  FileTable files;
  VersionEdit decoded;
  ASSERT_TRUE(DecodeEdit(bytes, 0, &files, &decoded).ok());
  ManifestState again;
  ASSERT_TRUE(ApplyEdit(decoded, &again).ok());
  EXPECT_EQ(again.version->births.at(IdOf(2))->expired_to_ms, marks);

  births.RemoveKeys(0, key_file);
  EXPECT_TRUE(births.version().births.empty());
}

TEST(Births, SharesOfTablesSurviveEncodingAndAddUp) {
  VersionEdit edit;
  auto file = BornFile(2, 10, 1000);
  file->tables[5] = {3, 300, 77};
  file->tables[9] = {7, 700, TableShare::kNeverExpires};
  edit.AddBorn(file);
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

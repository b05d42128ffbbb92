// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/coding.h"
#include "inspect/inspect_test_util.h"
#include "inspect/text.h"
#include "lava/list_format.h"
#include "value/value_log_writer.h"

// The tool's reports about intact instances.
namespace lava::inspect {
namespace {

using testing::K;

TEST_F(InspectTest, TheSummaryIsThatOfTheInstance) {
  Fill();
  const DBStatistics s = db->statistics();
  const Json json = Ask({"summary", "/db"});
  const Json& one = json["instances"].at(0);
  EXPECT_EQ(one["tables"].size(), 2u);
  uint64_t l0 = 0, deeper = 0;
  for (const Json& level : one["levels"])
    (level["level"] == 0 ? l0 : deeper) += level["files"].get<uint64_t>();
  EXPECT_EQ(l0, s.files_at_level[0]);
  EXPECT_GT(deeper, 0u);
  EXPECT_EQ(one["totals"]["bytes"], s.live_file_bytes);
  EXPECT_EQ(one["totals"]["files"], s.live_files);
  EXPECT_EQ(one["totals"]["value_files"], s.value_files);
  uint64_t least = 0, most = 0;
  for (const Json& file : one["value_files"]) {
    least += file["garbage_min"].get<uint64_t>();
    most += file["garbage_max"].get<uint64_t>();
  }
  for (const Json& level : one["value_order"]) {
    const size_t n = level["level"];
    EXPECT_EQ(level["groups"], s.value_groups_at_level[n]);
    EXPECT_EQ(level["overlap"], s.value_overlap_at_level[n]);
  }
  EXPECT_FALSE(one["value_order"].empty());
  for (const Json& file : one["value_files"]) EXPECT_GT(file["group"], 0);
  EXPECT_EQ(least, s.garbage_bytes_min);
  EXPECT_EQ(most, s.garbage_bytes_max);
  int inherited = 0;
  for (const Json& blob_file : one["blob_files"])
    inherited += blob_file["inherited"] == true ? 1 : 0;
  EXPECT_EQ(inherited, 1) << one["blob_files"].dump(2);
  EXPECT_TRUE(one["missing"].empty());
}

/// The dictionary for a file's values is one of its blocks.
TEST_F(InspectTest, DictionariesAreShownAndVerified) {
  db.options().value_compression = Compression::kZstd;
  db.environment().value_dictionary = {
      .values_min = 10, .raw_bytes_min = 0, .saving_percent_min = 0};
  Fill();
  uint64_t dictionaries = 0, without = 0;
  std::string path;
  const Json files = Ask({"files", "/db"});
  for (const Json& file : files["instances"].at(0)["value_files"]) {
    const bool has = file.contains("dictionary_bytes");
    EXPECT_EQ(file["format_version"], has ? 2 : 1);
    ++(has ? dictionaries : without);
    if (!has) continue;
    EXPECT_GT(file["dictionary_bytes"].get<uint64_t>(), 100u);
    path = file["path"];
  }
  EXPECT_GT(dictionaries, 0u);
  EXPECT_GT(without, 0u) << "two values have none";
  EXPECT_NE(Tool({"files", "/db"}).out.find("; dictionary "), std::string::npos);
  Ask({"verify", "/db"});
  // Inside the dictionary, which precedes properties, top index and footer.
  std::string content = *db.files.Content(path);
  const uint64_t at = DecodeFixed64(content.data() + content.size() - 36);
  content[at + 9] = static_cast<char>(content[at + 9] ^ 4);
  ASSERT_OK(db.files.SetContent(path, content));
  const Json verified = Ask({"verify", "/db"}, kFaultsFound);
  EXPECT_NE(verified["faults"].dump().find("offset " + std::to_string(at)), std::string::npos)
      << verified["faults"].dump(2);
}

TEST_F(InspectTest, FilesSayWhatTheirIndexesCost) {
  Fill();
  const Json json = Ask({"files", "/db"});
  const Json& one = json["instances"].at(0);
  ASSERT_FALSE(one["value_files"].empty());
  for (const Json& file : one["key_files"]) {
    EXPECT_GT(file["index"]["bytes_per_key"].get<double>(), 0.5) << file.dump(2);
    EXPECT_EQ(file["bytes"], *db.files.FileSize(file["path"]));
  }
  for (const Json& file : one["value_files"]) {
    EXPECT_GT(file["index"]["crit_bit_bytes_per_key"].get<double>(), 1) << file.dump(2);
    EXPECT_GT(file["index"]["dense_bytes"].get<uint64_t>(), 0u);
    EXPECT_GT(file["keys"].get<uint64_t>(), 0u);
  }
  // The same file by itself.
  const std::string path = one["value_files"][0]["path"];
  const Json loose = Ask({"files", path})["loose"].at(0);
  EXPECT_EQ(loose["index"], one["value_files"][0]["index"]);
  EXPECT_TRUE(loose["own_name"]);
}

TEST_F(InspectTest, ASegmentOfAValueLogSaysThatItIsOne) {
  const FileId id{{7, 11}, 5};
  const std::string path = "/loose/" + id.ValueFileName();
  ASSERT_OK(db.files.CreateDirectory("/loose"));
  auto file = db.files.Create(path, 1 << 16);
  ASSERT_OK(file.status());
  const auto writer = ValueLogWriter::Create({}, std::move(*file), path, id);
  LoggedRecord record;
  ASSERT_OK(writer->Append(Key(1), std::string(50, 'd'), 0, &record));  // the process is killed
  ASSERT_OK(writer->Append(Key(1), std::string(70, 'l'), 0, &record));
  ASSERT_OK(writer->AddLive(Key(1), record));
  ValueFileProperties properties;
  ASSERT_OK(writer->Finish(&properties));
  const Json loose = Ask({"files", path})["loose"].at(0);
  EXPECT_EQ(loose["format_version"], 3) << loose.dump(2);
  EXPECT_TRUE(loose["is_log"]);
  EXPECT_EQ(loose["records"], 1);
  EXPECT_EQ(loose["keys"], 1);
  EXPECT_EQ(loose["log"]["records_bytes"], record.end());
  EXPECT_TRUE(Ask({"verify", path})["faults"].empty());
}

TEST_F(InspectTest, EveryKeyIsAnsweredAsTheInstanceDoes) {
  Fill();
  Table* t = db.Values();
  for (int i = 0; i < 41; ++i) {
    PinnedValue value;
    const Status status = db->Get(t, {Key(i)}, &value);
    const Json one = AskKey(Key(i));
    EXPECT_EQ(one["answer"], status.ok() ? "found" : "not found") << i << one.dump(2);
    if (!status.ok() || value.data().size() < 100) continue;
    const Json& place = one["value"]["locations"].at(0);
    EXPECT_EQ(place["value"]["bytes"], value.data().size());
    const testing::RecordLocation expected =
        testing::LocationOf(&db.files, place["path"], Slice(Key(i)).substr(1));
    EXPECT_EQ(place["record_offset"], expected.offset);
    EXPECT_EQ(place["record_bytes"], expected.bytes);
  }
}

TEST_F(InspectTest, RunsSayWhatTheyHoldNewestFirst) {
  Fill();
  const Json overwritten = AskKey(Key(12));
  ASSERT_EQ(overwritten["runs"].size(), 2u);
  EXPECT_EQ(overwritten["runs"][0]["says"], "put of a reference");
  EXPECT_EQ(overwritten["runs"][0]["asked"], true);
  EXPECT_EQ(overwritten["runs"][1]["says"], "put of a reference");
  EXPECT_EQ(overwritten["runs"][1]["asked"], false);
  EXPECT_NE(overwritten["runs"][1]["blob_file"], overwritten["runs"][0]["blob_file"]);

  const Json moved = AskKey(Key(15));
  EXPECT_NE(moved["value"]["blob_file"], moved["value"]["locations"][0]["file"]);

  EXPECT_EQ(AskKey(Key(21))["runs"][0]["says"], "delete");
  EXPECT_EQ(AskKey(Key(31))["runs"][0]["range_tombstone"], true);
  const Json prefixed = AskKey(K(2, "mapsecret"));
  EXPECT_EQ(prefixed["runs"][0]["prefix_delete"], true) << prefixed.dump(2);
  EXPECT_EQ(prefixed["prefix_bytes"], 4);
  EXPECT_EQ(prefixed["answer"], "not found");
  const Json list = AskKey(K(3, "list"), "/db", "list");
  EXPECT_EQ(list["runs"][0]["says"], "append");
  EXPECT_EQ(list["runs"].size(), 2u);
  EXPECT_EQ(list["answer"], "found");
}

TEST_F(InspectTest, PartsOfAListAreFoundEach) {
  ASSERT_OK(db.Open());
  Table* list = db.Values("list", {.kind = TableKind::kList, .separation_bytes = 100});
  const std::string key = testing::K(3, "list");
  std::vector<uint64_t> bytes;
  for (const char* element : {"first", "second"}) {
    const std::string added = testing::ListOf({testing::Large(element)});
    ASSERT_OK(db->Append(list, {key}, added));
    ASSERT_OK(db.Flush());
    bytes.push_back(added.size());
  }
  ASSERT_OK(db->Append(list, {key}, testing::ListOf({"small"})));
  ASSERT_OK(db.CompactAll());
  const Json one = AskKey(key, "/db", "list");
  ASSERT_EQ(one["runs"].size(), 1u);
  EXPECT_EQ(one["runs"][0]["says"], "put of a list with references");
  const Json& said = one["runs"][0]["parts"];
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(said[2]["inline_bytes"], testing::ListOf({"small"}).size());
  ASSERT_EQ(one["parts"].size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(said[i]["raw_bytes"], bytes[i]);
    const Json& place = one["parts"][i]["locations"].at(0);
    EXPECT_EQ(place["file"], said[i]["blob_file"]);
    EXPECT_EQ(place["value"]["bytes"], bytes[i]);
  }
  EXPECT_EQ(one["answer"], "found");
  const std::string text = Tool({"key", "/db", "list", "0x036c697374"}).out;
  EXPECT_NE(text.find("put of a list with references: [" + std::to_string(bytes[0])),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("part of a list first written in "), std::string::npos) << text;
  Ask({"verify", "/db"});
  const std::vector<std::string> files = db.ValueFileNames();
  std::string damaged = *db.files.Content(files[0]);
  damaged[damaged.size() / 4] ^= 4;
  ASSERT_OK(db.files.SetContent(files[0], damaged));
  EXPECT_FALSE(Ask({"key", "/db", "list", "0x036c697374"}, kFaultsFound)["faults"].empty());
}

TEST_F(InspectTest, WhatExpiredIsNoFault) {
  db.options().collection_garbage_percent = 25;
  ASSERT_OK(db.Open());
  const TableOptions expiring = {.kind = TableKind::kMap,
                                 .ttl_layout = TtlLayout::kValue,
                                 .ttl_ms = 1000,
                                 .separation_bytes = 100};
  Table* t = db.Values("t", expiring);
  const int64_t written_ms = db.clock().WallMillis();
  std::string stamp;
  PutBigEndian(&stamp, static_cast<uint64_t>(written_ms), 8);
  ASSERT_OK(db->Put(t, {Key(1)}, stamp + Value(1)));
  ASSERT_OK(db.Flush());
  const Json file = Ask({"files", "/db"})["instances"][0]["value_files"][0];
  ASSERT_EQ(file["tables"].size(), 1u);
  EXPECT_EQ(file["tables"][0]["records"], 1u);
  EXPECT_EQ(file["tables"][0]["newest_ms"], written_ms);
  EXPECT_EQ(AskKey(Key(1))["answer"], "found");

  db.clock().Advance(1000);
  ASSERT_OK(db->Put(t, {Key(2)}, "inline"));
  ASSERT_OK(db.Flush());
  db.executor().RunUntilIdle();
  ASSERT_TRUE(db.ValueFileNames().empty());
  const Json expired = AskKey(Key(1));
  EXPECT_EQ(expired["answer"], "not found");
  EXPECT_EQ(expired["runs"].back()["expired"], true) << expired.dump(2);
  EXPECT_FALSE(expired.contains("value"));
  Ask({"verify", "/db"});
}

TEST_F(InspectTest, UsersDataIsShownOnlyWhenAskedFor) {
  Fill();
  const std::string key = "\\x01" + Key(15).substr(1);
  for (const char* json : {"", "--json"}) {
    const auto call = [&](std::vector<std::string> arguments) {
      if (*json != 0) arguments.push_back(json);
      return Tool(std::move(arguments)).out;
    };
    for (const char* command : {"summary", "files", "verify"})
      EXPECT_EQ(call({command, "/db"}).find("secret"), std::string::npos) << command;
    EXPECT_EQ(call({"key", "/db", "t", key}).find("secret"), std::string::npos);
    EXPECT_NE(call({"files", "/db", "--show-keys"}).find("secret"), std::string::npos);
    EXPECT_NE(call({"key", "/db", "t", key, "--show-keys"}).find("secret115"), std::string::npos);
    EXPECT_EQ(call({"key", "/db", "t", key, "--show-keys"}).find("secret value"),
              std::string::npos);
    EXPECT_NE(call({"key", "/db", "t", key, "--show-values"}).find("secret value"),
              std::string::npos);
  }
}

TEST_F(InspectTest, NothingIsEverWritten) {
  Fill();
  const uint64_t before = db.files.mutating_calls();
  for (const char* command : {"summary", "files", "verify"}) Ask({command, "/db"});
  AskKey(Key(15));
  EXPECT_EQ(db.files.mutating_calls(), before);
  ASSERT_OK(db->Put(db.Values(), {Key(50)}, Value(50)));
  ASSERT_OK(db.Flush());
}

TEST_F(InspectTest, CallsThatAreWrongAreTold) {
  Fill();
  EXPECT_EQ(Tool({}).code, kUsage);
  EXPECT_EQ(Tool({"--help"}).code, kFine);
  EXPECT_EQ(Tool({"repair", "/db"}).code, kUsage);
  EXPECT_EQ(Tool({"summary"}).code, kUsage);
  EXPECT_EQ(Tool({"summary", "/nowhere"}).code, kUsage);
  ASSERT_OK(db.files.CreateDirectory("/empty"));
  EXPECT_EQ(Tool({"verify", "/empty"}).code, kUsage);
  EXPECT_EQ(Tool({"key", "/db", "no such table", "0x01"}).code, kUsage);
  EXPECT_EQ(Tool({"key", "/db", "t", "0x"}).code, kUsage) << "no partition";
  EXPECT_EQ(Tool({"key", "/db", "t", "0xzz"}).code, kUsage);
  EXPECT_EQ(Tool({"key", db.ValueFileNames()[0], "t", "0x01"}).code, kUsage);
}

TEST_F(InspectTest, WhatARunningInstanceAddsAndRemovesIsNoFault) {
  Fill();
  ASSERT_OK(db.files.SetContent("/db/" + FileId{{1, 2}, 3}.FileName(), "being written"));
  Json json = Ask({"verify", "/db"});
  EXPECT_EQ(json["faults"].size(), 0u);
  EXPECT_EQ(json["notes"].size(), 1u) << "a file that nothing names";
  // An edit that is only partially written.
  for (const std::string& path : FilesIn("/db")) {
    if (path.find("MANIFEST-") == std::string::npos) continue;
    const std::string whole = *db.files.Content(path);
    ASSERT_OK(db.files.SetContent(path, whole + std::string(10, 'x')));
    json = Ask({"summary", "/db"});
    EXPECT_EQ(json["instances"][0]["manifest"]["torn_tail_bytes"], 10);
  }
}

TEST(InspectText, BytesAreReadAsTheyAreWritten) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(ParseBytes(Escape(all)), all);
  EXPECT_EQ(ParseBytes("0x0aFf"), "\x0a\xff");
  for (const char* wrong : {"0x1", "0xgg", "\\", "\\q", "\\x1"}) EXPECT_FALSE(ParseBytes(wrong));
  EXPECT_EQ(ByteSize(1023), "1023 B");
  EXPECT_EQ(ByteSize(1536), "1.5 KiB");
  EXPECT_EQ(OffsetIn("f: at offset 12: bad"), 12u);
  EXPECT_FALSE(OffsetIn("nothing"));
}

}  // namespace
}  // namespace lava::inspect

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/checkpoint.h"

#include <set>

#include "inspect/flink_metadata.h"
#include "inspect/inspect_test_util.h"

// Flink's checkpoints: files under other names, in other directories, or inside of others.
namespace lava::inspect {
namespace {

class InspectCheckpoint : public InspectTest {
 protected:
  /// Uploads the instance's files like Flink: /cp/shared/<a meaningless name>.
  void Upload() {
    Fill();
    metadata_ = db.TakeTo("/taken");
    db.CloseDB();
    ASSERT_OK(db.files.CreateDirectory("/cp/shared"));
    ASSERT_OK(db.files.CreateDirectory("/cp/chk-1"));
    int number = 0;
    for (const std::string& path : FilesIn("/taken")) {
      const std::string to = "/cp/shared/8f6c-" + std::to_string(++number);
      ASSERT_OK(db.files.SetContent(to, *db.files.Content(path)));
      uploaded_[BaseOf(path)] = to;
    }
    ASSERT_GT(uploaded_.size(), 3u);
  }
  using Handles = std::vector<std::string>;
  Handles HandlesOfAll() {
    Handles handles;
    for (const auto& [name, path] : uploaded_)
      handles.push_back(Uploaded(name, "file:" + path, *db.files.FileSize(path)));
    return handles;
  }
  Handles Described(const std::string& description, Handles handles = {}) {
    handles.push_back(Within("LAVA-CHECKPOINT", description));
    return handles;
  }
  void Write(const FlinkMetadataBuilder& metadata) {
    ASSERT_OK(db.files.SetContent("/cp/chk-1/_metadata", metadata.Build()));
  }
  void WriteFlinkMetadata(const Handles& files) {
    FlinkMetadataBuilder metadata;
    metadata.AddIncremental(ByteStream(kStateMeta), files);
    Write(metadata);
  }
  void ExpectWhole(const std::string& path = "/cp/chk-1") {
    const Json verified = Ask({"verify", path});
    EXPECT_EQ(verified["checked_files"], uploaded_.size()) << verified.dump(2);
    EXPECT_EQ(AskKey(Key(15), path)["answer"], "found");
    EXPECT_EQ(AskKey(Key(3), path)["answer"], "not found");
    EXPECT_TRUE(Ask({"summary", path})["instances"][0]["missing"].empty());
  }

  /// Uploads the instance's files in two packs, with a dead file between; _metadata contains their
  /// description.
  void UploadPacked() {
    Upload();
    std::string content[2];
    std::vector<std::pair<std::string, PackedLocation>> packed;
    for (const auto& [name, path] : uploaded_) {
      const size_t to = packed.size() * 2 / uploaded_.size();
      const std::string file = *db.files.Content(path);
      packed.push_back({name, {"pack" + std::to_string(to), content[to].size(), file.size()}});
      content[to] += file;
      if (packed.size() == 1) content[to] += file;  // no description names this one
      ASSERT_OK(db.files.Remove(path));
      inside_[name] = pack_[to] + "[" + std::to_string(packed.back().second.offset) + "]";
    }
    Handles handles;
    for (const size_t to : {0, 1}) {
      ASSERT_OK(db.files.SetContent(pack_[to], content[to]));
      handles.push_back(
          Uploaded("pack" + std::to_string(to), "file:" + pack_[to], content[to].size()));
    }
    description_ = PrivateFile(metadata_, 0, &packed);
    WriteFlinkMetadata(Described(description_, handles));
  }
  /// Changes a byte of the first pack.
  void Damage(uint64_t at) {
    std::string content = *db.files.Content(pack_[0]);
    content[at] ^= 1;
    ASSERT_OK(db.files.SetContent(pack_[0], content));
  }

  const std::string pack_[2] = {"/cp/shared/8f6c-a", "/cp/shared/8f6c-b"};
  std::string metadata_, description_;
  std::map<std::string, std::string> uploaded_;  // own name -> path
  std::map<std::string, std::string> inside_;    // own name -> where it is in a pack
};

TEST_F(InspectCheckpoint, FilesAreKnownByTheirUniqueIds) {
  Upload();
  WriteFlinkMetadata(Described(PrivateFile(metadata_, 12), {Within("LAVA-TIMERS", TimersOf(12))}));
  ExpectWhole();
  EXPECT_EQ(Ask({"summary", "/cp/chk-1"})["instances"][0]["heap_timer_bytes"], 12);
  ExpectWhole("/cp/chk-1/_metadata");
}

TEST_F(InspectCheckpoint, ThePrivateFileMayBeAFileOfItsOwn) {
  Upload();
  ASSERT_OK(db.files.SetContent("/cp/chk-1/0e1f", PrivateFile(metadata_)));
  Handles handles = HandlesOfAll();
  handles.push_back(
      Uploaded("LAVA-CHECKPOINT", "file:/cp/chk-1/0e1f", PrivateFile(metadata_).size()));
  WriteFlinkMetadata(handles);
  ExpectWhole();
  ExpectWhole("/cp/chk-1/0e1f");
}

TEST_F(InspectCheckpoint, SmallFilesLieWithinFlinksMetadata) {
  Upload();
  Handles content = Described(PrivateFile(metadata_));
  bool small = false;
  for (const auto& [name, path] : uploaded_) {
    small = !small;
    if (!small) continue;
    content.push_back(Within(name, *db.files.Content(path)));
    ASSERT_OK(db.files.Remove(path));
  }
  WriteFlinkMetadata(content);
  ExpectWhole();
  int within = 0;
  const Json json = Ask({"verify", "/cp/chk-1"});
  for (const Json& file : json["files"])
    within += file["path"].get<std::string>().find("_metadata[") != std::string::npos ? 1 : 0;
  EXPECT_GE(within, 2);
}

TEST_F(InspectCheckpoint, FilesMayBeMergedIntoOne) {
  Upload();
  std::string merged = "of another operator";
  for (const auto& [name, path] : uploaded_) {
    merged += *db.files.Content(path);
    ASSERT_OK(db.files.Remove(path));
  }
  const uint64_t described_at = merged.size();
  merged += PrivateFile(metadata_);
  ASSERT_OK(db.files.CreateDirectory("/cp/taskowned"));
  ASSERT_OK(db.files.SetContent("/cp/taskowned/11", merged));
  WriteFlinkMetadata(Described(PrivateFile(metadata_)));
  ExpectWhole();
  // The description is also in the merged file.
  WriteFlinkMetadata({Merged("LAVA-CHECKPOINT", "file:/cp/taskowned/11", described_at,
                             PrivateFile(metadata_).size())});
  ExpectWhole();
}

TEST_F(InspectCheckpoint, SmallFilesLieInPacks) {
  UploadPacked();
  ExpectWhole();
  std::set<std::string> paths, expected;
  const Json json = Ask({"verify", "/cp/chk-1"});
  for (const Json& file : json["files"]) paths.insert(file["path"]);
  for (const auto& [name, inside] : inside_) expected.insert(inside);
  EXPECT_EQ(paths, expected) << "not the dead one that has the first one's name, too";
  ASSERT_OK(db.files.SetContent("/cp/chk-1/0e1f", description_));
  ExpectWhole("/cp/chk-1/0e1f");
}

TEST_F(InspectCheckpoint, ADamagedFileInAPackIsToldByItsPlace) {
  UploadPacked();
  const std::string content = *db.files.Content(pack_[0]);
  std::set<std::string> told;
  for (uint64_t at = 0; at < content.size(); at += 7) {
    Damage(at);
    const Ran ran = Tool({"verify", "/cp/chk-1", "--json"});
    const Json faults = ran.json()["faults"];
    std::set<std::string> paths;
    for (const Json& fault : faults) paths.insert(fault["path"]);
    EXPECT_LE(paths.size(), 1u) << "at " << at << ran.out;
    told.insert(paths.begin(), paths.end());
    Damage(at);
  }
  std::set<std::string> expected;
  for (const auto& [name, inside] : inside_)
    if (inside.starts_with(pack_[0])) expected.insert(inside);
  EXPECT_EQ(told, expected);
  EXPECT_GT(told.size(), 1u);
}

TEST_F(InspectCheckpoint, ACutPackIsTold) {
  UploadPacked();
  const std::string content = *db.files.Content(pack_[1]);
  ASSERT_OK(db.files.SetContent(pack_[1], content.substr(0, content.size() - 1)));
  Json faults = Ask({"verify", "/cp/chk-1"}, kFaultsFound)["faults"];
  for (const Json& fault : faults) EXPECT_EQ(fault["path"], inside_.rbegin()->second);
  EXPECT_FALSE(faults.empty());
  ASSERT_OK(db.files.Remove(pack_[1]));
  faults = Ask({"verify", "/cp/chk-1"}, kFaultsFound)["faults"];
  EXPECT_EQ(faults[0]["code"], "Missing") << faults.dump(2);
}

TEST_F(InspectCheckpoint, PacksStandForTheirFiles) {
  UploadPacked();
  EXPECT_EQ(Ask({"files", "/cp/shared"})["loose"].size(), uploaded_.size() + 1);
  EXPECT_EQ(Ask({"verify", "/cp/shared"})["checked_files"], uploaded_.size() + 1);
  const Json one = Ask({"verify", pack_[1]});
  EXPECT_GT(one["checked_files"], 1);
  EXPECT_LT(one["checked_files"], uploaded_.size());
  Damage(20);  // in its first file
  for (const std::string& path : {std::string("/cp/shared"), pack_[0]}) {
    const Json faults = Ask({"verify", path}, kFaultsFound)["faults"];
    for (const Json& fault : faults) EXPECT_EQ(fault["path"], pack_[0] + "[0]");
  }
  Damage(20);
  uint64_t first_bytes = 0;
  const Json sound = Ask({"verify", pack_[0]});
  for (const Json& file : sound["files"])
    if (file["path"] == pack_[0] + "[0]") first_bytes = file["bytes"];
  Damage(first_bytes - 20);  // in its footer
  const Json faults = Ask({"verify", pack_[0]}, kFaultsFound)["faults"];
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_EQ(faults[0]["path"], pack_[0]);
  EXPECT_EQ(faults[0]["offset"], 0);
}

TEST_F(InspectCheckpoint, WhatSaysWhereFilesLieInPacksIsChecked) {
  UploadPacked();
  const std::string sound = description_.substr(0, description_.size() - 4);
  const size_t begin = 40 + metadata_.size();
  const auto parsed = [](std::string bytes) {
    PutBigEndian(&bytes, Crc32c(bytes), 4);
    LavaCheckpoint out;
    const Status status = ParseLavaCheckpoint(bytes, "the-file", &out);
    EXPECT_TRUE(status.ok() || status.message().find("the-file") != std::string::npos);
    return status.ok() ? static_cast<int>(out.packed.size()) : -1;
  };
  EXPECT_EQ(parsed(sound), static_cast<int>(uploaded_.size()));
  for (size_t bytes = begin; bytes < sound.size(); ++bytes)
    EXPECT_EQ(parsed(sound.substr(0, bytes)), -1) << bytes;
  EXPECT_EQ(parsed(sound + "x"), -1);
  for (const size_t at : {begin, begin + 4, begin + 8}) {  // a length, a count, a name's length
    std::string damaged = sound;
    damaged[at] ^= 1;
    EXPECT_EQ(parsed(damaged), -1) << at;
  }
  std::string first = sound;  // the version without packs
  first[11] = 1;
  EXPECT_EQ(parsed(first), -1);
  EXPECT_EQ(parsed(first.substr(0, begin)), 0);
}

// 48 bytes of the plugin's identity, three numbers of the clock.
std::string Origin(uint64_t first_key_group, uint64_t last_key_group) {
  std::string origin(15, '\0');
  origin += '\x2a';
  origin += std::string(15, '\xee') + '\7';
  PutBigEndian(&origin, 4711, 8);
  PutBigEndian(&origin, first_key_group, 4);
  PutBigEndian(&origin, last_key_group, 4);
  PutBigEndian(&origin, 1'700'000'000'000, 8);
  PutBigEndian(&origin, 7'200'000, 8);
  PutBigEndian(&origin, 60'000, 8);
  return origin;
}

TEST_F(InspectCheckpoint, ACheckpointSaysWhatItIsOf) {
  Upload();
  const std::vector<std::pair<std::string, PackedLocation>> none;
  const std::string description = PrivateFile(metadata_, 0, &none, Origin(32, 63));
  WriteFlinkMetadata(Described(description, HandlesOfAll()));
  ExpectWhole();
  const Json of = Ask({"summary", "/cp/chk-1"})["instances"][0]["checkpoint"];
  EXPECT_EQ(of["number"], 4711);
  EXPECT_EQ(of["job"], "eeeeeeeeeeeeeeeeeeeeeeeeeeeeee07");
  EXPECT_EQ(of["unique_name"], "0000000000000000000000000000002a");
  EXPECT_EQ(of["first_key_group"], 32);
  EXPECT_EQ(of["last_key_group"], 63);
  EXPECT_EQ(of["ttl_time_ms"], 1'700'000'000'000);
  EXPECT_EQ(of["ttl_lead_ms"], 7'200'000);
  EXPECT_EQ(of["ttl_lead_stood_ms"], 60'000);
  LavaCheckpoint out;
  EXPECT_OK(ParseLavaCheckpoint(description, "the-file", &out));
  EXPECT_TRUE(ParseLavaCheckpoint(PrivateFile(metadata_, 0, &none, Origin(64, 63)), "f", &out)
                  .IsCorruption());
  EXPECT_TRUE(
      ParseLavaCheckpoint(PrivateFile(metadata_, 0, &none, "short"), "f", &out).IsCorruption());
}

TEST_F(InspectCheckpoint, LocalBackupsAndBareMetadataAreCheckpointsToo) {
  Upload();
  ASSERT_OK(db.files.SetContent("/taken/LAVA-CHECKPOINT", PrivateFile(metadata_)));
  ExpectWhole("/taken");
  ASSERT_OK(db.files.Remove("/taken/LAVA-CHECKPOINT"));
  ASSERT_OK(db.files.SetContent("/taken/metadata", metadata_));
  ExpectWhole("/taken");
  ExpectWhole("/taken/metadata");
}

TEST_F(InspectCheckpoint, ADamagedFooterIsFoundByTheNameThatFlinkGaveTheFile) {
  Upload();
  WriteFlinkMetadata(Described(PrivateFile(metadata_), HandlesOfAll()));
  const std::string path = uploaded_.begin()->second;
  const std::string content = *db.files.Content(path);
  ASSERT_OK(db.files.SetContent(path, content.substr(0, content.size() - 9)));
  const Json faults = Ask({"verify", "/cp/chk-1"}, kFaultsFound)["faults"];
  ASSERT_FALSE(faults.empty());
  for (const Json& fault : faults) {
    EXPECT_NE(fault["path"].get<std::string>().find(BaseOf(path)), std::string::npos);
    EXPECT_EQ(fault["code"], "Corruption");
  }
  ASSERT_OK(db.files.Remove(path));
  EXPECT_EQ(Ask({"verify", "/cp/chk-1"}, kFaultsFound)["faults"][0]["code"], "Missing");
}

TEST_F(InspectCheckpoint, ADamagedDescriptionIsAFault) {
  Upload();
  std::string description = PrivateFile(metadata_);
  description[60] ^= 1;
  WriteFlinkMetadata(Described(description));
  EXPECT_EQ(Ask({"verify", "/cp/chk-1"}, kFaultsFound)["faults"].size(), 1u);
}

TEST_F(InspectCheckpoint, SharedFilesStandForThemselves) {
  Upload();
  const Json json = Ask({"files", "/cp/shared"});
  EXPECT_EQ(json["loose"].size(), uploaded_.size());
  for (const Json& file : json["loose"]) EXPECT_FALSE(file["own_name"]);
  EXPECT_EQ(Ask({"verify", "/cp/shared"})["checked_files"], uploaded_.size());
}

TEST_F(InspectCheckpoint, SeveralSubtasksAreSeveralInstances) {
  Upload();
  FlinkMetadataBuilder metadata;
  metadata.AddIncremental(ByteStream(kStateMeta), Described(PrivateFile(metadata_)));
  metadata.AddFlinksOwn(ByteStream("operator state"));
  metadata.AddIncremental(ByteStream(kStateMeta), Described(PrivateFile(metadata_)));
  Write(metadata);
  EXPECT_EQ(Ask({"summary", "/cp/chk-1"})["instances"].size(), 2u);
}

// Regression: each of these was reported as "0 files, no faults" with exit code 0.
TEST_F(InspectCheckpoint, ForeignKeyedStateIsNotVerified) {
  ASSERT_OK(db.files.CreateDirectory("/cp/chk-1"));
  const std::string stream = ByteStream("state");
  const auto told = [&](const FlinkMetadataBuilder& metadata, const std::string& what) {
    Write(metadata);
    const Json json = Ask({"verify", "/cp/chk-1"}, kNotVerified);
    EXPECT_NE(json["not_verified"].dump().find(what), std::string::npos) << json.dump(2);
    EXPECT_NE(json["not_verified"].dump().find("Window aggregate"), std::string::npos);
    EXPECT_NE(Tool({"verify", "/cp/chk-1"}).out.find("NOT VERIFIED"), std::string::npos);
    EXPECT_EQ(Ask({"verify", "/cp/chk-1/_metadata"}, kNotVerified)["not_verified"].size(),
              json["not_verified"].size());
  };
  FlinkMetadataBuilder canonical, full, full_v2, rocksdb, changelog;
  canonical.AddKeyGroups(7, stream);
  told(canonical, "canonical format");
  full.AddKeyGroups(3, stream);
  told(full, "full checkpoint");
  full_v2.AddKeyGroups(12, stream);
  told(full_v2, "full checkpoint");
  rocksdb.AddIncremental(stream, {Within("000009.sst", "SST"), Within("MANIFEST-000004", "M")});
  told(rocksdb, "RocksDB");
  changelog.AddChangelog(stream);
  told(changelog, "changelog");
}

TEST_F(InspectCheckpoint, ACheckpointIsVerifiedWholeOrSaysWhatIsNot) {
  Upload();
  FlinkMetadataBuilder mixed, own, nothing;
  mixed.AddIncremental(ByteStream(kStateMeta), Described(PrivateFile(metadata_)));
  mixed.AddKeyGroups(7, ByteStream("state"));
  Write(mixed);
  const Json json = Ask({"verify", "/cp/chk-1"}, kNotVerified);
  EXPECT_EQ(json["checked_files"], uploaded_.size());
  EXPECT_EQ(json["not_verified"].size(), 1u);
  own.AddIncremental(ByteStream(kStateMeta), Described(PrivateFile(metadata_)));
  own.AddFlinksOwn(ByteStream("operator state"));
  Write(own);
  EXPECT_EQ(Ask({"verify", "/cp/chk-1"})["notes"].size(), 1u) << "Flink's own has no checksums";
  nothing.AddFlinksOwn(ByteStream("operator state"));
  Write(nothing);
  Ask({"verify", "/cp/chk-1"}, kNotVerified);
}

TEST_F(InspectCheckpoint, WhatFlinkWroteBesideTheFilesIsVerified) {
  Upload();
  const auto faults = [&](const std::string& state_meta, const Handles& files) {
    FlinkMetadataBuilder metadata;
    metadata.AddIncremental(ByteStream(state_meta), files);
    Write(metadata);
    return Ask({"verify", "/cp/chk-1"}, kFaultsFound)["faults"];
  };
  const std::string description = PrivateFile(metadata_, 12);
  std::string other = kStateMeta;
  other[3] ^= 1;
  const Handles timers = {Within("LAVA-TIMERS", TimersOf(12))};
  EXPECT_EQ(faults(other, Described(description, timers)).size(), 1u);
  EXPECT_EQ(faults(kStateMeta + "x", Described(description, timers)).size(), 1u);
  EXPECT_EQ(
      faults(kStateMeta, Described(description, {Within("LAVA-TIMERS", TimersOf(11))}))[0]["code"],
      "Corruption");
  EXPECT_EQ(faults(kStateMeta, Described(description))[0]["code"], "Missing");
  EXPECT_EQ(faults(kStateMeta, {Uploaded("LAVA-CHECKPOINT", "file:/cp/chk-1/gone", 9)})[0]["code"],
            "Missing");
}

TEST_F(InspectCheckpoint, FilesThatAreNotLavasAreNotVerified) {
  Upload();
  std::string sst = "keys and values";
  PutFixed64(&sst, 0x88e241b785f4cff7);
  ASSERT_OK(db.files.SetContent("/cp/shared/000007.sst", sst));
  const Json json = Ask({"verify", "/cp/shared"}, kNotVerified);
  EXPECT_EQ(json["checked_files"], uploaded_.size());
  EXPECT_EQ(json["not_verified"].size(), 1u);
  EXPECT_NE(json["not_verified"].dump().find("RocksDB"), std::string::npos);
  Ask({"verify", "/cp/shared/000007.sst"}, kNotVerified);
  ASSERT_OK(db.files.SetContent("/cp/shared/000007.sst", "something"));
  Ask({"verify", "/cp/shared/000007.sst"}, kNotVerified);
  Ask({"files", "/cp/shared"});
}

TEST(InspectFlinkMetadata, EveryVersionIsReadAndEachCutIsTold) {
  for (uint32_t version = 3; version <= 6; ++version) {
    FlinkMetadataBuilder builder(version);
    builder.AddIncremental(ByteStream(kStateMeta),
                           {Within("a.ksst", "abc"), Uploaded("b.ksst", "file:/x/y", 7),
                            Merged("c.ksst", "s3://x/z", 5, 6)});
    builder.AddFlinksOwn(ByteStream("own"));
    builder.AddChangelog(ByteStream("state"));
    const std::string bytes = builder.Build();
    FlinkMetadata metadata;
    ASSERT_OK(ParseFlinkMetadata(bytes, "_metadata", &metadata));
    ASSERT_EQ(metadata.keyed.size(), 4u) << "with the changelog's three";
    const KeyedState& first = metadata.keyed[0];
    EXPECT_EQ(first.operator_name,
              version >= 5 ? "Window aggregate" : "0x00000000000000070000000000000009");
    EXPECT_EQ(bytes.substr(first.Find("a.ksst")->offset, 3), "abc");
    EXPECT_EQ(first.Find("b.ksst")->base, "y");
    EXPECT_EQ(first.Find("c.ksst")->offset, 5u);
    EXPECT_EQ(first.state_meta.bytes, kStateMeta.size());
    EXPECT_EQ(metadata.other_states, version >= 6 ? 4u : 3u);
    const size_t whole = bytes.size() - std::string("properties").size();
    for (size_t cut = 0; cut < whole; ++cut) {
      FlinkMetadata part;
      const Status status = ParseFlinkMetadata(Slice(bytes).substr(0, cut), "_metadata", &part);
      EXPECT_TRUE(status.IsCorruption()) << cut;
      EXPECT_NE(status.message().find("_metadata"), std::string::npos);
    }
  }
  FlinkMetadata metadata;
  EXPECT_TRUE(ParseFlinkMetadata(FlinkMetadataBuilder(9).Build(), "f", &metadata).code() ==
              Status::Code::kNotSupported);
}

TEST(InspectFlinkMetadata, WithoutLavaThereIsNothing) {
  EXPECT_TRUE(FindEmbedded("LAVACKPT lavaSST1 lavaVAL1").empty());
  EXPECT_TRUE(FindEmbedded("").empty());
  UploadedFile uploaded;
  EXPECT_FALSE(FindUploaded("", "x", &uploaded));
  EXPECT_FALSE(FindUploaded(Slice("\0\1x\2\0\0", 6), "x", &uploaded));
}

}  // namespace
}  // namespace lava::inspect

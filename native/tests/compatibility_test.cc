// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/framing.h"
#include "base/hash.h"
#include "db/verify_file.h"
#include "db_test_util.h"
#include "manifest/manifest.h"
#include "table/format.h"
#include "testing/count.h"
#include "testing/variable.h"
#include "value/format.h"

// This library opens the files of earlier releases: data/compatibility/README.md.
namespace lava::testing {
namespace {

namespace files = std::filesystem;
using Content = std::map<std::string, std::map<std::string, std::string>>;  // table, key, value

const files::path& DataDirectory() {
  static const files::path directory =
      files::path(__FILE__).parent_path() / "data" / "compatibility";
  return directory;
}

std::vector<files::path> Fixtures() {
  std::vector<files::path> fixtures;
  for (const auto& entry : files::directory_iterator(DataDirectory()))
    if (entry.is_directory()) fixtures.push_back(entry.path());
  std::sort(fixtures.begin(), fixtures.end());
  return fixtures;
}

std::string ReadFile(const files::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}
void WriteFile(const files::path& path, Slice content) {
  files::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  EXPECT_TRUE(file.good()) << path;
}

std::string Hex(Slice bytes) {
  std::string hex;
  for (const char byte : bytes) {
    hex += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return hex.empty() ? "-" : hex;
}
std::string Unhex(const std::string& hex) {
  std::string bytes;
  if (hex == "-") return bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

/// One half of a fixture, as in expected.txt: "db" or "checkpoint".
struct Expected {
  uint32_t partition_bytes = 0;
  std::map<std::string, TableOptions> tables;
  Content content;

  uint32_t partition_max() const { return (1u << (8 * partition_bytes)) - 1; }
  /// The content of the given partitions.
  Content In(uint32_t first, uint32_t last) const {
    Content clipped;
    for (const auto& [table, entries] : content) {
      auto& of_table = clipped[table];
      for (const auto& [key, value] : entries) {
        const uint64_t partition = DecodeBigEndian(key.data(), partition_bytes);
        if (partition >= first && partition <= last) of_table[key] = value;
      }
    }
    return clipped;
  }
};

Expected ReadExpected(const files::path& fixture, const std::string& half) {
  Expected expected;
  std::istringstream lines(ReadFile(fixture / "expected.txt"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string of, what, name;
    if (!(words >> of >> what) || of != half) continue;
    if (what == "partition_bytes") words >> expected.partition_bytes;
    if (what == "table") {
      int kind = 0, layout = 0;
      TableOptions options;
      words >> name >> kind >> layout >> options.ttl_ms;
      options.kind = static_cast<TableKind>(kind);
      options.ttl_layout = static_cast<TtlLayout>(layout);
      expected.tables[name] = options;
      expected.content[name];
    }
    if (what == "entry") {
      std::string key, value;
      words >> name >> key >> value;
      expected.content[name][Unhex(key)] = Unhex(value);
    }
    EXPECT_TRUE(words) << line;
  }
  EXPECT_NE(expected.partition_bytes, 0u);
  EXPECT_GE(expected.tables.size(), 4u);
  return expected;
}

void WriteExpected(const std::string& half, const Expected& expected, std::string* out) {
  std::ostringstream lines;
  lines << half << " partition_bytes " << expected.partition_bytes << "\n";
  for (const auto& [name, options] : expected.tables) {
    lines << half << " table " << name << ' ' << static_cast<int>(options.kind) << ' '
          << static_cast<int>(options.ttl_layout) << ' ' << options.ttl_ms << "\n";
  }
  for (const auto& [name, entries] : expected.content)
    for (const auto& [key, value] : entries)
      lines << half << " entry " << name << ' ' << Hex(key) << ' ' << Hex(value) << "\n";
  *out += lines.str();
}

/// Copies a half's files to /db.
void Load(const files::path& directory, CrashableFileSystem* memory) {
  ASSERT_OK(memory->CreateDirectory("/db"));
  for (const auto& entry : files::directory_iterator(directory))
    ASSERT_OK(memory->SetContent("/db/" + entry.path().filename().string(), ReadFile(entry)));
}

void SetOptions(const Expected& expected, DBOptions* options) {
  options->partition_bytes = expected.partition_bytes;
  options->partition_first = 0;
  options->partition_last = expected.partition_max();
  options->collection_garbage_percent = 1;
  options->value_policy = ValuePolicy::kCollect;  // so that no compaction rewrites the values first
}

Content ReadContent(SimDB* db, const Expected& expected) {
  Content content;
  const std::vector<TableInfo> tables = (*db)->ListTables();
  EXPECT_EQ(tables.size(), expected.tables.size());
  for (const TableInfo& info : tables) {
    const auto known = expected.tables.find(info.name);
    EXPECT_NE(known, expected.tables.end()) << info.name;
    if (known == expected.tables.end()) continue;
    EXPECT_EQ(info.options.kind, known->second.kind);
    EXPECT_EQ(info.options.ttl_layout, known->second.ttl_layout);
    EXPECT_EQ(info.options.ttl_ms, known->second.ttl_ms);
    Result<Table*> table = (*db)->CreateTable(info.name, info.options);
    EXPECT_OK(table.status());
    std::vector<Model::Entry> entries;
    EXPECT_OK(db->ScanAll(*table, {}, &entries));
    auto& of_table = content[info.name];
    for (const auto& [key, value] : entries) {
      of_table[key] = value;
      PinnedValue got;
      EXPECT_OK((*db)->Get(*table, {key, 0}, &got));
      EXPECT_EQ(got.data(), value);
    }
  }
  return content;
}

/// The instance accepts writes, reopens with them, and collects its original value files.
void WriteAndReopen(SimDB* db, const Expected& expected, Content content) {
  for (auto& [name, entries] : content) {
    const TableOptions options = expected.tables.at(name);
    if (options.ttl_layout != TtlLayout::kNone) continue;
    Result<Table*> table = (*db)->CreateTable(name, options);
    ASSERT_OK(table.status());
    const std::string key(expected.partition_bytes + 3, '\5');
    const std::string value = ListOf({"written by a later release"});
    ASSERT_OK((*db)->Put(*table, {key}, value));
    entries[key] = value;
    if (options.kind != TableKind::kValue) continue;
    // Deletes every other key, some of whose values are in value files.
    for (auto entry = entries.begin(); entry != entries.end();) {
      ASSERT_OK((*db)->Delete(*table, {entry->first}));
      entry = entries.erase(entry);
      if (entry != entries.end()) ++entry;
    }
  }
  const uint64_t value_files = (*db)->statistics().value_files;
  EXPECT_EQ(ReadContent(db, expected), content);
  ASSERT_OK(db->Flush());
  ASSERT_OK(db->Open());
  EXPECT_EQ(ReadContent(db, expected), content);
  ASSERT_OK(db->CompactAll());
  db->executor().RunUntilIdle();
  EXPECT_EQ((*db)->statistics().collections > 0, value_files > 0);
  ASSERT_OK(db->Open());
  EXPECT_EQ(ReadContent(db, expected), content);
}

/// Manifest and checkpoint metadata, key SSTs and value SSTs have separate versions.
files::path NewestFixture() {
  return DataDirectory() /
         ("format-" + std::to_string(kManifestFormatVersion) + "-ksst-" +
          std::to_string(ksst::kFormatVersion) + "-vsst-" + std::to_string(vsst::kFormatVersion));
}

TEST(Compatibility, ThereIsAFixtureOfThisFormat) { EXPECT_TRUE(files::exists(NewestFixture())); }

/// The versions of SSTs with this extension in all fixtures.
std::set<uint32_t> VersionsOf(const std::string& extension) {
  std::set<uint32_t> versions;
  for (const auto& entry : files::recursive_directory_iterator(DataDirectory())) {
    if (entry.path().extension() != extension) continue;
    const std::string content = ReadFile(entry.path());
    versions.insert(DecodeFixed32(content.data() + content.size() - 20));
  }
  return versions;
}

TEST(Compatibility, EachVersionOfSstsIsInAFixture) {
  for (uint32_t version = 1; version <= ksst::kFormatVersion; ++version)
    EXPECT_TRUE(VersionsOf(".ksst").contains(version)) << version;
  for (uint32_t version = 1; version <= vsst::kFormatVersion; ++version)
    EXPECT_TRUE(VersionsOf(".vsst").contains(version)) << version;
}

void CheckInstance(const files::path& fixture) {
  SCOPED_TRACE(fixture);
  const Expected expected = ReadExpected(fixture, "db");
  SimDB db(1);
  Load(fixture / "db", &db.memory());
  SetOptions(expected, &db.options());
  for (const std::string& path : db.memory().Paths()) {
    if (path.ends_with(".ksst") || path.ends_with(".vsst"))
      EXPECT_OK(VerifyStoredFile(&db.memory(), path, {}));
  }
  ASSERT_OK(db.Open());
  EXPECT_EQ(ReadContent(&db, expected), expected.content);
  WriteAndReopen(&db, expected, expected.content);
}

void CheckCheckpoint(const files::path& fixture) {
  SCOPED_TRACE(fixture);
  const Expected expected = ReadExpected(fixture, "checkpoint");
  const std::string metadata = ReadFile(fixture / "checkpoint" / "metadata");
  const Result<MetadataInfo> info = ReadMetadata(metadata);
  ASSERT_OK(info.status());
  EXPECT_EQ(info->partition_bytes, expected.partition_bytes);
  for (const Snapshot::File& file : info->files) {
    const std::string content = ReadFile(fixture / "checkpoint" / file.name);
    EXPECT_EQ(content.size(), file.bytes);
    EXPECT_EQ(Crc32c(content), file.crc32c);
  }
  const uint32_t all = expected.partition_max();
  const std::pair<uint32_t, uint32_t> ranges[] = {{0, all}, {0, 5}, {4, 9}, {8, all}, {6, 6}};
  for (const auto& [first, last] : ranges) {
    SimDB db(1);
    Load(fixture / "checkpoint", &db.memory());
    ASSERT_OK(db.memory().Remove("/db/metadata"));
    SetOptions(expected, &db.options());
    const ImportSource import{metadata, first, last};
    ASSERT_OK(db.Open({&import, 1}));
    EXPECT_EQ(ReadContent(&db, expected), expected.In(first, last));
    if (first == 0 && last == all) WriteAndReopen(&db, expected, expected.content);
  }
}

TEST(Compatibility, DirectoriesOfEachFormatOpen) {
  for (const files::path& fixture : Fixtures()) CheckInstance(fixture);
}

TEST(Compatibility, CheckpointsOfEachFormatAreImported) {
  for (const files::path& fixture : Fixtures()) CheckCheckpoint(fixture);
}

void ExpectTold(const Status& status, const std::string& path) {
  EXPECT_TRUE(status.IsCorruption()) << status.ToString();
  EXPECT_NE(status.message().find(path), Slice::npos) << path << ": " << status.ToString();
}

/// All readable data is unchanged, and every error names the damaged file. The same holds after a
/// compaction and collection.
void WorkWithDamage(SimDB* db, const Expected& expected, const std::string& path) {
  const Status opened = db->Open();
  if (!opened.ok()) return ExpectTold(opened, path);
  for (const bool compacted : {false, true}) {
    for (const auto& [name, entries] : expected.content) {
      Result<Table*> table = (*db)->CreateTable(name, expected.tables.at(name));
      ASSERT_OK(table.status());
      for (const auto& [key, value] : entries) {
        PinnedValue got;
        const Status status = (*db)->Get(*table, {key}, &got);
        if (!status.ok()) ExpectTold(status, path);
        EXPECT_TRUE(!status.ok() || got.data() == value) << name << " " << Hex(key);
      }
    }
    if (compacted) return;
    const Status status = db->CompactAll();
    if (!status.ok()) ExpectTold(status, path);
    db->executor().RunUntilIdle();
  }
}

TEST(Compatibility, ADamagedByteOfAnyFormatIsToldOrHarmless) {
#if defined(__SANITIZE_ADDRESS__)
  size_t step = 397;
#else
  size_t step = 29;
#endif
  // LAVA_TEST_STEP: reduces the number of tries by this factor.
  step *= Variable("LAVA_TEST_STEP", 1);
  uint64_t flips = 0;
  for (const files::path& fixture : Fixtures()) {
    const Expected expected = ReadExpected(fixture, "db");
    ChosenFileSystem sound;
    Load(fixture / "db", &sound);
    for (const std::string& path : sound.Paths()) {
      const std::string content = *sound.Content(path);
      for (size_t i = flips % step; i < content.size(); i += step) {
        SCOPED_TRACE(fixture.filename().string() + path + " byte " + std::to_string(i));
        SimDB db(1);
        Load(fixture / "db", &db.memory());
        SetOptions(expected, &db.options());
        std::string damaged = content;
        damaged[i] = static_cast<char>(damaged[i] ^ (1 << i % 8));
        ASSERT_OK(db.memory().SetContent(path, damaged));
        WorkWithDamage(&db, expected, path.substr(path.rfind('/') + 1));
        if (HasFailure()) return;
        ++flips;
      }
    }
  }
  Count(flips, "flips of files of all formats that compactions and collections met");
}

/// A format that this library does not know yet, complete and with correct checksums.
class NewerFormat : public ::testing::Test {
 protected:
  NewerFormat() : fixture_(NewestFixture()), expected_(ReadExpected(fixture_, "db")) {
    Load(fixture_ / "db", &db_.memory());
    SetOptions(expected_, &db_.options());
  }
  static void ExpectRefused(const Status& status, const std::string& name) {
    EXPECT_EQ(status.code(), Status::Code::kNotSupported) << status.ToString();
    const bool values = name.ends_with(".vsst"), table = values || name.ends_with(".ksst");
    const uint32_t newest = values  ? vsst::kFormatVersion
                            : table ? ksst::kFormatVersion
                                    : kManifestFormatVersion;
    for (const std::string& part :
         {name, std::to_string(newest + 1),
          "up to " + std::string(table ? "version " : "") + std::to_string(newest)})
      EXPECT_NE(status.message().find(part), Slice::npos) << status.ToString();
  }
  /// The path of the file whose name contains the text.
  std::string PathOf(Slice part) {
    for (const std::string& path : db_.memory().Paths())
      if (path.find(part) != std::string::npos) return path;
    ADD_FAILURE() << part;
    return {};
  }

  const files::path fixture_;
  const Expected expected_;
  SimDB db_{1};
};

TEST_F(NewerFormat, Current) {
  const std::string path = PathOf("CURRENT");
  std::string payload = db_.memory().Content(path)->substr(kFrameHeaderBytes);
  payload[0] = kManifestFormatVersion + 1;
  std::string record;
  ASSERT_OK(FrameWriter(0x4c41564143555252).Append(3, payload, &record));
  ASSERT_OK(db_.memory().SetContent(path, record));
  ExpectRefused(db_.Open(), path);
}

TEST_F(NewerFormat, ManifestThatAnOldCurrentNames) {
  const std::string path = PathOf("MANIFEST-");
  const std::string content = *db_.memory().Content(path);
  std::string header = "LAVAMANI";
  PutVarint32(&header, kManifestFormatVersion + 1);
  std::string record;
  ASSERT_OK(FrameWriter(std::stoull(path.substr(path.rfind('-') + 1))).Append(1, header, &record));
  ASSERT_OK(db_.memory().SetContent(path, record + content.substr(record.size())));
  ExpectRefused(db_.Open(), path);
}

TEST_F(NewerFormat, KeySst) {
  const std::string path = PathOf(".ksst");
  std::string content = *db_.memory().Content(path);
  const uint64_t at = content.size() - ksst::kFooterBytes;
  EncodeFixed32(content.data() + at + 48, ksst::kFormatVersion + 1);
  EncodeFixed64(content.data() + at + 52, Hash64(Slice(content).substr(at, 52), at));
  ASSERT_OK(db_.memory().SetContent(path, content));
  ExpectRefused(db_.Open(), path);
}

TEST_F(NewerFormat, ValueSst) {
  const std::string path = PathOf(".vsst");
  std::string content = *db_.memory().Content(path);
  const uint64_t at = content.size() - DecodeFixed32(content.data() + content.size() - 24);
  EncodeFixed32(content.data() + content.size() - 20, vsst::kFormatVersion + 1);
  EncodeFixed64(content.data() + content.size() - 16,
                Hash64(Slice(content).substr(at, content.size() - 16 - at), at));
  ASSERT_OK(db_.memory().SetContent(path, content));
  ExpectRefused(db_.Open(), path);
}

TEST_F(NewerFormat, Metadata) {
  std::string metadata = ReadFile(fixture_ / "checkpoint" / "metadata");
  EncodeFixed32(metadata.data() + 8, kManifestFormatVersion + 1);
  EncodeFixed32(metadata.data() + 12, Crc32c(Slice(metadata).substr(0, 12)));
  EncodeFixed64(metadata.data() + metadata.size() - 8,
                Hash64(Slice(metadata).substr(0, metadata.size() - 8)));
  ExpectRefused(ReadMetadata(metadata).status(), "checkpoint metadata");
}

/// Elements at the end of entries of the layer above.
void AddLogged(SimDB* db, Table* table, const std::string& key) {
  EntryLocation location;
  ASSERT_TRUE((*db)->BindExternal("nothing", &location).IsNotFound());
  for (const std::string& element : {std::string(50, '1'), std::string(60, '2')}) {
    ASSERT_OK((*db)->Append(table, {key}, ListOf({element})));
    ASSERT_OK((*db)->BindExternal("an element: " + element, &location));
  }
  ASSERT_OK((*db)->ReleaseEntries(location.sequence));
}

/// Fills an instance with every kind of data in files.
void Fill(SimDB* db, Expected* expected, WalMode wal = WalMode::kNone) {
  DBOptions& options = db->options();
  SetOptions(*expected, &options);
  options.wal = wal;
  options.large_value_bytes = 400;
  options.block_bytes = 300;
  options.index_partition_bytes = 200;
  options.target_file_bytes = 2000;
  options.l0_compaction_trigger = 10;
  options.bottom_compression = Compression::kZstd;
  options.value_file_bytes = 2000;
  options.value_compression = Compression::kZstd;
  db->environment().value_dictionary = {
      .values_min = 10, .raw_bytes_min = 0, .saving_percent_min = 0};
  ASSERT_OK(db->Open());
  expected->tables = {
      {"value", {.kind = TableKind::kValue}},
      {"map", {.kind = TableKind::kMap}},
      {"list", {.kind = TableKind::kList}},
      {"similar", {.kind = TableKind::kMap}},
      {"large", {.kind = TableKind::kMap}},
      {"logged", {.kind = TableKind::kList}},
      {"ttl",
       {.kind = TableKind::kList, .ttl_layout = TtlLayout::kList, .ttl_ms = 1'000'000'000'000}},
  };
  std::map<std::string, Table*> tables;
  for (const auto& [name, table] : expected->tables) {
    TableOptions separated = table;
    separated.separation_bytes = 5;
    Result<Table*> created = (*db)->CreateTable(name, separated);
    ASSERT_OK(created.status());
    tables[name] = *created;
  }
  const auto key = [&](int partition, const std::string& rest) {
    std::string made;
    PutBigEndian(&made, static_cast<uint64_t>(partition), expected->partition_bytes);
    return made + rest;
  };
  std::string now;
  PutBigEndian(&now, 1'000'000, 8);
  for (int round = 0; round < 2; ++round) {
    for (const int p : {0, 4, 5, 8, 9}) {
      for (int i = round; i < 12; i += 1 + 2 * round)
        ASSERT_OK((*db)->Put(tables["value"], {key(p, "key" + std::to_string(100 + i))},
                             std::string(static_cast<size_t>(i * 3), 'v') + std::to_string(round)));
      for (int i = 0; i < 9; ++i) {
        const std::string prefix = key(p, "map" + std::to_string(i / 3));
        ASSERT_OK((*db)->Put(
            tables["map"],
            {prefix + "/" + std::to_string(i + round), static_cast<uint32_t>(prefix.size())},
            i % 4 == 0 ? "" : "entry"));
      }
      // Values for which a value file gets a dictionary.
      for (int i = 0; i < 16; ++i) {
        const std::string number = std::to_string(p * 1'000'003 + i * (round + 7));
        ASSERT_OK((*db)->Put(tables["similar"], {key(p, "similar" + std::to_string(10 + i))},
                             "{\"id\":" + number + ",\"name\":\"number " + number +
                                 "\",\"kind\":\"similar to others\",\"list\":[" + number + "]}"));
      }
      for (const std::string element : {"first", "", "third"}) {
        const std::string k = key(p, "list" + std::to_string(round));
        ASSERT_OK((*db)->Append(tables["list"], {k}, ListOf({element})));
        ASSERT_OK((*db)->Append(tables["list"], {key(p, "both")}, ListOf({element})));
        ASSERT_OK((*db)->Append(tables["ttl"], {k}, ListOf({now + element})));
      }
      for (const char* name : {"b", "a", "c", "a"})
        ASSERT_OK((*db)->Put(tables["large"], {key(p, name + std::to_string(round))},
                             std::string(static_cast<size_t>(500 + p), *name)));
      AddLogged(db, tables["logged"], key(p, "key"));
      std::string joined;
      AppendListSegment(ListSegment::kJoined, "a,b", &joined);
      ASSERT_OK((*db)->Put(tables["list"], {key(p, "joined")}, joined));
    }
    if (round == 0) {
      ASSERT_OK(db->CompactAll());
      continue;
    }
    for (const int p : {0, 5, 9}) {
      ASSERT_OK((*db)->Delete(tables["value"], {key(p, "key103")}));
      ASSERT_OK((*db)->DeletePrefix(tables["map"], key(p, "map1")));
      ASSERT_OK((*db)->DeleteRange(tables["value"], key(p, "key105"), key(p, "key108")));
    }
    ASSERT_OK(db->Flush());
  }
  expected->content = ReadContent(db, *expected);
}

void CopyOut(SimDB* db, const files::path& to) {
  for (const std::string& path : db->memory().Paths())
    if (!path.ends_with("/LOCK"))
      WriteFile(to / path.substr(path.rfind('/') + 1), *db->memory().Content(path));
}

void WriteFixture(const files::path& fixture) {
  std::string lines = "# half, what, table, key, value (- is empty); see ../README.md\n";
  {
    Expected expected;
    expected.partition_bytes = 1;
    SimDB db(1);
    Fill(&db, &expected);
    WriteExpected("db", expected, &lines);
    db.CloseDB();
    CopyOut(&db, fixture / "db");
  }
  Expected expected;
  expected.partition_bytes = 2;
  SimDB db(2);
  // With a write-ahead log, because its value log's segments are a separate kind of value file.
  Fill(&db, &expected, WalMode::kWal);
  WriteExpected("checkpoint", expected, &lines);
  auto snapshot = *db->TakeSnapshot();
  ASSERT_OK(db.FlushSnapshot(snapshot.get()));
  std::vector<Snapshot::File> names;
  std::string metadata;
  ASSERT_OK(snapshot->Files(&names, &metadata));
  for (const Snapshot::File& file : names)
    WriteFile(fixture / "checkpoint" / file.name, *db.memory().Content("/db/" + file.name));
  WriteFile(fixture / "checkpoint" / "metadata", metadata);
  WriteFile(fixture / "expected.txt", lines);
}

/// LAVA_WRITE_FIXTURE names a new directory for the fixture, which is then kept.
TEST(Compatibility, WhatIsWrittenTodayIsReadAsAFixture) {
  const char* kept = std::getenv("LAVA_WRITE_FIXTURE");
  const files::path fixture = kept != nullptr ? files::path(kept)
                                              : files::temp_directory_path() /
                                                    ("lava-fixture-" + std::to_string(::getpid()));
  ASSERT_FALSE(files::exists(fixture)) << "an existing fixture must not be changed";
  WriteFixture(fixture);
  CheckInstance(fixture);
  CheckCheckpoint(fixture);
  if (kept == nullptr) files::remove_all(fixture);
}

}  // namespace
}  // namespace lava::testing

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "base/checksum.h"
#include "base/coding.h"
#include "inspect/checkpoint.h"
#include "inspect/command_line.h"
#include "inspect/flink_metadata_for_test.h"
#include "inspect/report.h"
#include "tests/db_value_test_util.h"

namespace lava::inspect {

/// The result of one run of the tool.
struct Ran {
  int code = 0;
  std::string out, err;
  Json json() const { return Json::parse(out); }
};
inline Ran RunTool(fs::FileSystem* files, std::vector<std::string> arguments) {
  std::ostringstream out, err;
  Ran ran;
  ran.code = Run(files, std::move(arguments), out, err);
  ran.out = out.str();
  ran.err = err.str();
  return ran;
}

/// Instances with data of every kind: several levels, all kinds of records, separated values,
/// including moved ones and garbage. Keys and values contain the word "secret".
class InspectTest : public ::testing::Test {
 protected:
  static std::string Key(int i) { return testing::K(1, "secret" + std::to_string(100 + i)); }
  static std::string Value(int i) { return testing::Large("secret value " + std::to_string(i)); }

  void Fill() {
    ASSERT_OK(db.Open());
    Table* t = db.Values();
    for (int i = 0; i < 20; ++i) ASSERT_OK(db->Put(t, {Key(i)}, Value(i)));
    for (int i = 20; i < 40; ++i) ASSERT_OK(db->Put(t, {Key(i)}, "small secret"));
    ASSERT_OK(db->Put(t, {testing::K(2, "mapsecret"), 4}, "entry"));
    ASSERT_OK(db->Append(db.table("list", TableKind::kList), {testing::K(3, "list")},
                         testing::ListOf({"secret one"})));
    ASSERT_OK(db.CompactAll());
    for (int i = 0; i < 10; ++i) ASSERT_OK(db->Delete(t, {Key(i)}));
    ASSERT_OK(db.CompactAll());
    ASSERT_OK(db.CollectFrom(30));  // ten values move to another file
    ASSERT_OK(db.Settle());
    t = db.Values();
    ASSERT_OK(db->Put(t, {Key(12)}, Value(1012)));
    ASSERT_OK(db->Delete(t, {Key(21)}));
    ASSERT_OK(db->DeleteRange(t, Key(30), Key(35)));
    ASSERT_OK(db->DeletePrefix(t, testing::K(2, "map")));
    ASSERT_OK(db->Append(db.table("list", TableKind::kList), {testing::K(3, "list")},
                         testing::ListOf({"secret two"})));
    ASSERT_OK(db.Flush());
  }

  Ran Tool(std::vector<std::string> arguments) { return RunTool(&db.files, std::move(arguments)); }
  Json Ask(std::vector<std::string> arguments, int code = kFine) {
    arguments.push_back("--json");
    const Ran ran = Tool(std::move(arguments));
    EXPECT_EQ(ran.code, code) << ran.out << ran.err;
    return ran.out.empty() ? Json() : ran.json();
  }
  /// The answer for a key of table "t".
  Json AskKey(const std::string& key, const std::string& path = "/db",
              const std::string& table = "t") {
    std::string hex = "0x";
    for (const char c : key) {
      hex += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
      hex += "0123456789abcdef"[c & 15];
    }
    const Json json = Ask({"key", path, table, hex});
    return json["instances"].size() == 1 ? json["instances"][0] : Json();
  }

  std::vector<std::string> FilesIn(const std::string& directory) {
    std::vector<std::string> paths;
    for (const std::string& path : db.files.Paths())
      if (path.starts_with(directory + "/")) paths.push_back(path);
    return paths;
  }

  testing::ValueDB db;
};

/// Data that Flink writes in addition to the engine's files.
inline const std::string kStateMeta = "Flink's description of the states";
inline std::string TimersOf(uint64_t bytes) { return std::string(bytes, 't'); }
inline void PutUtf(std::string* out, Slice text) { FlinkMetadataBuilder::PutText(out, text); }
/// The plugin's private file around an engine's metadata. With packed, in the version with packs;
/// locations in a pack are contiguous. With origin, in the version that contains the origin.
inline std::string PrivateFile(
    Slice metadata, uint64_t heap_timer_bytes = 0,
    const std::vector<std::pair<std::string, PackedLocation>>* packed = nullptr,
    Slice origin = {}) {
  std::string bytes(kCheckpointMagic);
  PutBigEndian(&bytes, !origin.empty() ? 3 : packed == nullptr ? 1 : 2, 4);  // version
  PutBigEndian(&bytes, 1, 4);  // bytes of the key group
  PutBigEndian(&bytes, kStateMeta.size(), 4);
  PutBigEndian(&bytes, Crc32c(kStateMeta), 4);
  PutBigEndian(&bytes, heap_timer_bytes, 8);
  PutBigEndian(&bytes, heap_timer_bytes == 0 ? 0 : Crc32c(TimersOf(heap_timer_bytes)), 4);
  PutBigEndian(&bytes, metadata.size(), 4);
  bytes += metadata;
  if (packed != nullptr) {
    std::map<std::string, std::pair<uint64_t, std::string>> packs;  // name -> count and files
    for (const auto& [name, location] : *packed) {
      auto& [count, files] = packs[location.pack];
      ++count;
      PutUtf(&files, name);
      PutBigEndian(&files, location.offset, 8);
      PutBigEndian(&files, location.bytes, 8);
    }
    std::string all;
    PutBigEndian(&all, packs.size(), 4);
    for (const auto& [name, pack] : packs) {
      PutUtf(&all, name);
      PutBigEndian(&all, pack.first, 4);
      all += pack.second;
    }
    PutBigEndian(&bytes, all.size(), 4);
    bytes += all;
  }
  bytes += origin;
  PutBigEndian(&bytes, Crc32c(bytes), 4);
  return bytes;
}
/// A handle's file in Flink's _metadata: its name, and its location.
inline std::string Uploaded(Slice name, const std::string& path, uint64_t bytes) {
  std::string out;
  PutUtf(&out, name);
  out += '\2';
  PutBigEndian(&out, bytes, 8);
  PutUtf(&out, path);
  return out;
}
/// A handle that contains its bytes.
inline std::string ByteStream(Slice content) {
  std::string out(1, '\1');
  PutUtf(&out, "a handle's name");
  PutBigEndian(&out, content.size(), 4);
  out += content;
  return out;
}
inline std::string Within(Slice name, Slice content) {
  std::string out;
  PutUtf(&out, name);
  return out + ByteStream(content);
}
/// A part of a file into which Flink merged several.
inline std::string Merged(Slice name, const std::string& path, uint64_t offset, uint64_t bytes) {
  std::string out;
  PutUtf(&out, name);
  out += '\x0f';
  PutBigEndian(&out, offset, 8);
  PutBigEndian(&out, bytes, 8);
  PutBigEndian(&out, 1, 4);
  PutUtf(&out, path);
  PutUtf(&out, "a logical file");
  return out;
}

}  // namespace lava::inspect

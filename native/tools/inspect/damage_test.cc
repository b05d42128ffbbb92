// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/inspect_test_util.h"
#include "testing/count.h"

// For any damage, the tool reports what is wrong and where, reads everything else, and never
// crashes.
namespace lava::inspect {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kStep = 199, kAllCommandsStep = 1;
#else
// Every byte for a verification; a sample for slower commands.
constexpr size_t kStep = 1, kAllCommandsStep = 31;
#endif

class InspectDamage : public InspectTest {
 protected:
  /// Runs all commands; returns the code of verify.
  int RunAll(const std::string& path) {
    for (const char* command : {"summary", "files"}) {
      const Ran ran = Tool({command, path});
      EXPECT_TRUE(ran.code == kFine || ran.code == kFaultsFound) << ran.err;
    }
    Tool({"key", path, "t", "\\x01secret115"});
    const Ran ran = Tool({"verify", path, "--json"});
    EXPECT_TRUE(ran.code == kFine || ran.code == kFaultsFound) << ran.err;
    return ran.code;
  }
  bool NamesPath(const std::string& path, const std::string& damaged) {
    const Json json = Ask({"verify", path}, kFaultsFound);
    for (const Json& fault : json["faults"])
      if (fault.dump().find(damaged) != std::string::npos) return true;
    return false;
  }
};

TEST_F(InspectDamage, EveryFlippedByteIsFoundWithItsFile) {
  Fill();
  const std::string metadata = db.TakeTo("/cp");
  ASSERT_OK(db.files.SetContent("/cp/LAVA-CHECKPOINT", PrivateFile(metadata)));
  db.CloseDB();
  uint64_t tried = 0;
  for (const std::string directory : {"/db", "/cp"}) {
    for (const std::string& path : FilesIn(directory)) {
      if (path.ends_with("LOCK")) continue;
      const std::string sound = *db.files.Content(path);
      for (size_t at = tried % kStep; at < sound.size(); at += kStep, ++tried) {
        std::string damaged = sound;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << (at % 8)));
        ASSERT_OK(db.files.SetContent(path, damaged));
        ASSERT_TRUE(NamesPath(directory, path)) << path << " at " << at;
        if (tried % kAllCommandsStep != 0) continue;
        EXPECT_EQ(RunAll(directory), kFaultsFound) << path << " at " << at;
        RunAll(path);  // the file by itself
      }
      ASSERT_OK(db.files.SetContent(path, sound));
    }
    EXPECT_EQ(RunAll(directory), kFine);
  }
  testing::Count(tried, "damaged files inspected");
}

TEST_F(InspectDamage, EveryCutIsTold) {
  Fill();
  db.CloseDB();
  uint64_t tried = 0;
  for (const std::string& path : FilesIn("/db")) {
    if (path.ends_with("LOCK") || path.find("MANIFEST") != std::string::npos) continue;
    const std::string sound = *db.files.Content(path);
    for (size_t bytes = 0; bytes < sound.size(); bytes += kStep, ++tried) {
      ASSERT_OK(db.files.SetContent(path, sound.substr(0, bytes)));
      ASSERT_TRUE(NamesPath("/db", path)) << path << " cut at " << bytes;
      if (tried % kAllCommandsStep != 0) continue;
      EXPECT_EQ(RunAll("/db"), kFaultsFound) << path << " cut at " << bytes;
      RunAll(path);
    }
    ASSERT_OK(db.files.SetContent(path, sound));
  }
  testing::Count(tried, "cut files inspected");
}

// Bytes missing at a manifest's end may never have been written: the manifest then describes an
// earlier state.
TEST_F(InspectDamage, ACutManifestIsToldOrAnEarlierState) {
  Fill();
  db.CloseDB();
  const auto edits = [&] {
    const Json json = Ask({"summary", "/db"});
    return json["instances"][0]["manifest"]["edits"].get<uint64_t>();
  };
  const uint64_t all = edits();
  uint64_t told = 0, earlier = 0, before = 0;
  for (const std::string& path : FilesIn("/db")) {
    if (path.find("MANIFEST") == std::string::npos) continue;
    const std::string sound = *db.files.Content(path);
    for (size_t bytes = 0; bytes < sound.size(); bytes += kStep) {
      ASSERT_OK(db.files.SetContent(path, sound.substr(0, bytes)));
      const Json json = Tool({"summary", "/db", "--json"}).json();
      if (json["instances"].empty() || !json["instances"][0].contains("manifest")) {
        ASSERT_TRUE(NamesPath("/db", path)) << path << " cut at " << bytes;
        ++told;
        continue;
      }
      const Json& manifest = json["instances"][0]["manifest"];
      EXPECT_LT(manifest["edits"], all) << bytes;
      EXPECT_GE(manifest["edits"], before) << bytes;
      before = manifest["edits"].get<uint64_t>();
      ++earlier;
      if (bytes % kAllCommandsStep == 0) RunAll("/db");
    }
    ASSERT_OK(db.files.SetContent(path, sound));
  }
  EXPECT_EQ(edits(), all);
  EXPECT_GT(told, 0u);
  EXPECT_GT(earlier, 0u);
}

TEST_F(InspectDamage, OneFaultHidesNoOther) {
  Fill();
  db.CloseDB();
  size_t damaged = 0, removed = 0;
  for (const std::string& path : FilesIn("/db")) {
    if (path.ends_with(".vsst")) {
      std::string content = *db.files.Content(path);
      content[20] ^= 1;
      ASSERT_OK(db.files.SetContent(path, content));
      ++damaged;
    } else if (path.ends_with(".ksst")) {
      ASSERT_OK(db.files.Remove(path));
      ++removed;
    }
  }
  const Json json = Ask({"verify", "/db"}, kFaultsFound);
  size_t missing = 0, corrupt = 0, with_offset = 0;
  for (const Json& fault : json["faults"]) {
    missing += fault["code"] == "Missing" ? 1 : 0;
    corrupt += fault["code"] == "Corruption" ? 1 : 0;
    with_offset += fault["offset"].is_null() ? 0 : 1;
  }
  EXPECT_EQ(missing, removed);
  EXPECT_EQ(corrupt, 2 * damaged) << "the record, and the whole file's checksum";
  EXPECT_EQ(with_offset, damaged);
}

TEST_F(InspectDamage, AnotherFileUnderANameIsTold) {
  Fill();
  db.CloseDB();
  std::vector<std::string> paths;
  for (const std::string& path : FilesIn("/db"))
    if (path.ends_with(".ksst")) paths.push_back(path);
  ASSERT_GE(paths.size(), 2u);
  ASSERT_OK(db.files.SetContent(paths[0], *db.files.Content(paths[1])));
  EXPECT_TRUE(NamesPath("/db", paths[0]));
}

}  // namespace
}  // namespace lava::inspect

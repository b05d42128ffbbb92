// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/log.h"

#include <algorithm>

#include "inspect/inspect_test_util.h"
#include "log/lava_log.h"

namespace lava::inspect {
namespace {

constexpr const char* kLog = "/log";

class InspectLog : public InspectTest {
 protected:
  void SetUp() override {
    log::LogOptions options;
    options.file_system = &db.files;
    options.directory = kLog;
    options.file_bytes = 4096;
    options.direct_entries = 0;
    auto opened = log::LavaLog::Open(options);
    ASSERT_OK(opened.status());
    log_ = std::move(*opened);
    a_ = *log_->Create("wal a");
    const log::LogId b = *log_->Create("wal b");
    for (uint64_t lsn = 1; lsn <= 40; ++lsn) {
      ASSERT_OK(
          log_->Append(a_, lsn, "secret " + std::string(200, 'x'), log::Durability::kWritten));
    }
    ASSERT_OK(log_->Append(b, 7, "other secret", log::Durability::kWritten));
    ASSERT_OK(log_->Trim(a_, 10, log::Durability::kWritten));
  }
  std::unique_ptr<log::LavaLog> log_;
  log::LogId a_ = 0;
};

TEST_F(InspectLog, ListsLogsAndFilesWithGarbage) {
  const std::vector<std::string> before = db.files.Paths();
  const Json json = Ask({"log", kLog});
  EXPECT_EQ(db.files.Paths(), before) << "it only reads";
  ASSERT_EQ(json["logs"].size(), 2u);
  EXPECT_EQ(json["logs"][0]["name"], "wal a");
  EXPECT_EQ(json["logs"][0]["trimmed_to"], 10);
  EXPECT_EQ(json["logs"][0]["last_lsn"], 40);
  EXPECT_EQ(json["logs"][1]["last_lsn"], 7);
  EXPECT_EQ(json["logs"][1]["records_at_most"], 1);
  const log::LavaLog::Statistics statistics = log_->statistics();
  EXPECT_EQ(json["files"].size(), statistics.data_files);
  EXPECT_GT(json["files"].size(), 1u);
  EXPECT_EQ(json["files"][0]["sealed"], true);
  EXPECT_EQ(json["files"].back()["sealed"], false);
  EXPECT_EQ(json["live_bytes"], statistics.live_bytes);
  EXPECT_GT(json["index_memory_bytes"].get<uint64_t>(), 0u);
  const Ran ran = Tool({"log", kLog});
  for (const char* part : {"wal a", "DATA-00000001", "sealed", "was being written", "live, index"})
    EXPECT_NE(ran.out.find(part), std::string::npos) << ran.out;
}

TEST_F(InspectLog, DumpsWhereRecordsAreAndShowsThemOnlyWhenAsked) {
  const Json json = Ask({"log", kLog, "--dump", "wal a", "--from", "38"});
  ASSERT_EQ(json["records"].size(), 3u);
  EXPECT_EQ(json["records"][0]["lsn"], 38);
  EXPECT_EQ(json["records"][0]["bytes"], 207);
  EXPECT_EQ(Ask({"log", kLog, "--dump", "wal a", "--count", "2"})["records"].size(), 2u);
  Ran ran = Tool({"log", kLog, "--dump", "wal b"});
  EXPECT_EQ(ran.out.find("secret"), std::string::npos);
  ran = Tool({"log", kLog, "--dump", "wal b", "--show-values"});
  EXPECT_NE(ran.out.find("other secret"), std::string::npos);
  EXPECT_EQ(Tool({"log", kLog, "--dump", "none"}).code, kUsage);
  EXPECT_EQ(Tool({"log", "/elsewhere"}).code, kUsage);
}

TEST_F(InspectLog, VerifyTellsDamageWithFileAndOffset) {
  const Json sound = Ask({"log", kLog, "--verify"});
  EXPECT_EQ(sound["checked_records"], 32);
  const Json records = Ask({"log", kLog, "--dump", "wal a"})["records"];
  const std::string path = records[5]["path"];
  std::string content = *db.files.Content(path);
  const uint64_t at = records[5]["offset"];
  content[at + 100] = static_cast<char>(content[at + 100] ^ 1);
  ASSERT_OK(db.files.SetContent(path, content));
  const Json damaged = Ask({"log", kLog, "--verify"}, kFaultsFound);
  ASSERT_EQ(damaged["faults"].size(), 1u) << damaged.dump(1);
  EXPECT_EQ(damaged["faults"][0]["path"], path);
  EXPECT_EQ(damaged["faults"][0]["offset"], at);
  // Damage of the checkpoint must be reported, too.
  const std::vector<std::string> paths = db.files.Paths();
  const auto checkpoint = std::find_if(paths.begin(), paths.end(), [](const std::string& p) {
    return p.find("CHECKPOINT-") != std::string::npos;
  });
  ASSERT_NE(checkpoint, paths.end());
  content = *db.files.Content(*checkpoint);
  content[60] = static_cast<char>(content[60] ^ 1);
  ASSERT_OK(db.files.SetContent(*checkpoint, content));
  const Ran ran = Tool({"log", kLog});
  EXPECT_EQ(ran.code, kFaultsFound);
  EXPECT_NE(ran.out.find(*checkpoint), std::string::npos) << ran.out;
}

}  // namespace
}  // namespace lava::inspect

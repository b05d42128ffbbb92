#include <gtest/gtest.h>

#include <memory>

#include "testing/count.h"
#include "testing/mem_file_system.h"
#include "testing/variable.h"
#include "tests/log/log_history.h"

// Every byte of every file of a small LavaLog that was closed is flipped in turn, and every file is
// cut at every length: it is told, with the file, or nothing is missing.
namespace lava::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kStep = 23;
#else
constexpr uint64_t kStep = 1;
#endif

class DamagedLog {
 public:
  explicit DamagedLog(uint64_t seed) : options_(DrawLogOptions(seed)) {
    options_.file_bytes = 2048;
    options_.file_system = &files_;
    LogPlayer player(options_);
    EXPECT_TRUE(player.Open().ok());
    for (const LogOperation& operation : GenerateLogHistory(seed, 90)) {
      EXPECT_TRUE(player.Apply(operation).ok());
    }
    content_ = *ContentOf(player.log());
    EXPECT_TRUE(player.log()->Close().ok());
  }

  void FlipAll() {
    for (const std::string& path : files_.Paths()) {
      const std::string whole = *files_.Content(path);
      for (size_t at = 0; at < whole.size(); at += kStep) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
        Check(path, damaged, "byte " + std::to_string(at), &flips_told);
        ++flips;
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
  void CutAll() {
    for (const std::string& path : files_.Paths()) {
      const std::string whole = *files_.Content(path);
      for (size_t at = 0; at < whole.size(); at += kStep) {
        Check(path, whole.substr(0, at), "cut at " + std::to_string(at), &cuts_told);
        ++cuts;
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
  uint64_t flips = 0, flips_told = 0, cuts = 0, cuts_told = 0;

 private:
  void Check(const std::string& path, const std::string& damaged, const std::string& what,
             uint64_t* told) {
    const std::unique_ptr<CrashableFileSystem> image = files_.CrashClone(CrashMode::kAll);
    ASSERT_TRUE(image->SetContent(path, damaged).ok());
    log::LogOptions options = options_;
    options.file_system = image.get();
    LogPlayer player(options);
    const std::string where = path + ", " + what + ": ";
    const Status opened = player.Open();
    if (!opened.ok()) {
      ++*told;
      EXPECT_TRUE(opened.IsCorruption() || opened.code() == Status::Code::kNotSupported)
          << where << opened.ToString();
      EXPECT_NE(opened.message().find("/log/"), std::string_view::npos) << opened.ToString();
      return;
    }
    bool found = false;
    for (const auto& [name, expected] : content_.logs) {
      CheckLog(player.log(), name, expected, path, where, &found);
    }
    EXPECT_EQ(player.log()->List().size(), content_.logs.size()) << where;
    *told += found ? 1 : 0;
  }

  // A record that is damaged is told; all others are there.
  void CheckLog(log::LavaLog* log, const std::string& name, const LogContent::OfLog& expected,
                const std::string& path, const std::string& where, bool* found) {
    const Result<log::LogId> id = log->Find(name);
    ASSERT_TRUE(id.ok()) << where << id.status().ToString();
    for (const auto& [lsn, data] : expected.records) {
      std::string read;
      const Status status = log->Read(*id, lsn, &read);
      if (status.IsCorruption()) {
        *found = true;
        ASSERT_NE(status.message().find(path), std::string_view::npos)
            << where << status.ToString();
        continue;
      }
      ASSERT_TRUE(status.ok()) << where << name << " LSN " << lsn << ": " << status.ToString();
      ASSERT_EQ(read, data) << where << name << " LSN " << lsn;
    }
  }

  MemFileSystem files_;
  log::LogOptions options_;
  LogContent content_;
};

TEST(LogCorruption, EveryFlippedByteIsToldOrHarmless) {
  uint64_t flips = 0, told = 0;
  for (uint64_t seed = 1; seed <= 6 && !HasFailure(); ++seed) {
    DamagedLog log(seed);
    log.FlipAll();
    flips += log.flips;
    told += log.flips_told;
  }
  EXPECT_GT(told * 2, flips);
  Count(flips, "flips of a log's files");
  Count(told, "flips of a log's files detected");
}

TEST(LogCorruption, EveryCutFileIsToldOrHarmless) {
  uint64_t cuts = 0, told = 0;
  for (uint64_t seed = 1; seed <= 6 && !HasFailure(); ++seed) {
    DamagedLog log(seed);
    log.CutAll();
    cuts += log.cuts;
    told += log.cuts_told;
  }
  EXPECT_GT(told * 2, cuts);
  Count(cuts, "truncations of a log's files");
  Count(told, "truncations of a log's files detected");
}

}  // namespace
}  // namespace lava::testing

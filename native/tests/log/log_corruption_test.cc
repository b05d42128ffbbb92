// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <memory>

#include "base/framing.h"
#include "log/format.h"
#include "testing/count.h"
#include "testing/mem_file_system.h"
#include "testing/variable.h"
#include "tests/log/log_history.h"

// Every byte of every file of a small, closed LavaLog is flipped in turn, and every file is
// truncated at every length: the damage is reported with the file, or no data is missing. The same
// for a log whose process was killed, except for each file's last frame.
namespace lava::testing {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kStep = 23;
#else
constexpr uint64_t kStep = 1;
#endif

class DamagedLog {
 public:
  enum class End { kClosed, kKilled };
  DamagedLog(uint64_t seed, End end) : end_(end), options_(DrawLogOptions(seed)) {
    options_.file_bytes = 2048;
    options_.file_system = &files_;
    LogPlayer player(options_);
    EXPECT_TRUE(player.Open().ok());
    for (const LogOperation& operation : GenerateLogHistory(seed, 90)) {
      EXPECT_TRUE(player.Apply(operation).ok());
    }
    content_ = *ContentOf(player.log());
    const Status closed = end == End::kClosed ? player.log()->Close() : Status::OK();
    EXPECT_TRUE(closed.ok());
    image_ = files_.CrashClone(CrashMode::kAll);
  }

  void FlipAll() {
    for (const std::string& path : image_->Paths()) {
      const std::string whole = *image_->Content(path);
      const size_t end = end_ == End::kClosed ? whole.size() : LastFrame(path, whole);
      for (size_t at = 0; at < end; at += kStep) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
        Check(path, damaged, "byte " + std::to_string(at), &flips_told);
        ++flips;
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
  void CutAll() {
    for (const std::string& path : image_->Paths()) {
      const std::string whole = *image_->Content(path);
      for (size_t at = 0; at < whole.size(); at += kStep) {
        Check(path, whole.substr(0, at), "cut at " + std::to_string(at), &cuts_told);
        ++cuts;
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
  uint64_t flips = 0, flips_told = 0, cuts = 0, cuts_told = 0;

 private:
  // The beginning of the last frame that a killed process wrote.
  static size_t LastFrame(const std::string& path, const std::string& whole) {
    log::FileKind kind{};
    uint32_t number = 0;
    log::FileHeader header;
    if (!log::ParseFileName(path.substr(path.rfind('/') + 1), &kind, &number) ||
        !log::DecodeFileHeader(whole, kind, number, &header).ok()) {
      return whole.size();
    }
    FrameReader reader(Slice(whole).substr(log::kFileHeaderBytes),
                       {.name = path,
                        .file_id = header.file_id,
                        .tail_rule = TailRule::kUnsynced,
                        .base_offset = log::kFileHeaderBytes});
    size_t last = whole.size();
    Frame frame;
    while (reader.Next(&frame) == FrameReader::Outcome::kFrame) last = frame.offset;
    return last;
  }

  void Check(const std::string& path, const std::string& damaged, const std::string& what,
             uint64_t* told) {
    const std::unique_ptr<CrashableFileSystem> image = image_->CrashClone(CrashMode::kAll);
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

  // A damaged record is reported; all others exist.
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

  const End end_;
  MemFileSystem files_;
  std::unique_ptr<CrashableFileSystem> image_;
  log::LogOptions options_;
  LogContent content_;
};

void FlipAll(DamagedLog::End end) {
  uint64_t flips = 0, told = 0;
  for (uint64_t seed = 1; seed <= 6 && !::testing::Test::HasFailure(); ++seed) {
    DamagedLog log(seed, end);
    log.FlipAll();
    flips += log.flips;
    told += log.flips_told;
  }
  EXPECT_GT(told * 2, flips);
  Count(flips, "flips of a log's files");
  Count(told, "flips of a log's files detected");
}

TEST(LogCorruption, EveryFlippedByteIsToldOrHarmless) { FlipAll(DamagedLog::End::kClosed); }

// Without a power cut only the last write may be torn, synced or not.
TEST(LogCorruption, EveryFlippedByteOfAKilledLogIsToldOrHarmless) {
  FlipAll(DamagedLog::End::kKilled);
}

TEST(LogCorruption, EveryCutFileIsToldOrHarmless) {
  uint64_t cuts = 0, told = 0;
  for (uint64_t seed = 1; seed <= 6 && !HasFailure(); ++seed) {
    DamagedLog log(seed, DamagedLog::End::kClosed);
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

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "fs/posix_test_util.h"
#include "lava/db.h"

// The program itself, on real files.
namespace lava::inspect {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kRounds = 4;
#else
constexpr int kRounds = 15;
#endif

/// Runs lava-inspect with these arguments; returns its exit code.
int RunBinary(const std::string& arguments, std::string* out) {
  FILE* pipe = popen((std::string(LAVA_INSPECT_PATH) + " " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return -1;
  char buffer[4096];
  out->clear();
  for (size_t got; (got = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) out->append(buffer, got);
  const int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class InspectBinary : public fs::PosixTest {
 protected:
  std::unique_ptr<DB> OpenDb() {
    DBOptions options;
    options.lease = Host::Get().Acquire(32 << 20, 0.5).value();
    options.partition_last = 15;
    options.memtable_bytes = 256 << 10;
    options.target_file_bytes = 100'000;
    options.value_file_bytes = 200'000;
    options.level1_bytes = 200'000;
    return DB::Open(options, Path("db")).value();
  }
  static Status Put(DB* db, Table* table, int i) {
    const std::string key = std::string(1, static_cast<char>(i % 16)) + "k" + std::to_string(i);
    const std::string value(i % 3 == 0 ? 700 : 30, static_cast<char>('a' + i % 26));
    Status status;
    while ((status = db->Put(table, {key}, value)).IsBusy()) {
    }
    return status;
  }
  static Status Flush(DB* db) {
    Status status;
    FlushTicket flush;
    while ((status = db->Flush(100, &flush)).IsBusy()) {
    }
    return status;
  }

  /// The bytes of every file, and its modification time in nanoseconds.
  std::map<std::string, std::string> State() const {
    std::map<std::string, std::string> state;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_)) {
      struct stat st {};
      EXPECT_EQ(stat(entry.path().c_str(), &st), 0);
      state[entry.path()] = std::to_string(st.st_size) + " " + std::to_string(st.st_mtim.tv_sec) +
                            "." + std::to_string(st.st_mtim.tv_nsec) + " " +
                            std::to_string(st.st_ctim.tv_nsec) + " " + std::to_string(st.st_ino);
    }
    return state;
  }
};

TEST_F(InspectBinary, LeavesADirectoryAsItIs) {
  {
    std::unique_ptr<DB> db = OpenDb();
    Table* table = db->CreateTable("t", {.kind = TableKind::kMap, .separation_bytes = 500}).value();
    for (int i = 0; i < 3000; ++i) ASSERT_TRUE(Put(db.get(), table, i).ok());
    ASSERT_TRUE(Flush(db.get()).ok());
  }
  const auto before = State();
  std::string out;
  for (const char* command : {"summary", "files", "verify"}) {
    for (const char* json : {"", " --json"})
      EXPECT_EQ(RunBinary(command + std::string(json) + " " + Path("db"), &out), 0) << out;
  }
  EXPECT_EQ(RunBinary("key " + Path("db") + " t '\\x03k3'", &out), 0) << out;
  EXPECT_NE(out.find("answer: found"), std::string::npos) << out;
  EXPECT_EQ(State(), before);
  EXPECT_EQ(RunBinary("verify " + Path("nothing"), &out), 2) << out;

  // Read-only files must not be an obstacle.
  std::filesystem::permissions(
      Path("db"), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_EQ(RunBinary("verify " + Path("db"), &out), 0) << out;
  std::filesystem::permissions(Path("db"), std::filesystem::perms::owner_all);
}

TEST_F(InspectBinary, ARunningInstanceIsReadAndNotDisturbed) {
  std::unique_ptr<DB> db = OpenDb();
  Table* table = db->CreateTable("t", {.kind = TableKind::kMap, .separation_bytes = 500}).value();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(Put(db.get(), table, i).ok());
  ASSERT_TRUE(Flush(db.get()).ok());
  std::atomic<bool> stop{false};
  std::atomic<int> written{0}, failed{0};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      if (!Put(db.get(), table, i % 5000).ok()) ++failed;
      if (i % 1000 == 999 && !Flush(db.get()).ok()) ++failed;
      ++written;
      // About as fast as an instance of a job; otherwise files would live shorter than the program
      // takes to start.
      if (i % 10 == 9) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::string out;
  for (int round = 0; round < kRounds; ++round) {
    for (const char* command : {"summary ", "files ", "verify "})
      EXPECT_EQ(RunBinary(command + Path("db"), &out), 0) << out;
    EXPECT_EQ(RunBinary("key " + Path("db") + " t '\\x03k3'", &out), 0) << out;
    EXPECT_NE(out.find("answer: found"), std::string::npos) << out;
  }
  stop = true;
  writer.join();
  EXPECT_EQ(failed, 0);
  EXPECT_GT(written, 1000);
  const DBStatistics statistics = db->statistics();
  EXPECT_GT(statistics.compactions, 0u);
  EXPECT_EQ(statistics.background_errors, 0u);
  // The lock is still held.
  DBOptions options;
  options.lease = Host::Get().Acquire(32 << 20, 0.5).value();
  EXPECT_FALSE(DB::Open(options, Path("db")).ok());
}

}  // namespace
}  // namespace lava::inspect

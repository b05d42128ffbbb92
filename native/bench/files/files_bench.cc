// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

// The cost of checkpoints for a task whose instance has many files, with concurrent writes and the
// resulting jobs: the CPU time of the synchronous part of a checkpoint, and for Lava also that of
// installing the results of jobs.
//   files_bench DIRECTORY lava|rocksdb FILES SECONDS
// Half of Lava's files are key files and half value files. Prints one JSON object.

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/checkpoint.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/coding.h"
#include "bench/checked_calls.h"
#include "lava/db.h"
#include "os/clock.h"
#include "testing/random.h"

namespace lava {
namespace {

using bench::Check;
using bench::UntilDone;
using Json = nlohmann::ordered_json;

constexpr uint64_t kFileBytes = 16 << 10;
constexpr uint64_t kValueBytes = 100;
// The number of writes in a burst, and the pause after it.
constexpr int kBurst = 100;
constexpr std::chrono::microseconds kPause{500};

std::string KeyOf(uint64_t n) {
  std::string key;
  PutBigEndian(&key, (n * 0x9e3779b97f4a7c15ull) >> 57, 1);
  PutBigEndian(&key, n, 8);
  key.append(32, 'k');
  return key;
}

double At(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1,
                         static_cast<size_t>(share * static_cast<double>(sorted.size())))];
}

/// Takes checkpoints while a thread overwrites random records. release: ends the last checkpoint,
/// which a job does in another thread; not measured.
std::vector<double> Measure(uint64_t records, uint64_t seconds,
                            const std::function<void(const std::string&)>& put,
                            const std::function<void()>& checkpoint,
                            const std::function<void()>& release, std::chrono::milliseconds pause) {
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    testing::Random random(7);
    while (!stop) {
      for (int i = 0; i < kBurst; ++i) put(KeyOf(random.Uniform(records)));
      std::this_thread::sleep_for(kPause);
    }
  });
  std::vector<double> cpu_us;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (std::chrono::steady_clock::now() < end) {
    const uint64_t began = os::ThreadCpuMicros();
    checkpoint();
    cpu_us.push_back(static_cast<double>(os::ThreadCpuMicros() - began));
    release();
    std::this_thread::sleep_for(pause);
  }
  stop = true;
  writer.join();
  std::sort(cpu_us.begin(), cpu_us.end());
  return cpu_us;
}

void Report(Json* row, const std::vector<double>& cpu_us) {
  (*row)["checkpoints"] = cpu_us.size();
  (*row)["checkpoint_p50_us"] = At(cpu_us, 0.5);
  (*row)["checkpoint_p99_us"] = At(cpu_us, 0.99);
  (*row)["checkpoint_max_us"] = cpu_us.back();
  std::cout << row->dump() << std::endl;
}

void RunLava(const std::string& directory, uint64_t files, uint64_t seconds) {
  constexpr uint64_t kRecordsPerFile =
      200;  // fills a key file and about one and a half value files
  DBOptions options;
  options.lease = bench::Must(Host::Get().Acquire(1ull << 30, 0.1));
  options.target_file_bytes = kFileBytes;
  options.value_file_bytes = kFileBytes * 3 / 2;
  options.level1_bytes = kFileBytes * 8;
  const std::unique_ptr<DB> db = bench::Must(DB::Open(options, directory + "/db"));
  TableOptions table_options;
  table_options.separation_bytes = 64;
  Table* const table = bench::Must(db->CreateTable("t", table_options));
  const std::string value(kValueBytes, 'v');
  const auto put = [&](const std::string& key) {
    UntilDone([&] { return db->Put(table, {key, 0}, value); });
  };
  const uint64_t records = files / 2 * kRecordsPerFile;
  for (uint64_t n = 0; n < records; ++n) put(KeyOf(n));
  UntilDone([&, flush = FlushTicket()]() mutable { return db->Flush(10'000, &flush); });
  uint64_t ticket = 0;
  UntilDone([&] { return db->CompactAll(10'000, &ticket); });

  const DBStatistics before = db->statistics();
  std::shared_ptr<Snapshot> snapshot;
  const std::vector<double> cpu_us = Measure(
      records, seconds, put, [&] { snapshot = bench::Must(db->TakeSnapshot()); },
      [&] { snapshot.reset(); }, std::chrono::milliseconds(5));
  const DBStatistics after = db->statistics();
  const uint64_t installs = after.versions_installed - before.versions_installed;
  const auto for_each = [installs](uint64_t sum) {
    return static_cast<double>(sum) / static_cast<double>(std::max<uint64_t>(1, installs));
  };
  Json row;
  row["files"] = after.live_files;
  row["flushes"] = after.flushes - before.flushes;
  row["compactions"] = after.compactions - before.compactions;
  row["collections"] = after.collections - before.collections;
  row["installs"] = installs;
  row["install_us"] = for_each(after.install_cpu_us - before.install_cpu_us);
  row["publish_us"] = for_each(after.publish_cpu_us - before.publish_cpu_us);
  row["files_per_install"] = for_each(after.files_installed - before.files_installed);
  Report(&row, cpu_us);
  UntilDone([&] { return db->Close(); });
}

void Must(const rocksdb::Status& status) {
  if (status.ok()) return;
  std::cerr << "rocksdb: " << status.ToString() << "\n";
  std::exit(1);
}

/// The synchronous part of a checkpoint is CreateCheckpoint(): a flush, and a link to each file.
void RunRocksDB(const std::string& directory, uint64_t files, uint64_t seconds) {
  constexpr uint64_t kRecordsPerFile = 110;
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.target_file_size_base = kFileBytes;
  options.max_bytes_for_level_base = kFileBytes * 8;
  options.max_open_files = -1;
  rocksdb::DB* opened = nullptr;
  Must(rocksdb::DB::Open(options, directory + "/rocksdb", &opened));
  const std::unique_ptr<rocksdb::DB> db(opened);
  rocksdb::WriteOptions write;
  write.disableWAL = true;
  const std::string value(kValueBytes, 'v');
  const auto put = [&](const std::string& key) { Must(db->Put(write, key, value)); };
  const uint64_t records = files * kRecordsPerFile;
  for (uint64_t n = 0; n < records; ++n) put(KeyOf(n));
  Must(db->Flush({}));
  Must(db->CompactRange({}, nullptr, nullptr));

  rocksdb::Checkpoint* made = nullptr;
  Must(rocksdb::Checkpoint::Create(db.get(), &made));
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(made);
  uint64_t taken = 0;
  const auto path_of = [&](uint64_t n) { return directory + "/checkpoint-" + std::to_string(n); };
  const std::vector<double> cpu_us = Measure(
      records, seconds, put, [&] { Must(checkpoint->CreateCheckpoint(path_of(taken++))); }, [] {},
      std::chrono::milliseconds(5));
  uint64_t live_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path_of(taken - 1)))
    live_files += entry.path().extension() == ".sst" ? 1 : 0;
  Json row;
  row["files"] = live_files;
  Report(&row, cpu_us);
}

}  // namespace
}  // namespace lava

int main(int argc, char** argv) {
  const std::string engine = argc > 2 ? argv[2] : "";
  const uint64_t files = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  const uint64_t seconds = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 0;
  if (files < 2 || seconds == 0 || (engine != "lava" && engine != "rocksdb")) {
    std::cerr << "usage: files_bench DIRECTORY lava|rocksdb FILES SECONDS\n";
    return 2;
  }
  (engine == "lava" ? lava::RunLava : lava::RunRocksDB)(argv[1], files, seconds);
}

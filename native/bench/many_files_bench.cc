// What an instance of many files costs those who need its locks: the CPU time of taking a snapshot,
// beside writes and the jobs that they cause, and of installing what those jobs made.
//   many_files_bench DIRECTORY [key files] [seconds]
// Prints one JSON object.

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/coding.h"
#include "bench/checked_calls.h"
#include "lava/db.h"
#include "testing/random.h"

namespace lava {
namespace {

using bench::Check;
using bench::UntilDone;

// About so much of the keys is in each key file, and of the values in each value file.
constexpr uint64_t kFileBytes = 16 << 10;
constexpr uint64_t kRecordsPerFile = 200;
constexpr uint64_t kValueBytes = 100;

uint64_t ThreadCpuNanos() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

void MakeKey(uint64_t n, std::string* key) {
  key->clear();
  PutBigEndian(key, (n * 0x9e3779b97f4a7c15ull) >> 57, 1);
  PutBigEndian(key, n, 8);
  key->append(32, 'k');
}

void Put(DB* db, Table* table, uint64_t n, const std::string& value) {
  std::string key;
  MakeKey(n, &key);
  UntilDone([&] { return db->Put(table, {key, 0}, value); });
}

double At(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1,
                         static_cast<size_t>(share * static_cast<double>(sorted.size())))];
}

void Run(const std::string& directory, uint64_t key_files, uint64_t seconds) {
  DBOptions options;
  options.lease = bench::Must(Host::Get().Acquire(1ull << 30, 0.1));
  options.target_file_bytes = kFileBytes;
  options.value_file_bytes = kFileBytes;
  options.level1_bytes = kFileBytes * 8;
  std::unique_ptr<DB> db = bench::Must(DB::Open(options, directory + "/db"));
  TableOptions table_options;
  table_options.separation_bytes = 64;
  Table* const table = bench::Must(db->CreateTable("t", table_options));

  const uint64_t records = key_files * kRecordsPerFile;
  const std::string value(kValueBytes, 'v');
  for (uint64_t n = 0; n < records; ++n) Put(db.get(), table, n, value);
  UntilDone([&] { return db->Flush(10'000); });
  uint64_t ticket = 0;
  UntilDone([&] { return db->CompactAll(10'000, &ticket); });
  const DBStatistics before = db->statistics();

  std::atomic<bool> stop{false};
  std::thread writer([&] {
    testing::Random random(7);
    while (!stop) {
      for (int i = 0; i < 100; ++i) Put(db.get(), table, random.Uniform(records), value);
      std::this_thread::sleep_for(std::chrono::microseconds(500));
    }
  });
  std::vector<double> snapshot_us;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (std::chrono::steady_clock::now() < end) {
    const uint64_t began = ThreadCpuNanos();
    Result<std::shared_ptr<Snapshot>> snapshot = db->TakeSnapshot();
    snapshot_us.push_back(static_cast<double>(ThreadCpuNanos() - began) / 1000);
    Check(snapshot.status());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  stop = true;
  writer.join();
  const DBStatistics after = db->statistics();
  std::sort(snapshot_us.begin(), snapshot_us.end());
  const uint64_t installs = after.versions_installed - before.versions_installed;
  nlohmann::ordered_json row;
  row["files_before"] = before.live_files;
  row["files_after"] = after.live_files;
  row["snapshots"] = snapshot_us.size();
  row["snapshot_p50_us"] = At(snapshot_us, 0.5);
  row["snapshot_p99_us"] = At(snapshot_us, 0.99);
  row["snapshot_max_us"] = snapshot_us.back();
  row["flushes"] = after.flushes - before.flushes;
  row["compactions"] = after.compactions - before.compactions;
  row["collections"] = after.gc_jobs - before.gc_jobs;
  row["installs"] = installs;
  row["install_us"] = static_cast<double>(after.install_cpu_us - before.install_cpu_us) /
                      static_cast<double>(std::max<uint64_t>(1, installs));
  row["files_per_install"] = static_cast<double>(after.files_installed - before.files_installed) /
                             static_cast<double>(std::max<uint64_t>(1, installs));
  std::cout << row.dump() << std::endl;
  Check(db->Close());
}

}  // namespace
}  // namespace lava

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: many_files_bench DIRECTORY [key files] [seconds]\n";
    return 2;
  }
  lava::Run(argv[1], argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 8000,
            argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 20);
}

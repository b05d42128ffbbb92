// One engine through one row of phases on one data set; prints a JSON object a phase.
//   kv_bench ENGINE DIRECTORY VALUE_BYTES KEYS MEMORY_MIB SEPARATION_BYTES SPACE_PERCENT
//     PHASE[,PHASE...]
//   engines: lava rocksdb rocksdb-blob
//   SPACE_PERCENT: of live data, which Lava may take at most; 0: no limit
//   VALUE_BYTES: a number, or "mixed": half of the values 512 bytes, half 16 KiB (Scavenger 4.1)
//   phases: load overwrite-uniform overwrite-zipf get-uniform get-zipf scan-10 scan-100
// Keys have 36 bytes, values compress to about half (LavaStore 4.1). Bytes are those that the
// process handed to or took from the kernel, after background work has settled.

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

#include "base/coding.h"
#include "bench/kv/kv_store.h"
#include "testing/random.h"

namespace lava::bench {
namespace {

using testing::Random;

constexpr size_t kKeyBytes = 36;
constexpr double kZipf = 0.9;

struct Usage {
  uint64_t written = 0, read = 0;
  double cpu_seconds = 0;
};

Usage UsageNow() {
  Usage usage;
  if (FILE* io = std::fopen("/proc/self/io", "r"); io != nullptr) {
    unsigned long long n = 0;
    char name[32];
    while (std::fscanf(io, "%31[^:]: %llu\n", name, &n) == 2) {
      if (std::strcmp(name, "wchar") == 0) usage.written = n;
      if (std::strcmp(name, "rchar") == 0) usage.read = n;
    }
    std::fclose(io);
  }
  rusage r{};
  getrusage(RUSAGE_SELF, &r);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  usage.cpu_seconds = seconds(r.ru_utime) + seconds(r.ru_stime);
  return usage;
}

uint64_t SpaceOf(const std::string& directory) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::error_code gone;
    const uint64_t size = entry.file_size(gone);
    if (!gone) bytes += size;
  }
  return bytes;
}

// Ranks drawn by Zipf's law with a rejection-free inverse for exponents below 1.
class Zipf {
 public:
  explicit Zipf(uint64_t n) : n_(static_cast<double>(n)) {}
  uint64_t Draw(Random* random) const {
    const double u = (static_cast<double>(random->Next() >> 11) + 0.5) / 9007199254740992.0;
    const double rank = std::pow(u, 1 / (1 - kZipf)) * n_;
    return std::min(static_cast<uint64_t>(rank), static_cast<uint64_t>(n_) - 1);
  }

 private:
  const double n_;
};

class Bench {
 public:
  Bench(KvStore* store, std::string directory, const std::string& value_bytes, uint64_t keys)
      : store_(*store),
        directory_(std::move(directory)),
        mixed_(value_bytes == "mixed"),
        value_bytes_(mixed_ ? 16 << 10 : std::strtoull(value_bytes.c_str(), nullptr, 10)),
        keys_(keys),
        zipf_(keys) {
    for (size_t i = 0; i < noise_.size(); ++i) noise_[i] = static_cast<char>(random_.Next());
  }

  void Run(const std::string& phase) {
    latencies_.clear();
    const Usage before = UsageNow();
    user_bytes_ = peak_bytes_ = 0;
    const auto began = std::chrono::steady_clock::now();
    const uint64_t operations = Play(phase);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    const bool writes = phase == "load" || phase.starts_with("overwrite");
    if (writes) store_.Settle();
    const Usage after = UsageNow();
    std::sort(latencies_.begin(), latencies_.end());
    const auto percentile = [&](double p) {
      return latencies_[static_cast<size_t>(p * static_cast<double>(latencies_.size() - 1))];
    };
    std::printf(
        "{\"phase\":\"%s\",\"ops_per_second\":%.1f,\"p50_us\":%.2f,\"p99_us\":%.2f,"
        "\"p999_us\":%.2f,\"user_bytes\":%llu,\"bytes_written\":%llu,\"bytes_read\":%llu,"
        "\"cpu_seconds\":%.3f,\"space_bytes\":%llu,\"peak_bytes\":%llu,\"live_bytes\":%llu}\n",
        phase.c_str(), static_cast<double>(operations) / took.count(), percentile(0.5),
        percentile(0.99), percentile(0.999), static_cast<unsigned long long>(user_bytes_),
        static_cast<unsigned long long>(after.written - before.written),
        static_cast<unsigned long long>(after.read - before.read),
        after.cpu_seconds - before.cpu_seconds,
        static_cast<unsigned long long>(SpaceOf(directory_)),
        static_cast<unsigned long long>(peak_bytes_), static_cast<unsigned long long>(live_bytes_));
    std::fflush(stdout);
  }

 private:
  // Spread over all partitions, so that neighbours in rank are none in key order.
  void MakeKey(uint64_t n) {
    key_.clear();
    PutBigEndian(&key_, n * 0x9e3779b97f4a7c15ull, 8);
    PutBigEndian(&key_, n, 8);
    key_.resize(kKeyBytes, 'k');
  }
  // Half noise, half zeros; the size belongs to the key.
  void MakeValue(uint64_t n) {
    const uint64_t bytes = mixed_ && n % 2 == 0 ? 512 : value_bytes_;
    value_.assign(bytes, '\0');
    const size_t from = random_.Uniform(noise_.size() / 2);
    std::memcpy(value_.data(), noise_.data() + from,
                std::min<size_t>(bytes / 2, noise_.size() - from));
  }

  template <typename Call>
  void Timed(Call call) {
    const auto began = std::chrono::steady_clock::now();
    call();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
    latencies_.push_back(took.count());
  }
  void Put(uint64_t n) {
    MakeKey(n);
    MakeValue(n);
    user_bytes_ += key_.size() + value_.size();
    Timed([&] { store_.Put(key_, value_); });
    const auto now = std::chrono::steady_clock::now();
    if (now - sampled_at_ < std::chrono::milliseconds(100)) return;
    sampled_at_ = now;
    peak_bytes_ = std::max(peak_bytes_, SpaceOf(directory_));
  }

  uint64_t Play(const std::string& phase) {
    const auto any = [&] {
      return phase.ends_with("-zipf") ? zipf_.Draw(&random_) : random_.Uniform(keys_);
    };
    if (phase == "load") {
      for (uint64_t n = 0; n < keys_; ++n) Put(n);
      live_bytes_ = user_bytes_;
      return keys_;
    }
    if (phase.starts_with("overwrite-")) {
      for (uint64_t i = 0; i < keys_ * 2; ++i) Put(any());
      return keys_ * 2;
    }
    if (phase.starts_with("get-")) {
      const uint64_t calls = std::min<uint64_t>(keys_, 200'000);
      for (uint64_t i = 0; i < calls; ++i) {
        MakeKey(any());
        Timed([&] { user_bytes_ += store_.Get(key_); });
      }
      return calls;
    }
    if (phase.starts_with("scan-")) {
      const auto count = static_cast<uint32_t>(std::strtoul(phase.c_str() + 5, nullptr, 10));
      const uint64_t calls = std::max<uint64_t>(1, std::min<uint64_t>(keys_, 100'000) / count);
      for (uint64_t i = 0; i < calls; ++i) {
        MakeKey(any());
        Timed([&] { user_bytes_ += store_.Scan(key_, count); });
      }
      return calls;
    }
    std::fprintf(stderr, "unknown phase %s\n", phase.c_str());
    std::exit(2);
  }

  KvStore& store_;
  const std::string directory_;
  const bool mixed_;
  const uint64_t value_bytes_, keys_;
  const Zipf zipf_;
  Random random_{2013};
  std::string noise_ = std::string(1 << 20, '\0');
  std::string key_, value_;
  std::vector<double> latencies_;
  uint64_t user_bytes_ = 0, live_bytes_ = 0, peak_bytes_ = 0;
  std::chrono::steady_clock::time_point sampled_at_;
};

int Main(int argc, char** argv) {
  if (argc != 9) {
    std::fprintf(stderr,
                 "usage: kv_bench lava|rocksdb|rocksdb-blob DIRECTORY VALUE_BYTES|mixed KEYS "
                 "MEMORY_MIB SEPARATION_BYTES SPACE_PERCENT PHASE[,PHASE...]\n");
    return 2;
  }
  const std::string engine = argv[1];
  KvOptions options;
  options.directory = argv[2];
  options.memory_bytes = std::strtoull(argv[5], nullptr, 10) << 20;
  options.separation_bytes = std::strtoull(argv[6], nullptr, 10);
  options.space_percent = static_cast<uint32_t>(std::strtoul(argv[7], nullptr, 10));
  std::unique_ptr<KvStore> store =
      engine == "lava" ? OpenLava(options) : OpenRocksDB(options, engine == "rocksdb-blob");
  std::printf("{\"engine\":\"%s\",\"version\":\"%s\"}\n", engine.c_str(), store->Version().c_str());
  Bench bench(store.get(), options.directory, argv[3], std::strtoull(argv[4], nullptr, 10));
  std::istringstream phases(argv[8]);
  for (std::string phase; std::getline(phases, phase, ',');) bench.Run(phase);
  return 0;
}

}  // namespace
}  // namespace lava::bench

int main(int argc, char** argv) { return lava::bench::Main(argc, argv); }

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <thread>

#include "bench/host/cases.h"
#include "bench/kv/usage.h"
#include "testing/random.h"

namespace lava::bench {
namespace {

constexpr uint64_t kSmallKeys = 20'000, kLargeKeys = 64;
constexpr uint64_t kOperationsBetweenScans = 4096, kMixedScanEntries = 5000;

/// A thread's part: its own instance, whose number grows with each restore.
class MixedUser {
 public:
  MixedUser(Instances* instances, size_t instance, uint64_t value_bytes_max)
      : instances_(*instances),
        instance_(instance),
        value_bytes_max_(value_bytes_max),
        random_(instance + 1),
        bytes_(random_.Bytes(2 * value_bytes_max)) {}

  uint64_t Play(double seconds) {
    const auto began = SteadyClock::now();
    uint64_t done = 0;
    for (; done % 64 > 0 || SecondsSince(began) < seconds; ++done) {
      Operate();
      if (done % kOperationsBetweenScans == 0)
        (void)instances_.Scan(instance_, KeyOf(0), kMixedScanEntries);
    }
    return done;
  }

 private:
  static std::string KeyOf(uint64_t n) {
    std::string key = std::to_string(n) + ", a key of usual length";
    key.insert(key.begin(), static_cast<char>(n % 251));
    return key;
  }
  // Three of four values are small, one of 32 is large; a third of the operations are reads.
  void Operate() {
    const bool large = random_.OneIn(32);
    const std::string key =
        KeyOf(large ? random_.Uniform(kLargeKeys) : kLargeKeys + random_.Uniform(kSmallKeys));
    if (random_.OneIn(3)) {
      (void)instances_.Get(instance_, key);
      return;
    }
    const uint64_t most = random_.OneIn(4) ? 16384 : 200;
    const uint64_t bytes =
        large ? random_.Between(value_bytes_max_ / 2, value_bytes_max_) : random_.Between(16, most);
    const uint64_t from = random_.Uniform(value_bytes_max_);
    instances_.Put(instance_, key, std::string_view(bytes_).substr(from, bytes));
  }

  Instances& instances_;
  const size_t instance_;
  const uint64_t value_bytes_max_;
  testing::Random random_;
  const std::string bytes_;  // source of the values
};

}  // namespace

void RunMixed(const CaseOptions& options) {
  const std::unique_ptr<Instances> instances = options.make(options.setup);
  const size_t count = options.instances;
  const std::string checkpoint = options.setup.directory + "/checkpoint";
  std::vector<std::unique_ptr<MixedUser>> users;
  for (size_t n = 0; n < count; ++n)
    users.push_back(std::make_unique<MixedUser>(instances.get(), n, options.value_bytes));
  // memory of users does not belong to the engine
  MemorySampler sampler(instances.get(), ResidentBytes());
  for (size_t n = 0; n < count; ++n) instances->Open(n);
  constexpr int kRounds = 6;  // each with a checkpoint during the load, and a restore from it
  uint64_t operations = 0;
  const Usage before = UsageNow();
  const auto began = SteadyClock::now();
  double playing = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto round_began = SteadyClock::now();
    std::vector<uint64_t> done(count);
    std::vector<std::thread> threads;
    for (size_t n = 0; n < count; ++n)
      threads.emplace_back([&, n] { done[n] = users[n]->Play(options.seconds / kRounds); });
    const std::string to = checkpoint + std::to_string(round);
    instances->CheckpointAll(count, to);
    for (std::thread& thread : threads) thread.join();
    playing += SecondsSince(round_began);
    for (const uint64_t n : done) operations += n;
    // Restores each checkpoint as two halves, like a rescaling, reads them completely and closes
    // them.
    for (size_t n = 0; n < count; ++n) {
      const size_t lower = count + 2 * (static_cast<size_t>(round) * count + n);
      instances->Split(to + "/" + std::to_string(n), lower, lower + 1);
      for (const size_t half : {lower, lower + 1}) {
        (void)instances->Scan(half, std::string(1, half == lower ? '\0' : '\x80'),
                              kMixedScanEntries);
        instances->Close(half);
      }
    }
  }
  const Usage used = UsageNow() - before;
  Json row = {{"phase", "mixed"}, {"operations", operations}, {"seconds", playing}};
  row["all_seconds"] = SecondsSince(began);
  row["cpu_seconds"] = used.cpu_seconds;
  sampler.TakePeaks(&row);
  Print(row);
  for (size_t n = 0; n < count; ++n) instances->Close(n);
  Json memory = {{"phase", "memory"}};
  sampler.Summarize(options.setup.memory_bytes, &memory);
  Print(memory);
}

}  // namespace lava::bench

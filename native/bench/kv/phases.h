// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "bench/kv/data_set.h"
#include "bench/kv/kv_store.h"
#include "bench/kv/usage.h"

namespace lava::bench {

/// Durations of calls. Units: microseconds.
class Latencies {
 public:
  void Add(double us) { us_.push_back(us); }
  void Sort();
  /// After Sort(); 0 without calls.
  double Percentile(double share) const;
  void Clear() { us_.clear(); }
  size_t count() const { return us_.size(); }

 private:
  std::vector<double> us_;
};

/// Kinds of calls, for phases that mix them.
enum class CallKind { kWrite, kRead, kScan };
inline constexpr size_t kCallKinds = 3;

struct PhaseOptions {
  double while_writing_seconds = 10;               // of each such phase
  uint64_t while_writing_bytes_second = 10 << 20;  // the writer's offered rate
};

/// Runs the phases of a case on one store, and prints a line of JSON for each:
///   load                                 every key once (LavaStore Table 1, A)
///   insert                               a tenth as many new keys
///   overwrite-uniform, overwrite-zipf    twice as many puts as there are keys (B)
///   update-uniform, update-zipf          three times as many (DiffKV 5.2)
///   get-uniform, get-zipf, scan-N, scan-N-zipf   without concurrent work
///   ycsb-a-uniform, ... ycsb-f-zipf      YCSB's core workloads (DiffKV Table 1)
///   read-while-writing, scan-N-while-writing   one thread reads, one writes at a fixed rate, both
///                                        uniformly (C, D, E)
/// Bytes and CPU time are measured after background work has settled, so that they include the
/// background work that a phase causes.
class Phases {
 public:
  Phases(KvStore* store, const std::string& directory, const DataSet& data,
         const PhaseOptions& options);
  void Run(const std::string& phase);

 private:
  struct Row;

  void Load();
  void Insert(uint64_t count);
  void Overwrite(uint64_t puts, bool zipf);
  bool PlayYcsb(char workload, bool zipf);
  void ReadAll(uint32_t scan_entries, bool zipf);
  void WhileWriting(uint32_t scan_entries);
  void WriteAtRate(const std::atomic<bool>* stop);
  bool Play(const std::string& phase);
  template <typename Call>
  void Timed(CallKind kind, Call call);
  void Put(uint64_t n);
  void Read(uint64_t n, uint32_t scan_entries);
  void Print(const Row& row);

  KvStore& store_;
  const std::string directory_;
  const DataSet data_;
  const PhaseOptions options_;
  const double stored_per_user_byte_;
  RecordMaker writes_, reads_;
  SpaceSampler space_;
  uint64_t keys_ = 0;                          // existing keys
  Latencies latencies_, writer_latencies_;     // latency of the phase, and of its writer
  std::array<Latencies, kCallKinds> by_kind_;  // latency of the phase by kind of call
  uint64_t bytes_put_ = 0, bytes_got_ = 0, live_bytes_ = 0;
};

}  // namespace lava::bench

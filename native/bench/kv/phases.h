#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "bench/kv/data_set.h"
#include "bench/kv/kv_store.h"
#include "bench/kv/usage.h"

namespace lava::bench {

/// How long calls took. Units: microseconds.
class Latencies {
 public:
  void Add(double us) { us_.push_back(us); }
  void Sort();
  /// After Sort(); 0 when there are none.
  double Percentile(double share) const;
  void Clear() { us_.clear(); }
  size_t count() const { return us_.size(); }

 private:
  std::vector<double> us_;
};

struct PhaseOptions {
  double while_writing_seconds = 10;               // of each such phase
  uint64_t while_writing_bytes_second = 10 << 20;  // that its writer offers
};

/// Plays the phases of a case on one store, and prints a line of JSON for each:
///   load                                 every key once (LavaStore Table 1, A)
///   overwrite-uniform, overwrite-zipf    twice as many puts as there are keys (B)
///   get-uniform, get-zipf, scan-N        with nothing beside
///   read-while-writing, scan-N-while-writing   one thread reads, one writes at a fixed rate, both
///                                        uniformly (C, D, E)
/// Bytes and CPU are taken after background work has settled, so that what a phase left to do is
/// its own.
class Phases {
 public:
  Phases(KvStore* store, const std::string& directory, const DataSet& data,
         const PhaseOptions& options);
  void Run(const std::string& phase);

 private:
  struct Row;

  void Load();
  void Overwrite(bool zipf);
  void Read(uint32_t scan_entries, bool zipf);
  void WhileWriting(uint32_t scan_entries);
  void WriteAtRate(const std::atomic<bool>* stop);
  bool Play(const std::string& phase);
  void Put(uint64_t n);
  void ReadOne(uint32_t scan_entries, const KeyChooser& keys);
  void Print(const Row& row);

  KvStore& store_;
  const std::string directory_;
  const DataSet data_;
  const PhaseOptions options_;
  const double stored_per_user_byte_;
  RecordMaker writes_, reads_;
  SpaceSampler space_;
  Latencies latencies_, writer_latencies_;  // the former are those of the phase
  uint64_t bytes_put_ = 0, bytes_got_ = 0, live_bytes_ = 0;
};

}  // namespace lava::bench

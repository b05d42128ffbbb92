// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lava::bench {

/// Resources for all instances of an engine together. Units: bytes.
struct HostSetup {
  std::string directory;
  uint64_t memory_bytes = 512 << 20;
  double write_buffer_ratio = 0.5;  // Flink's default
  uint32_t threads = 2;             // for background work of all instances
  uint64_t separation_bytes = 512;  // Lava: values of at least this size are separated
  uint64_t partitions = 256;        // number of different first bytes of keys
  bool on_volume = false;           // Lava: on LavaFS, through the page cache like the others
};

/// Memory as reported by the engine. `parts` may overlap.
struct Tracked {
  uint64_t bytes = 0;
  std::vector<std::pair<std::string, uint64_t>> parts;
};

/// Many numbered instances of one engine in this process, in directories named by their numbers.
/// Threads:    one for an instance; CheckpointAll(), Settle() and tracked() concurrently.
/// Errors:     any ends the program.
class Instances {
 public:
  virtual ~Instances() = default;
  /// Creates the instance or opens an existing one.
  virtual void Open(size_t instance) = 0;
  virtual void Close(size_t instance) = 0;
  virtual void Put(size_t instance, std::string_view key, std::string_view value) = 0;
  /// Size of the value; 0 when the key does not exist.
  virtual size_t Get(size_t instance, std::string_view key) = 0;
  /// Key and value bytes of the first `count` entries from the key on.
  virtual size_t Scan(size_t instance, std::string_view from, uint32_t count) = 0;
  /// Waits until all writes to the instance are in files.
  virtual void Flush(size_t instance) = 0;
  /// Takes checkpoints of the first `count` instances, like a job's checkpoint; links their files
  /// under to/<instance>.
  virtual void CheckpointAll(size_t count, const std::string& to) = 0;
  /// Opens two new instances from a checkpoint of one: the lower and the upper half of its
  /// partitions, like a rescaling to twice the parallelism.
  virtual void Split(const std::string& checkpoint, size_t lower, size_t upper) = 0;
  /// Waits until everything is in files and background work is idle.
  virtual void Settle() = 0;
  virtual Tracked tracked() const = 0;
};

std::unique_ptr<Instances> LavaInstances(const HostSetup& setup);
/// RocksDB with Flink's settings for a slot's managed memory: one LRU cache, a WriteBufferManager
/// charged to it, and the process's thread pool.
std::unique_ptr<Instances> RocksDBInstances(const HostSetup& setup);

}  // namespace lava::bench

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lava::bench {

/// What every engine gets for all its instances together. Units: bytes.
struct HostSetup {
  std::string directory;
  uint64_t memory_bytes = 512 << 20;
  double write_buffer_ratio = 0.5;  // the default of Flink
  uint32_t threads = 2;             // of background work, for all instances
  uint64_t separation_bytes = 512;  // Lava's: values from here on lie apart
  uint64_t partitions = 256;        // first bytes of keys
  bool on_volume = false;           // Lava's: on LavaFS, through the page cache as the others
};

/// What an engine says of the memory that it has. `parts` may overlap.
struct Tracked {
  uint64_t bytes = 0;
  std::vector<std::pair<std::string, uint64_t>> parts;
};

/// Many instances of one engine in this process, by number, in directories of these numbers.
/// Threads:    one for an instance; CheckpointAll(), Settle() and tracked() beside it.
/// Errors:     any ends the program.
class Instances {
 public:
  virtual ~Instances() = default;
  /// Makes it, or opens what is there.
  virtual void Open(size_t instance) = 0;
  virtual void Close(size_t instance) = 0;
  virtual void Put(size_t instance, std::string_view key, std::string_view value) = 0;
  /// Bytes of the value; 0 when there is none.
  virtual size_t Get(size_t instance, std::string_view key) = 0;
  /// Key and value bytes of the first count entries from key on.
  virtual size_t Scan(size_t instance, std::string_view from, uint32_t count) = 0;
  /// Waits until what was written to it is in files.
  virtual void Flush(size_t instance) = 0;
  /// All of the first `count` instances, as a job's checkpoint does; links their files under
  /// to/<instance>.
  virtual void CheckpointAll(size_t count, const std::string& to) = 0;
  /// Opens two new instances from a checkpoint of one: the lower and the upper half of its
  /// partitions, as a rescaling to twice the parallelism does.
  virtual void Split(const std::string& checkpoint, size_t lower, size_t upper) = 0;
  /// Waits until everything is in files and background work has nothing left to do.
  virtual void Settle() = 0;
  virtual Tracked tracked() const = 0;
};

std::unique_ptr<Instances> LavaInstances(const HostSetup& setup);
/// As Flink sets RocksDB up for a slot's managed memory: one LRU cache, a WriteBufferManager
/// charged to it, the process's pool of threads.
std::unique_ptr<Instances> RocksDBInstances(const HostSetup& setup);

}  // namespace lava::bench

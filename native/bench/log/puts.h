#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lava/slice.h"

namespace lava::bench {

/// An instance each of whose puts is durable when it returns: Lava's with wal_sync, or a RocksDB
/// with synchronous writes whose large values go to blob files. Aborts on errors. Threads: one.
class DurableStore {
 public:
  virtual ~DurableStore() = default;
  virtual void Put(Slice key, Slice value) = 0;
  /// All is in files.
  virtual void Flush() = 0;
};

std::unique_ptr<DurableStore> NewLavaStore(const std::string& directory, bool on_lavafs);
std::unique_ptr<DurableStore> NewRocksDbStore(const std::string& directory);

}  // namespace lava::bench

#pragma once

#include <memory>
#include <string>

#include "base/block.h"
#include "base/file_id.h"
#include "fs/file_system.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "value/value_file.h"

namespace lava {

/// When a value file of kZstd gets a dictionary.
struct DictionaryOptions {
  bool enabled = true;
  /// A file with less never gets one.
  uint32_t values_min = 32;
  uint32_t raw_bytes_min = 64 << 10;
  /// Of what the values take without it, at least so much must be saved, and more than the
  /// dictionary takes itself. 0: there is one whatever it saves, for tests.
  uint32_t saving_percent_min = 10;
  /// For tests: not empty, it is the dictionary of every file. Borrowed.
  Slice given{};
};

struct ValueWriterOptions {
  Compression compression = Compression::kLz4;  // of each value on its own
  uint32_t partition_records = 256;  // distinct keys in one partition of the index, 1 to 4096
  bool sync = false;
  DictionaryOptions dictionary{};  // of kZstd
};

/// Writes one value SST (docs/vsst-format.md; Scavenger 3.2, LavaStore 3.4): a record per value,
/// then a dense key index, which the collector alone reads, and crit-bit trees, which readers keep.
/// Records come in ascending order by (key, birth); one key may have several births. With kZstd the
/// first ones are held back until they tell whether a dictionary pays for the file (HeldValues).
/// Threads:    one thread.
/// Durability: after Finish() is OK: flushed (synced if options.sync) and closed.
/// Errors:     IOError, NoSpace: the first one is repeated by every later call, and the file is
///             garbage, to be removed by the caller. InvalidArgument: a record out of order or
///             beyond the limits of options.h; it was not added.
class ValueWriter {
 public:
  virtual ~ValueWriter() = default;
  static std::unique_ptr<ValueWriter> Create(const ValueWriterOptions& options,
                                             std::unique_ptr<fs::AppendFile> file,
                                             std::string path);
  /// key: internal key. birth: this file's own id for a value that is born here.
  virtual Status Add(Slice key, const FileId& birth, Slice value) = 0;
  /// A value as another value SST stores it (ValueReader::ReadStored): compressed once in its life.
  virtual Status AddStored(Slice key, const FileId& birth, Compression codec, uint32_t raw_bytes,
                           Slice stored) = 0;
  /// What the file would have if it ended here, about; with what is held back.
  virtual uint64_t estimated_bytes() const = 0;
  virtual Status Finish(ValueFileProperties* properties) = 0;
};

}  // namespace lava

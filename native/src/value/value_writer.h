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

struct ValueWriterOptions {
  Compression compression = Compression::kLz4;  // of each value on its own
  uint32_t partition_records = 256;  // distinct keys in one partition of the index, 1 to 4096
  bool sync = false;
};

/// Writes one value SST (docs/vsst-format.md; Scavenger 3.2, LavaStore 3.4): a record per value,
/// then a dense key index, which the collector alone reads, and crit-bit trees, which readers keep.
/// Records come in ascending order by (key, birth); one key may have several births.
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
  virtual uint64_t estimated_bytes() const = 0;
  virtual Status Finish(ValueFileProperties* properties) = 0;
};

}  // namespace lava

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

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

/// When a value file that is compressed with kZstd gets a dictionary.
struct DictionaryOptions {
  bool enabled = true;
  /// A file with fewer values, or fewer bytes of them, never gets one.
  uint32_t values_min = 32;
  uint32_t raw_bytes_min = 64 << 10;
  /// The least saving, in percent of what the values take without a dictionary. The saving must
  /// also exceed the dictionary's own size. 0, for tests: any dictionary is taken.
  uint32_t saving_percent_min = 10;
  /// For tests: if not empty, the dictionary of every file. Borrowed.
  Slice given{};
};

struct ValueWriterOptions {
  Compression compression = Compression::kLz4;  // of each value on its own
  uint32_t index_partition_records = 256;       // distinct keys in one index partition, 1 to 4096
  bool sync = false;
  DictionaryOptions dictionary{};  // of kZstd
};

/// Writes one value SST (docs/vsst-format.md; Scavenger 3.2, LavaStore 3.4): one record for each
/// value, then a dense key index for the collector, and crit-bit trees for readers. Records must be
/// added in ascending order of (key, blob file); a key may have several blob files. With kZstd the
/// first values are held back until they show whether a dictionary pays for the file: see
/// DictionarySampler.
/// Threads:    one thread.
/// Durability: after Finish() is OK: flushed (synced if options.sync) and closed.
/// Errors:     IOError, NoSpace: the first one is repeated by every later call, and the file is
///             garbage, which the caller must remove. InvalidArgument: a record out of order or
///             beyond the limits of options.h; it was not added.
class ValueWriter {
 public:
  virtual ~ValueWriter() = default;
  static std::unique_ptr<ValueWriter> Create(const ValueWriterOptions& options,
                                             std::unique_ptr<fs::AppendFile> file,
                                             std::string path);
  /// key: internal key. blob_file: this file's own id if the value was not in a value file before.
  virtual Status Add(Slice key, const FileId& blob_file, Slice value) = 0;
  /// Adds a value as another value SST stores it (ValueReader::ReadStored()), so that a value is
  /// compressed only once in its life.
  virtual Status AddStored(Slice key, const FileId& blob_file, Compression codec,
                           uint32_t raw_bytes, Slice stored) = 0;
  /// Approximate size of the file if it ended here, sampled values included.
  virtual uint64_t estimated_bytes() const = 0;
  virtual Status Finish(ValueFileProperties* properties) = 0;
};

}  // namespace lava

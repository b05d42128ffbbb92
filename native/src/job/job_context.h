// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "cache/block_cache.h"
#include "fs/file_system.h"
#include "manifest/version.h"
#include "memory/memory_counter.h"
#include "os/pacer.h"
#include "read/drop_cache.h"
#include "table/table_reader.h"
#include "table/table_writer.h"
#include "value/value_reader.h"
#include "value/value_writer.h"

namespace lava {

/// What a flush, compaction or collection needs from its instance.
/// Ownership:  borrows everything; the objects pointed to must outlive the job.
struct JobContext {
  fs::FileSystem* file_system = nullptr;
  std::string directory;
  BlockCache* cache = nullptr;
  MemoryCounter* counter = nullptr;
  TableReader::ReadCounters* read_counters = nullptr;  // may be null
  /// Returns the id for a new file. Threads: any.
  std::function<FileId()> next_file;
  /// The job returns Aborted soon after this becomes true. May be null.
  const std::atomic<bool>* cancelled = nullptr;
  /// Limits the job's CPU time. May be null.
  os::Pacer* pacer = nullptr;
  uint64_t list_bytes_max = kListBytesMax;  // see MergeOptions
  uint64_t inline_bytes_max = UINT64_MAX;   // larger values are always separated
  TableWriterOptions writer;                // compression is chosen for the output's level
  ValueWriterOptions value_writer;
  uint64_t value_file_bytes = 64 << 20;                      // approximate size of a value file
  ValueReader::ReadCounters* value_read_counters = nullptr;  // may be null
  DropCache* drop_cache = nullptr;                           // may be null
  bool may_use_reserve = false;                              // see FileSystem::CreateFromReserve()

  std::string PathOf(const FileId& id) const { return directory + "/" + id.FileName(); }
  std::string ValuePathOf(const FileId& id) const { return directory + "/" + id.ValueFileName(); }
};

/// Write buffer of an output file. With direct I/O it is used as two halves.
inline constexpr size_t kJobFileBufferBytes = 512 << 10;

/// Creates an output file of a job. Errors: as FileSystem::Create().
Result<std::unique_ptr<fs::AppendFile>> CreateOutput(const JobContext& context,
                                                     const std::string& path);

/// Opens the file for reading; the caller gives the reader to file.reader. Checks that the
/// footer's properties equal those in the manifest.
/// Errors:     Corruption, naming the path and the difference; NotFound, IOError.
Result<std::shared_ptr<TableReader>> OpenReader(const JobContext& context, const FileMeta& file);

/// As OpenReader(), for a value file.
Result<std::shared_ptr<ValueReader>> OpenValueReader(const JobContext& context,
                                                     const ValueFileMeta& file);

/// The manifest's description of a finished file.
std::shared_ptr<FileMeta> MetaOf(const FileId& id, const TableProperties& properties);
std::shared_ptr<ValueFileMeta> MetaOf(const FileId& id, const ValueFileProperties& properties);

}  // namespace lava

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "cache/block_cache.h"
#include "fs/file_system.h"
#include "manifest/version.h"
#include "memory/memory_counter.h"
#include "table/table_reader.h"
#include "table/table_writer.h"

namespace lava {

/// What flushes and compactions of one instance need from it.
/// Ownership:  nothing; what it points to must outlive the job.
struct JobContext {
  fs::FileSystem* file_system = nullptr;
  std::string directory;
  BlockCache* cache = nullptr;
  MemoryCounter* counter = nullptr;
  TableReader::ReadCounters* read_counters = nullptr;  // may be null
  /// A new file's identity. Threads: any.
  std::function<FileId()> next_file;
  /// The job returns Aborted soon after it turns true. May be null.
  const std::atomic<bool>* cancelled = nullptr;
  uint64_t list_bytes_max = kListBytesMax;  // see MergeOptions
  TableWriterOptions writer;                // compression already chosen for the output's level

  std::string PathOf(const FileId& id) const { return directory + "/" + id.FileName(); }
};

/// Opens the file for reading; the caller hangs it onto file.reader. Checks that the footer's
/// properties are those that the manifest knows.
/// Errors:     Corruption, naming the path and what differs; NotFound, IOError.
Result<std::shared_ptr<TableReader>> OpenReader(const JobContext& context, const FileMeta& file);

/// The open reader of a file that stands in a version.
inline TableReader* ReaderOf(const FileMeta& file) {
  return static_cast<TableReader*>(file.reader.get());
}

/// What the manifest keeps of a finished file.
std::shared_ptr<FileMeta> MetaOf(const FileId& id, const TableProperties& properties);

}  // namespace lava

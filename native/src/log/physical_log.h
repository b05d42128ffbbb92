// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/framing.h"
#include "base/mutex.h"
#include "fs/file_system.h"
#include "log/format.h"

namespace lava::log {

/// Writes one physical log: its header, then frames.
/// Threads:    one at a time.
/// Ownership:  the file system must outlive it.
/// Errors:     after an error the file is useless: nothing more may be appended.
class PhysicalLogWriter {
 public:
  /// header: all fields but boot, which is filled in.
  static Result<std::unique_ptr<PhysicalLogWriter>> Create(fs::FileSystem* file_system,
                                                           const std::string& path,
                                                           FileHeader header);

  /// The beginning of a payload, which says how much of the file has been synced.
  std::string NewPayload() const;
  /// Offset of the next frame's payload in the file.
  uint64_t next_payload_offset() const { return file_->size() + kFrameHeaderBytes; }
  Status Append(FrameType type, Slice payload);
  /// Appends the last bytes of a sealed file: the offset of its directory's frame.
  Status AppendTrailer(uint64_t directory_offset);
  Status Flush() { return file_->Flush(); }
  Status Sync();
  /// Makes appended bytes durable without the file's size; readers find the end by the frames.
  Status SyncData();
  Status Close() { return file_->Close(); }

  uint64_t size() const { return file_->size(); }
  uint64_t durable() const { return durable_; }
  uint64_t next_sequence() const { return frames_.next_sequence(); }
  const FileHeader& header() const { return header_; }
  const std::string& path() const { return path_; }

 private:
  PhysicalLogWriter(std::unique_ptr<fs::AppendFile> file, std::string path,
                    const FileHeader& header)
      : file_(std::move(file)), path_(std::move(path)), header_(header), frames_(header.file_id) {}

  std::unique_ptr<fs::AppendFile> file_;
  const std::string path_;
  const FileHeader header_;
  FrameWriter frames_;
  uint64_t durable_ = 0;
  bool open_ended_ = false;  // the file's size is not durable
};

/// A data file as readers see it. It grows while it is written. An obsolete file is removed once
/// nobody reads it any more.
/// Threads:    any.
/// Ownership:  the file system must outlive it.
/// Errors:     Corruption with path and offset; IOError.
class DataFile {
 public:
  DataFile(fs::FileSystem* file_system, const std::string& directory, const FileHeader& header);
  ~DataFile();
  DataFile(const DataFile&) = delete;
  DataFile& operator=(const DataFile&) = delete;

  /// Reads the record that an entry names into *data, and checks it.
  Status ReadRecord(LogId log, const IndexEntry& entry, std::string* data);
  /// Like ReadRecord(), from bytes that were read already and begin at `at`. *data borrows them.
  Status TakeRecord(LogId log, const IndexEntry& entry, Slice bytes, uint64_t at,
                    Slice* data) const;
  Status ReadBytes(uint64_t offset, size_t length, char* to);
  /// Opens the file for reads of its first `end` bytes.
  Result<std::shared_ptr<fs::RandomFile>> OpenUpTo(uint64_t end) {
    return Open(path_, end, &data_);
  }
  /// Turns NotFound of a file into Corruption, because NotFound would mean that a record is
  /// missing.
  static Status Present(Status status);
  Status ReadPack(const Pack& pack, LogId log, std::vector<IndexEntry>* entries);
  /// Whether the file ends with a trailer, or has an index file.
  Result<bool> IsSealed();
  /// Reads the reverse index. Errors: Corruption, also if the file is not sealed.
  Status ReadDirectory(Directory* directory);

  void MarkObsolete() { obsolete_ = true; }
  uint32_t number() const { return header_.number; }
  const FileHeader& header() const { return header_; }
  const std::string& path() const { return path_; }
  const std::string& index_path() const { return index_path_; }

 private:
  using File = std::shared_ptr<fs::RandomFile>;
  Result<File> Open(const std::string& path, uint64_t end, File* cached) LAVA_EXCLUDES(mutex_);
  Result<bool> TrailerOf(const std::string& path, uint64_t* directory_offset, File* file);
  Status ReadFrame(const std::string& path, File* cached, uint64_t offset, uint64_t bytes,
                   FrameType type, std::string* memory, Slice* payload);

  fs::FileSystem* const file_system_;
  const FileHeader header_;
  const std::string path_, index_path_;
  Mutex mutex_;
  // Open() gets the address of one of these and locks the mutex.
  File data_ LAVA_GUARDED_BY(mutex_);
  File index_ LAVA_GUARDED_BY(mutex_);
  bool obsolete_ = false;
};

/// Reads a physical log's header from the beginning of its file.
Status ReadFileHeader(fs::FileSystem* file_system, const std::string& directory, FileKind kind,
                      uint32_t number, FileHeader* header);

}  // namespace lava::log

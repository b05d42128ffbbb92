// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "lavafs/volume.h"
#include "os/thread_pool.h"

namespace lava::bench {

enum class SyncKind : uint8_t { kNone, kData, kAll };

/// A file for appends. Aborts on errors.
class BenchWriter {
 public:
  virtual ~BenchWriter() = default;
  /// data: aligned to 4 KiB.
  virtual void Append(const char* data, size_t bytes, SyncKind sync) = 0;
  virtual void Close() = 0;
};
class BenchReader {
 public:
  virtual ~BenchReader() = default;
  // all arguments are aligned to 4 KiB
  virtual void Read(uint64_t offset, size_t bytes, char* to) = 0;
};

/// The file system under test: LavaFS in a file whose blocks were written before, or the machine's
/// own file system, both with direct I/O.
class BenchFiles {
 public:
  virtual ~BenchFiles() = default;
  virtual std::unique_ptr<BenchWriter> Create(const std::string& name) = 0;
  virtual std::unique_ptr<BenchReader> Open(const std::string& name) = 0;
  virtual void Remove(const std::string& name) = 0;
};

std::unique_ptr<BenchFiles> NewPosixFiles(const std::string& directory);

struct VolumeSetup {
  uint64_t bytes = 1ull << 30;
  uint64_t journal_bytes_max = 8ull << 20;
  bool warm = true;    // whether every block was written before
  bool format = true;  // false: use the existing volume
};
/// A volume in directory/volume; its journal is compacted by a separate thread.
class VolumeFiles : public BenchFiles {
 public:
  VolumeFiles(const std::string& directory, const VolumeSetup& setup);
  ~VolumeFiles() override;
  std::unique_ptr<BenchWriter> Create(const std::string& name) override;
  std::unique_ptr<BenchReader> Open(const std::string& name) override;
  void Remove(const std::string& name) override;
  lavafs::Volume* volume() { return volume_.get(); }
  /// Mounts the volume again, as another process would.
  void Remount();

 private:
  void Mount();
  const std::string path_;
  const VolumeSetup setup_;
  uint64_t mounts_ = 0;
  std::unique_ptr<os::ThreadPool> threads_;
  std::unique_ptr<lavafs::Volume> volume_;
};

}  // namespace lava::bench

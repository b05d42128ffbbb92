// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "bench/fs/targets.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/checked_calls.h"
#include "fs/direct_io.h"
#include "fs/posix_block_device.h"
#include "os/boot_id.h"

namespace lava::bench {
namespace {

// buffer size for a file on LavaFS (lavastore-pageserver 6.1)
constexpr size_t kBufferBytes = 512 << 10;

void MustBe(bool good, const std::string& what) {
  if (good) return;
  std::fprintf(stderr, "%s: %s\n", what.c_str(), std::strerror(errno));
  std::exit(1);
}

class PosixWriter : public BenchWriter {
 public:
  explicit PosixWriter(const std::string& path)
      : descriptor_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0600)) {
    MustBe(descriptor_ >= 0, "open " + path);
  }
  ~PosixWriter() override { close(descriptor_); }
  void Append(const char* data, size_t bytes, SyncKind sync) override {
    MustBe(pwrite(descriptor_, data, bytes, offset_) == static_cast<ssize_t>(bytes), "write");
    offset_ += static_cast<off_t>(bytes);
    if (sync == SyncKind::kData) MustBe(fdatasync(descriptor_) == 0, "fdatasync");
    if (sync == SyncKind::kAll) MustBe(fsync(descriptor_) == 0, "fsync");
  }
  void Close() override {}

 private:
  const int descriptor_;
  off_t offset_ = 0;
};

class PosixReader : public BenchReader {
 public:
  explicit PosixReader(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC)) {
    MustBe(descriptor_ >= 0, "open " + path);
  }
  ~PosixReader() override { close(descriptor_); }
  void Read(uint64_t offset, size_t bytes, char* to) override {
    MustBe(pread(descriptor_, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes),
           "read");
  }

 private:
  const int descriptor_;
};

class PosixFiles : public BenchFiles {
 public:
  explicit PosixFiles(std::string directory) : directory_(std::move(directory)) {
    MustBe(mkdir(directory_.c_str(), 0700) == 0 || errno == EEXIST, "make " + directory_);
  }
  std::unique_ptr<BenchWriter> Create(const std::string& name) override {
    return std::make_unique<PosixWriter>(directory_ + "/" + name);
  }
  std::unique_ptr<BenchReader> Open(const std::string& name) override {
    return std::make_unique<PosixReader>(directory_ + "/" + name);
  }
  void Remove(const std::string& name) override {
    MustBe(unlink((directory_ + "/" + name).c_str()) == 0, "remove " + name);
  }

 private:
  const std::string directory_;
};

class VolumeWriter : public BenchWriter {
 public:
  explicit VolumeWriter(std::unique_ptr<lavafs::VolumeFile> file) : file_(std::move(file)) {}
  void Append(const char* data, size_t bytes, SyncKind sync) override {
    Check(file_->Append({data, bytes}));
    if (sync == SyncKind::kData) Check(file_->SyncData());
    if (sync == SyncKind::kAll) Check(file_->Sync());
  }
  void Close() override { Check(file_->Close()); }

 private:
  const std::unique_ptr<lavafs::VolumeFile> file_;
};

class VolumeReader : public BenchReader {
 public:
  explicit VolumeReader(std::unique_ptr<fs::RandomFile> file) : file_(std::move(file)) {}
  void Read(uint64_t offset, size_t bytes, char* to) override {
    Check(file_->Read(offset, bytes, to));
  }

 private:
  const std::unique_ptr<fs::RandomFile> file_;
};

// The first write of a block costs twice as much.
void WriteThrough(const std::string& path, uint64_t bytes) {
  const auto device = Must(fs::OpenBlockDevice(path, {.create = true}));
  Check(device->Grow(bytes));
  const fs::AlignedBuffer zeros(1 << 20, 4096);
  std::memset(zeros.data(), 0, zeros.size());
  for (uint64_t at = 0; at < bytes; at += zeros.size()) {
    Check(device->Write(at, {zeros.data(), zeros.size()}));
  }
  Check(device->Sync());
}

}  // namespace

std::unique_ptr<BenchFiles> NewPosixFiles(const std::string& directory) {
  return std::make_unique<PosixFiles>(directory);
}

VolumeFiles::VolumeFiles(const std::string& directory, const VolumeSetup& setup)
    : path_(directory + "/volume"), setup_(setup), threads_(os::ThreadPool::New(1)) {
  MustBe(mkdir(directory.c_str(), 0700) == 0 || errno == EEXIST, "make " + directory);
  if (setup_.format && setup_.warm) WriteThrough(path_, setup_.bytes);
  if (setup_.format)
    Check(lavafs::Volume::Format(Must(fs::OpenBlockDevice(path_, {.create = true})).get(),
                                 {.capacity_bytes = setup_.bytes}, {1, 2}));
  Mount();
  Check(volume_->MakeDirectory("bench"));
}

VolumeFiles::~VolumeFiles() { threads_.reset(); }  // before the volume

void VolumeFiles::Mount() {
  lavafs::MountOptions options;
  options.journal_bytes_max = setup_.journal_bytes_max;
  options.boot = os::BootId();
  options.mount = ++mounts_;
  options.run_in_background = [this](std::function<void()> job) {
    threads_->Submit(std::move(job));
  };
  volume_ = Must(lavafs::Volume::Mount(Must(fs::OpenBlockDevice(path_)), options));
}

void VolumeFiles::Remount() {
  Check(volume_->Close());
  volume_.reset();
  Mount();
}

std::unique_ptr<BenchWriter> VolumeFiles::Create(const std::string& name) {
  return std::make_unique<VolumeWriter>(Must(volume_->Create("bench", name, kBufferBytes)));
}
std::unique_ptr<BenchReader> VolumeFiles::Open(const std::string& name) {
  return std::make_unique<VolumeReader>(Must(volume_->Open("bench", name)));
}
void VolumeFiles::Remove(const std::string& name) { Check(volume_->Remove("bench", name)); }

}  // namespace lava::bench

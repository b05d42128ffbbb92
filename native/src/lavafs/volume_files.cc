// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "base/thread_annotations.h"
#include "fs/direct_io.h"
#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lavafs/change.h"
#include "lavafs/format.h"
#include "lavafs/metadata.h"
#include "lavafs/volume.h"
#include "lavafs/volume_impl.h"
#include "memory/memory_counter.h"

namespace lava::lavafs {

// A file of at least this size gets extents in steps of this size, if there is space.
static constexpr uint64_t kLargeStepBytes = 1 << 20;

/// Maps the bytes of a file to the device.
class Layout {
 public:
  Layout(std::vector<ExtentRange> ranges, uint32_t extent_bytes)
      : ranges_(std::move(ranges)), extent_bytes_(extent_bytes) {
    for (const ExtentRange& range : ranges_) bytes_ += uint64_t{range.count} * extent_bytes_;
  }

  uint64_t bytes() const { return bytes_; }
  /// Sets *at to the range's offset on the device. False if the range is not contiguous there.
  bool Locate(uint64_t offset, uint64_t length, uint64_t* at) const {
    if (offset > bytes_ || length > bytes_ - offset) return false;
    for (const ExtentRange& range : ranges_) {
      const uint64_t bytes = uint64_t{range.count} * extent_bytes_;
      if (offset < bytes) {
        *at = uint64_t{range.first} * extent_bytes_ + offset;
        return length <= bytes - offset;
      }
      offset -= bytes;
    }
    return false;
  }
  /// Calls visit(offset on the device, offset within the range, bytes) for each piece of a range.
  template <typename Visit>
  Status ForEachPiece(uint64_t offset, uint64_t length, const Visit& visit) const {
    LAVA_CHECK(offset <= bytes_ && length <= bytes_ - offset);
    uint64_t done = 0;
    for (auto range = ranges_.begin(); done < length; range++) {
      const uint64_t bytes = uint64_t{range->count} * extent_bytes_;
      if (offset >= bytes) {
        offset -= bytes;
        continue;
      }
      const uint64_t piece = std::min(bytes - offset, length - done);
      LAVA_RETURN_IF_ERROR(visit(uint64_t{range->first} * extent_bytes_ + offset, done, piece));
      done += piece;
      offset = 0;
    }
    return Status::OK();
  }

 private:
  std::vector<ExtentRange> ranges_;
  uint32_t extent_bytes_;
  uint64_t bytes_ = 0;
};

class AppendImpl : public VolumeFile {
 public:
  AppendImpl(VolumeImpl* volume, std::string path, uint32_t inode, size_t buffer_bytes,
             bool may_use_reserve)
      : volume_(volume),
        path_(std::move(path)),
        inode_(inode),
        may_use_reserve_(may_use_reserve),
        buffer_bytes_(std::max<uint64_t>(fs::RoundDown(buffer_bytes, kBlockBytes), kBlockBytes)) {}
  ~AppendImpl() override {
    (void)FinishBegun();
    LetGo();
    DropBuffers();
  }

  Status Append(Slice data) override {
    LAVA_RETURN_IF_ERROR(Usable());
    while (!data.empty()) {
      if (buffer_.data() == nullptr) TakeBuffer();
      const size_t piece = std::min(data.size(), buffer_.size() - filled_);
      std::memcpy(buffer_.data() + filled_, data.data(), piece);
      filled_ += piece;
      size_ += piece;
      data.remove_prefix(piece);
      if (filled_ == buffer_.size()) LAVA_RETURN_IF_ERROR(Keep(WriteFullBuffer()));
    }
    return Status::OK();
  }

  Status Flush() override { return Settle(VolumeImpl::Reach::kWritten); }
  Status Sync() override { return Settle(VolumeImpl::Reach::kDurable); }

  Status SyncData() override {
    LAVA_RETURN_IF_ERROR(Usable());
    LAVA_RETURN_IF_ERROR(Keep(WriteOut()));
    return Keep(SyncContents());
  }

  Status Close() override {
    if (inode_closed_) return error_;
    Status done = error_.ok() ? Flush() : error_;
    (void)FinishBegun();
    LetGo();
    DropBuffers();
    return done;
  }

  uint64_t size() const override { return size_; }

 private:
  Status Usable() const {
    if (!error_.ok()) return error_;
    if (inode_closed_) return Status::Closed("write to " + path_ + ": it was closed");
    return Status::OK();
  }
  // Charged before it is allocated, so that other memory can be freed for it.
  void TakeBuffer() {
    MemoryCounter* const counter = volume_->options_.buffers;
    if (counter != nullptr) counter->Charge(buffer_bytes_);
    buffer_ = fs::AlignedBuffer(buffer_bytes_, kBlockBytes);
  }
  void DropBuffers() {
    for (fs::AlignedBuffer* buffer : {&buffer_, &begun_buffer_}) {
      if (buffer->size() == 0) continue;  // a closed file may outlive its volume
      if (MemoryCounter* const counter = volume_->options_.buffers; counter != nullptr)
        counter->Release(buffer_bytes_);
      *buffer = fs::AlignedBuffer();
    }
  }
  // Keeps the first error.
  Status Keep(const Status& status) {
    if (!status.ok() && error_.ok()) error_ = status.WithContext("write to " + path_);
    return error_;
  }

  void LetGo() {
    if (std::exchange(inode_closed_, true)) return;
    MutexLock lock(&volume_->mutex_);
    std::vector<ExtentRange> freed;
    volume_->metadata_.Close(inode_, &freed);
    volume_->Free(std::move(freed));
  }

  Status Settle(VolumeImpl::Reach reach) {
    LAVA_RETURN_IF_ERROR(Usable());
    LAVA_RETURN_IF_ERROR(Keep(WriteOut()));
    MutexLock lock(&volume_->mutex_);
    LAVA_RETURN_IF_ERROR(Keep(volume_->Usable()));
    if (settled_ != size_ || open_ended_) RecordSize(false);
    return Keep(volume_->Commit(reach));
  }

  void RecordSize(bool open_ended) LAVA_REQUIRES(volume_->mutex_) {
    volume_->Record(
        {.type = Change::Type::kSize, .inode = inode_, .size = size_, .open_ended = open_ended});
    settled_ = size_;
    open_ended_ = open_ended;
  }

  Status SyncContents() {
    const uint64_t contents = volume_->contents_written_.load();
    MutexLock lock(&volume_->mutex_);
    LAVA_RETURN_IF_ERROR(volume_->Usable());
    const bool new_metadata = !open_ended_ || synced_layout_bytes_ != layout_.bytes();
    if (!open_ended_) RecordSize(true);
    volume_->metadata_.SetSize(inode_, size_);
    if (new_metadata) {
      LAVA_RETURN_IF_ERROR(volume_->Commit(VolumeImpl::Reach::kDurable));
      synced_layout_bytes_ = layout_.bytes();
    }
    if (volume_->contents_synced_ >= contents) return Status::OK();
    lock.Unlock();
    const Status done = volume_->device_->Sync();
    lock.Lock();
    if (!done.ok()) {
      // Contents that other files have written may be lost, too.
      volume_->Fail(done);
      return done;
    }
    volume_->contents_synced_ = std::max(volume_->contents_synced_, contents);
    return Status::OK();
  }

  // Begins to write the full buffer and continues with the other one. Only if the device supports
  // that and the buffer is large enough for the write to take as long as filling a buffer.
  Status WriteFullBuffer() {
    LAVA_RETURN_IF_ERROR(FinishBegun());
    const uint64_t end = offset_ + filled_;
    if (buffer_bytes_ < volume_->options_.second_buffer_from_bytes) return WriteOut();
    if (end > layout_.bytes()) LAVA_RETURN_IF_ERROR(Extend(end));
    bool all_begun = true;
    const auto begin = [&](uint64_t at, uint64_t within, uint64_t bytes) {
      auto begun = volume_->device_->BeginWrite(at, {buffer_.data() + within, bytes});
      all_begun = all_begun && begun != nullptr;
      if (begun != nullptr) begun_.push_back(std::move(begun));
      return Status::OK();
    };
    LAVA_RETURN_IF_ERROR(layout_.ForEachPiece(offset_, filled_, begin));
    if (!all_begun) {
      LAVA_RETURN_IF_ERROR(FinishBegun());
      return WriteOut();
    }
    std::swap(buffer_, begun_buffer_);
    offset_ = written_ = end;
    filled_ = 0;
    return Status::OK();
  }

  // Waits for all begun writes. Until they have ended, no size may cover them, and no other file
  // may get their extents.
  Status FinishBegun() {
    Status done;
    for (const auto& begun : begun_) {
      const Status one = begun->Finish();
      if (done.ok()) done = one;
      if (begun->is_lost()) {
        buffer_.Leak();  // The lost write may use either of the two.
        begun_buffer_.Leak();
        MutexLock lock(&volume_->mutex_);
        volume_->Fail(one);
      }
    }
    if (!begun_.empty()) volume_->contents_written_.fetch_add(1);
    begun_.clear();
    return done;
  }

  // Writes the whole buffer, the last block padded with zeros. The filled part of that block stays
  // in the buffer, to be written again with the bytes that follow.
  Status WriteOut() {
    LAVA_RETURN_IF_ERROR(FinishBegun());
    if (written_ == size_) return Status::OK();
    const uint64_t tail = filled_ % kBlockBytes;
    const uint64_t padded = fs::RoundUp(filled_, kBlockBytes);
    std::memset(buffer_.data() + filled_, 0, padded - filled_);
    if (offset_ + padded > layout_.bytes()) LAVA_RETURN_IF_ERROR(Extend(offset_ + padded));
    LAVA_RETURN_IF_ERROR(
        layout_.ForEachPiece(offset_, padded, [this](uint64_t at, uint64_t within, uint64_t bytes) {
          return volume_->device_->Write(at, {buffer_.data() + within, bytes});
        }));
    volume_->contents_written_.fetch_add(1);
    offset_ += padded;
    if (tail > 0) {
      offset_ -= kBlockBytes;
      std::memmove(buffer_.data(), buffer_.data() + padded - kBlockBytes, tail);
    }
    filled_ = tail;
    written_ = offset_ + tail;
    return Status::OK();
  }

  Status Extend(uint64_t bytes) {
    const uint32_t extent_bytes = volume_->superblock_.extent_bytes;
    const uint64_t extents = (bytes - layout_.bytes() + extent_bytes - 1) / extent_bytes;
    MutexLock lock(&volume_->mutex_);
    // A large file gets this much at a time, so that its extents form few ranges and few
    // transactions.
    const uint64_t liked = layout_.bytes() < kLargeStepBytes ? 0 : kLargeStepBytes / extent_bytes;
    LAVA_RETURN_IF_ERROR(volume_->Extend(inode_, static_cast<uint32_t>(extents),
                                         static_cast<uint32_t>(liked), may_use_reserve_));
    layout_ = Layout(volume_->metadata_.RangesOf(inode_), extent_bytes);
    return Status::OK();
  }

  VolumeImpl* const volume_;
  const std::string path_;
  const uint32_t inode_;
  const bool may_use_reserve_;
  const uint64_t buffer_bytes_;
  Layout layout_{{}, 0};
  fs::AlignedBuffer buffer_, begun_buffer_;
  std::vector<std::unique_ptr<fs::BegunWrite>> begun_;  // the writes of begun_buffer_
  uint64_t filled_ = 0;                                 // bytes in the buffer
  uint64_t offset_ = 0;               // offset of the buffer in the file; whole blocks
  uint64_t size_ = 0;                 // bytes appended
  uint64_t written_ = 0;              // bytes written to the device
  uint64_t settled_ = 0;              // the size recorded in the journal
  uint64_t synced_layout_bytes_ = 0;  // extents that the journal has durably
  bool open_ended_ = false;
  bool inode_closed_ = false;
  Status error_;
};

class RandomImpl : public fs::RandomFile {
 public:
  RandomImpl(VolumeImpl* volume, std::string path, uint32_t inode, Layout layout, uint64_t size)
      : volume_(volume),
        path_(std::move(path)),
        inode_(inode),
        layout_(std::move(layout)),
        size_(size) {}
  ~RandomImpl() override {
    MutexLock lock(&volume_->mutex_);
    std::vector<ExtentRange> freed;
    volume_->metadata_.Close(inode_, &freed);
    volume_->Free(std::move(freed));
  }

  Status Read(uint64_t offset, size_t length, char* scratch) const override {
    if (offset > size_ || length > size_ - offset) {
      return Status::Corruption("read " + std::to_string(length) + " bytes at offset " +
                                std::to_string(offset) + " of " + path_ + ": it ends at " +
                                std::to_string(size_));
    }
    const Status done =
        layout_.ForEachPiece(offset, length, [&](uint64_t at, uint64_t within, uint64_t bytes) {
          return ReadPiece(at, bytes, scratch + within);
        });
    return done.WithContext("read " + path_);
  }
  uint64_t size() const override { return size_; }
  const std::string& path() const override { return path_; }
  // The device's descriptor is open as long as the volume, which outlives its files.
  fs::SharedDescriptor Share() const override { return volume_->device_->Share(); }
  bool Locate(uint64_t offset, size_t length, uint64_t* at) const override {
    return layout_.Locate(offset, length, at);
  }

 private:
  static constexpr uint64_t kPieceBytesMax = 1 << 20;

  Status ReadPiece(uint64_t at, uint64_t bytes, char* to) const {
    const uint32_t alignment = std::max(volume_->device_->alignment(), 1u);
    const bool is_aligned = (at | bytes | reinterpret_cast<uintptr_t>(to)) % alignment == 0;
    if (is_aligned) return volume_->device_->Read(at, bytes, to);
    const uint64_t begin = fs::RoundDown(at, alignment);
    const uint64_t end = fs::RoundUp(at + bytes, alignment);
    const fs::AlignedBuffer memory(std::min(end - begin, kPieceBytesMax), alignment);
    for (uint64_t from = begin; from < end; from += memory.size()) {
      const uint64_t piece = std::min<uint64_t>(end - from, memory.size());
      LAVA_RETURN_IF_ERROR(volume_->device_->Read(from, piece, memory.data()));
      const uint64_t first = std::max(from, at), last = std::min(from + piece, at + bytes);
      std::memcpy(to + (first - at), memory.data() + (first - from), last - first);
    }
    return Status::OK();
  }

  VolumeImpl* const volume_;
  const std::string path_;
  const uint32_t inode_;
  const Layout layout_;
  const uint64_t size_;
};

Result<std::unique_ptr<VolumeFile>> VolumeImpl::Create(Slice directory, Slice name,
                                                       size_t buffer_bytes, bool may_use_reserve) {
  MutexLock lock(&mutex_);
  LAVA_RETURN_IF_ERROR(Usable());
  uint32_t directory_number = 0;
  LAVA_RETURN_IF_ERROR(FindDirectory(directory, "create a file in", &directory_number));
  if (!IsFileName(name)) {
    return Status::InvalidArgument("create a file in " + device_->name() + ":" +
                                   std::string(directory) + ": its name has " +
                                   std::to_string(name.size()) + " bytes, or '/', or a zero byte");
  }
  const std::optional<uint32_t> inode = NewInode();
  if (!inode.has_value()) return Full("create " + PathOf(directory, name));
  Record({.type = Change::Type::kCreate,
          .inode = *inode,
          .directory = directory_number,
          .name = name});
  metadata_.Open(*inode);
  return std::unique_ptr<VolumeFile>(std::make_unique<AppendImpl>(
      this, PathOf(directory, name), *inode, buffer_bytes, may_use_reserve));
}

Result<std::unique_ptr<fs::RandomFile>> VolumeImpl::Open(Slice directory, Slice name) {
  MutexLock lock(&mutex_);
  uint32_t directory_number = 0, inode = 0;
  LAVA_RETURN_IF_ERROR(FindFile(directory, name, "open", &directory_number, &inode));
  metadata_.Open(inode);
  Layout layout(metadata_.RangesOf(inode), superblock_.extent_bytes);
  const Inode& found = metadata_.inode(inode);
  const uint64_t size = found.open_ended ? layout.bytes() : found.size;
  return std::unique_ptr<fs::RandomFile>(
      std::make_unique<RandomImpl>(this, PathOf(directory, name), inode, std::move(layout), size));
}

}  // namespace lava::lavafs

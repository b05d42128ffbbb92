// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava::fs {

/// A write that runs in parallel with its caller.
/// Ownership:  the caller's; the device must outlive it. The memory is the device's until Finish().
class BegunWrite {
 public:
  virtual ~BegunWrite() = default;
  /// Waits for the write and returns what Write() would have returned. Called exactly once, by any
  /// thread.
  virtual Status Finish() = 0;
  /// After Finish(): whether the outcome of the write is unknown. If so, the device may still read
  /// the memory, which must never be freed, and may still write the range.
  virtual bool is_lost() const { return false; }
};

/// The storage below a volume: one large file, a raw device, or memory in tests.
/// Threads:    any; calls on ranges that do not overlap run in parallel.
/// Units:      bytes. Offsets, lengths and memory must be multiples of alignment().
/// Errors:     IOError or NoSpace, naming the device, offset and errno. After a failed Sync() all
///             bytes written since the last successful one may be lost, and a later Sync() would
///             not report that.
class BlockDevice {
 public:
  virtual ~BlockDevice() = default;
  /// Reads exactly length bytes; Corruption when the device ends before that.
  virtual Status Read(uint64_t offset, size_t length, char* to) = 0;
  /// Within size(). Before Sync() a power cut may keep any part of the write, in sectors of 512
  /// bytes.
  virtual Status Write(uint64_t offset, Slice data) = 0;
  /// Null when the write cannot be begun: call Write() instead.
  virtual std::unique_ptr<BegunWrite> BeginWrite(uint64_t /*offset*/, Slice /*data*/) {
    return nullptr;
  }
  virtual Status Sync() = 0;
  virtual uint64_t size() const = 0;
  /// Makes the device at least that large; new bytes are zero. NotSupported if it cannot grow.
  virtual Status Grow(uint64_t size) = 0;
  /// Gives the range's space back to the system; its bytes are zero or unchanged afterwards.
  virtual Status Discard(uint64_t offset, uint64_t length) = 0;
  virtual uint32_t alignment() const = 0;
  /// The device's descriptor, open until the device is destroyed; see RandomFile::Share().
  virtual SharedDescriptor Share() const { return {}; }
  virtual const std::string& name() const = 0;
};

}  // namespace lava::fs

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava::fs {

/// A write that goes on beside whoever began it.
/// Ownership:  of the caller; the device outlives it, and the memory is the device's until
/// Finish().
class BegunWrite {
 public:
  virtual ~BegunWrite() = default;
  /// Waits for it, and answers as Write() would have; exactly once, by any thread.
  virtual Status Finish() = 0;
  /// After Finish(): nobody knows any more whether the device still reads the memory, which must
  /// never be freed, or still writes the place.
  virtual bool is_lost() const { return false; }
};

/// What a volume lies on: one large file, a raw device, or memory in tests.
/// Threads:    any; calls on ranges that do not overlap go on beside each other.
/// Units:      bytes. Offsets, lengths and memory must be multiples of alignment().
/// Errors:     IOError or NoSpace, naming the device, offset and errno. After a failed Sync() what
///             was written since the last one may be lost, and a later Sync() would not tell.
class BlockDevice {
 public:
  virtual ~BlockDevice() = default;
  /// Reads exactly length bytes; Corruption when the device ends before.
  virtual Status Read(uint64_t offset, size_t length, char* to) = 0;
  /// Within size(). Until Sync() a power cut may leave any part of it, in sectors of 512 bytes.
  virtual Status Write(uint64_t offset, Slice data) = 0;
  /// Null when it cannot now: Write() it then.
  virtual std::unique_ptr<BegunWrite> BeginWrite(uint64_t /*offset*/, Slice /*data*/) {
    return nullptr;
  }
  virtual Status Sync() = 0;
  virtual uint64_t size() const = 0;
  /// Makes it at least that large; new bytes are zero. NotSupported where it cannot grow.
  virtual Status Grow(uint64_t size) = 0;
  /// Gives the range's space back to the system; its bytes are zero or what they were.
  virtual Status Discard(uint64_t offset, uint64_t length) = 0;
  virtual uint32_t alignment() const = 0;
  /// Its descriptor, open as long as this is; see RandomFile::Share().
  virtual SharedDescriptor Share() const { return {}; }
  virtual const std::string& name() const = 0;
};

}  // namespace lava::fs

#pragma once

#include <cstdint>
#include <string>

#include "fs/file_system.h"
#include "lava/slice.h"
#include "lava/status.h"

namespace lava::fs {

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

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lavafs/volume.h"
#include "testing/mem_disk.h"

namespace lava::lavafs {

inline constexpr uint32_t kTestExtentBytes = 16 << 10;
inline constexpr Uuid kTestUuid{0x0123456789abcdef, 0xfedcba9876543210};

inline FormatOptions TestFormat(uint64_t extents, uint64_t initial_extents) {
  return {.capacity_bytes = extents * kTestExtentBytes,
          .extent_bytes = kTestExtentBytes,
          .initial_bytes = initial_extents * kTestExtentBytes};
}

/// Byte `at` of file `id`.
inline char ByteOf(uint64_t id, uint64_t at) {
  return static_cast<char>((at * 0x9e37 + id * 0x85eb + (at >> 8) * 31) >> 3 | 1);
}
inline std::string BytesOf(uint64_t id, uint64_t from, uint64_t bytes) {
  std::string all(bytes, '\0');
  for (uint64_t at = 0; at < bytes; at++) all[at] = ByteOf(id, from + at);
  return all;
}

/// The expected state of a volume: names, and the file and size behind each.
struct VolumeState {
  struct File {
    uint64_t id = 0;
    uint64_t size = 0;
    bool open_ended = false;
    uint64_t data_synced = 0;  // of an open-ended file
    friend bool operator==(const File&, const File&) = default;
  };
  std::map<std::string, std::map<std::string, uint64_t>> names;  // by directory and name, the ids
  std::map<uint64_t, File> files;

  /// "" when the volume is in this state, otherwise the first difference. nothing_is_open: the
  /// volume must not contain extents of removed files either.
  std::string Differs(Volume* volume, bool nothing_is_open) const;
};

/// A random history of a volume, by seed: every call, one after another, on a disk that may be
/// examined after each change.
class VolumeHistory {
 public:
  struct Options {
    uint64_t seed = 0;
    uint32_t operations = 200;
    MountOptions mount = {.second_buffer_from_bytes = 4096};
  };
  VolumeHistory(testing::MemDisk* disk, const Options& options);
  ~VolumeHistory();
  /// Returns "", or a description of the failure.
  std::string Run();

  /// The states that a crash may leave now: the last ones. The first of them is the oldest to which
  /// a power cut, or a kill, may go back.
  const std::vector<VolumeState>& states() const { return states_; }
  size_t durable_floor() const { return durable_floor_; }
  size_t written_floor() const { return written_floor_; }

 private:
  struct Handle;
  std::string Step();
  std::string Check(const Status& status, const char* what);
  std::string UseHandle();
  std::string UseName();
  std::string Create();
  std::string Remount();
  VolumeState& Next();
  void Reached(bool durable);
  std::string AnyDirectory();
  bool AnyFile(std::string* directory, std::string* name);

  testing::MemDisk* const disk_;
  const Options options_;
  struct Draw;
  std::unique_ptr<Draw> draw_;
  std::unique_ptr<Volume> volume_;
  std::vector<Handle> handles_;
  std::vector<VolumeState> states_;
  size_t durable_floor_ = 0, written_floor_ = 0;
  uint64_t next_id_ = 1, mounts_ = 1;
};

}  // namespace lava::lavafs

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inspect/file_kind.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "lava/ttl_time.h"

namespace lava::inspect {

/// An engine's files in a checkpoint, as stored by the plugin and by Flink. This code does not
/// parse Flink's whole format: it finds Lava's data by its own magic numbers and checksums.

inline constexpr std::string_view kCheckpointMagic = "LAVACKPT";
inline constexpr std::string_view kLavaCheckpointName = "LAVA-CHECKPOINT";
/// The file of timers on the heap (HeapTimerFile.java).
inline constexpr std::string_view kLavaTimersName = "LAVA-TIMERS";

/// The plugin's private file (CheckpointDescription.java) and the engine's metadata begin with the
/// same 8 bytes. The version after them is big endian in the former, little endian in the latter.
bool IsLavaCheckpoint(Slice head);

/// The location of a file in a pack, which the plugin uploaded with others as one file.
struct PackedLocation {
  std::string pack;  // its name in the handle, in the form of a file's own name
  uint64_t offset = 0, bytes = 0;
};

/// The checkpoint to which a private file belongs, and the time by which its records expired
/// (CheckpointIdentity.java, lava/ttl_time.h).
struct CheckpointOrigin {
  std::string unique, job;  // in hexadecimal
  uint64_t checkpoint = 0;
  uint32_t first_key_group = 0, last_key_group = 0;
  TtlTime ttl_time;
};

/// The plugin's private file of one backend in one checkpoint.
struct LavaCheckpoint {
  uint32_t format_version = 0;
  uint32_t key_group_bytes = 0;
  uint64_t state_meta_bytes = 0;  // of Flink's description of the states
  uint32_t state_meta_crc32c = 0;
  uint64_t heap_timer_bytes = 0;  // 0: timers are in the engine, or do not exist
  uint32_t heap_timer_crc32c = 0;
  std::string metadata;                          // the engine's metadata, see DecodeMetadata()
  std::map<std::string, PackedLocation> packed;  // by the file's name
  std::optional<CheckpointOrigin> origin;        // from version 3 on
};
/// Errors: Corruption with path and offset, NotSupported for a newer format.
Status ParseLavaCheckpoint(Slice bytes, const std::string& path, LavaCheckpoint* out);

/// Data of Lava inside another file.
struct Embedded {
  FileKind kind = FileKind::kOther;  // kLavaCheckpoint, kKeySst, kValueSst
  uint64_t offset = 0, bytes = 0;
  uint64_t unique_id = 0;  // of an SST
};
/// Finds data that Flink stores inside its _metadata, as for small files, or inside a merged file.
/// Data whose own magic numbers are damaged is not found.
std::vector<Embedded> FindEmbedded(Slice bytes);

/// The target of an upload of an instance's file according to Flink.
struct UploadedFile {
  std::string base;  // the name in the checkpoint's storage; empty: the file is in _metadata
  uint64_t bytes = 0;
};
/// Searches Flink's _metadata for the handle that follows a file's name. False if it is not found
/// or not understood.
bool FindUploaded(Slice flink_metadata, const std::string& file_name, UploadedFile* out);

}  // namespace lava::inspect

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

/// What the plugin and Flink make of an engine's files in a checkpoint. Nothing here knows Flink's
/// whole format: what is Lava's is found in it by its own marks and checksums.

inline constexpr std::string_view kCheckpointMagic = "LAVACKPT";
inline constexpr std::string_view kLavaCheckpointName = "LAVA-CHECKPOINT";
/// The file of timers on the heap (HeapTimerFile.java).
inline constexpr std::string_view kLavaTimersName = "LAVA-TIMERS";

/// The plugin's private file (CheckpointDescription.java) and the engine's metadata begin with the
/// same 8 bytes; the version behind them is big endian in the one, little endian in the other.
bool IsLavaCheckpoint(Slice head);

/// Where a file lies that the plugin uploaded with others in one, a pack.
struct PackedPlace {
  std::string pack;  // its name in the handle, as a file's own would be
  uint64_t offset = 0, bytes = 0;
};

/// Which checkpoint a private file is of, and the time that its records expired by
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
  uint64_t heap_timer_bytes = 0;  // 0: timers are in the engine, or there are none
  uint32_t heap_timer_crc32c = 0;
  std::string metadata;                       // the engine's, see DecodeMetadata()
  std::map<std::string, PackedPlace> packed;  // by the file's name
  std::optional<CheckpointOrigin> origin;     // from version 3 on
};
/// Errors: Corruption with path and offset, NotSupported for a newer format.
Status ParseLavaCheckpoint(Slice bytes, const std::string& path, LavaCheckpoint* out);

/// Something of Lava's that lies in another file.
struct Embedded {
  FileKind kind = FileKind::kOther;  // kLavaCheckpoint, kKeySst, kValueSst
  uint64_t offset = 0, bytes = 0;
  uint64_t unique_id = 0;  // of an SST
};
/// Finds what Flink keeps inside its _metadata, as it does with small files, or inside a merged
/// file. What is damaged beyond its own marks is not found.
std::vector<Embedded> FindEmbedded(Slice bytes);

/// Where Flink says that a file of an instance was uploaded to.
struct UploadedFile {
  std::string base;  // the name in the checkpoint's storage; empty: it lies in _metadata
  uint64_t bytes = 0;
};
/// Looks in Flink's _metadata for what stands behind a file's name. False: nothing it understands.
bool FindUploaded(Slice flink_metadata, const std::string& file_name, UploadedFile* out);

}  // namespace lava::inspect

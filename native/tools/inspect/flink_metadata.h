// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lava/slice.h"
#include "lava/status.h"

namespace lava::inspect {

/// A file named by a handle in Flink's _metadata, and the location of its bytes.
struct HandleFile {
  std::string name;  // the name given by the backend; empty where Flink stores no name
  // name of the file in the checkpoint's storage; empty: the bytes are in _metadata
  std::string base;
  uint64_t offset = 0;  // offset of its first byte in that file, or in _metadata
  uint64_t bytes = 0;
};

/// The form in which a subtask's keyed state was written. Only kIncremental may be Lava's.
enum class KeyedForm : uint8_t {
  kIncremental,  // files of an engine: Lava's, RocksDB's
  kFull,         // a full checkpoint of RocksDB or of the heap
  kCanonical,    // a savepoint's canonical format, which every backend restores
  kChanges,      // changes of Flink's changelog since a materialization
};

/// The keyed state of one subtask, or one part of it.
struct KeyedState {
  KeyedForm form = KeyedForm::kIncremental;
  std::string operator_name;  // its uid, otherwise its name, otherwise its identifier in hex
  uint64_t subtask = 0;
  HandleFile state_meta;          // kIncremental: Flink's description of the states
  std::vector<HandleFile> files;  // kIncremental: the engine's; otherwise the streams

  /// The file with this name, or null.
  const HandleFile* Find(std::string_view name) const;
};

/// The state of a checkpoint as described by Flink's _metadata. Flink's own state has no checksums.
struct FlinkMetadata {
  uint32_t version = 0;
  std::vector<KeyedState> keyed;
  // number of handles of operator, channel, coordinator and master state
  uint64_t other_states = 0;
};

/// Reads versions 3 to 6, those of Flink 1.11 to 2.3, up to the checkpoint's properties. bytes: the
/// whole file. path: for messages. Errors: Corruption with path and offset; NotSupported for
/// another version, or for a kind of handle that does not exist in these versions.
Status ParseFlinkMetadata(Slice bytes, const std::string& path, FlinkMetadata* out);

}  // namespace lava::inspect

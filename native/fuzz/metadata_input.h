// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/hash.h"
#include "fuzz/fuzz_input.h"
#include "fuzz/manifest_state.h"

namespace lava::fuzzing {

/// Checkpoint metadata. Even first byte: the rest is the metadata. Odd: the rest is the payload,
/// with a correct header and checksum around it; bits 1 to 3 of the byte change the version.
inline std::string SealedMetadata(uint32_t version, Slice payload) {
  std::string out = "LAVACKPT";
  PutFixed32(&out, version);
  PutFixed32(&out, Crc32c(out));
  PutFixed64(&out, payload.size());
  out += payload;
  PutFixed64(&out, Hash64(out));
  return out;
}

/// Metadata that can be decoded must encode to metadata of the same state. Aborts otherwise;
/// returns 0.
inline int RunMetadataInput(const uint8_t* data, size_t size) {
  InputReader in(InputSlice(data, size));
  const uint8_t shape = in.Byte();
  const ExactCopy copy(shape % 2 == 0 ? std::string(in.rest())
                                      : SealedMetadata((shape >> 1 & 7) + 1, in.rest()));
  FileTable files;
  ManifestState state;
  const Status status = DecodeMetadata(copy.get(), &files, &state);
  if (!status.ok()) {
    CheckError("metadata", status, "checkpoint metadata");
    return 0;
  }
  if (shape % 2 == 1 && (shape >> 1 & 7) + 1 > int{kManifestFormatVersion})
    FuzzFailed("metadata", "metadata of a newer format was accepted");
  const std::string encoded = EncodeMetadata(state);
  FileTable again_files;
  ManifestState again;
  if (!DecodeMetadata(encoded, &again_files, &again).ok())
    FuzzFailed("metadata", "the encoded metadata cannot be decoded");
  if (EncodeMetadata(again) != encoded)
    FuzzFailed("metadata", "the state changes by being encoded");
  return 0;
}

inline std::vector<std::string> MetadataSeeds() {
  std::string payload;
  const ManifestState state = SomeState();
  EncodeEdit(SnapshotOf(state), &payload);
  std::string small;
  VersionEdit edit;
  edit.partition_bytes = 2;
  edit.registered.push_back({"t", 1, {}});
  EncodeEdit(edit, &small);
  return {'\1' + payload, '\1' + small, '\3' + small, '\0' + EncodeMetadata(state), "\1"};
}

}  // namespace lava::fuzzing

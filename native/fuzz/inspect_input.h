// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "base/checksum.h"
#include "base/coding.h"
#include "base/hash.h"
#include "fuzz/fuzz_input.h"
#include "fuzz/manifest_state.h"
#include "inspect/checkpoint.h"
#include "inspect/command_line.h"
#include "inspect/flink_metadata.h"
#include "inspect/flink_metadata_for_test.h"
#include "table/format.h"
#include "testing/mem_file_system.h"
#include "value/format.h"

namespace lava::fuzzing {

/// Data that lava-inspect reads from files of Flink, which have none of our checksums around them.
/// An input's first byte modulo 4 determines the rest:
///   0: Flink's _metadata, in which Lava's data is searched
///   1: a plugin's private file; 2: one without its checksum, which is added
///   3: a file's name with its length u8, then Flink's _metadata followed by a footer of a key
///      SST or, by the name's first bit, a value SST, whose checksum is corrected
/// Everything found must be inside the bytes, and everything that looks intact must be parsable.
inline constexpr char kInspectName[] = "/cp/chk-1/_metadata";

inline void CheckPrivateFile(Slice bytes) {
  inspect::LavaCheckpoint checkpoint;
  const ExactCopy copy(bytes);
  const Status status = inspect::ParseLavaCheckpoint(copy.get(), kInspectName, &checkpoint);
  if (!status.ok()) {
    CheckError("inspect", status, kInspectName);
    return;
  }
  if (bytes.size() < 44 || bytes.substr(40, checkpoint.metadata.size()) != checkpoint.metadata)
    FuzzFailed("inspect", "the metadata of a private file changed");
  // Each location takes 16 bytes in addition to its name.
  if (44 + checkpoint.metadata.size() + 16 * checkpoint.packed.size() > bytes.size())
    FuzzFailed("inspect", "a private file has more bytes in packs than possible");
}

inline void CheckEmbedded(Slice bytes) {
  using inspect::FileKind;
  const ExactCopy copy(bytes);
  for (const inspect::Embedded& found : inspect::FindEmbedded(copy.get())) {
    if (found.bytes == 0 || found.offset > bytes.size() ||
        found.bytes > bytes.size() - found.offset)
      FuzzFailed("inspect", "embedded data ends after the end of the file");
    const Slice part = bytes.substr(found.offset, found.bytes);
    if (found.kind == FileKind::kLavaCheckpoint) {
      CheckPrivateFile(part);
      continue;
    }
    // Its footer must also be valid for a reader of the embedded file.
    Status status = Status::InvalidArgument("of no kind");
    uint64_t unique_id = ~found.unique_id;
    const auto tail = [&](size_t most) {
      return part.substr(part.size() - std::min(part.size(), most));
    };
    if (found.kind == FileKind::kKeySst) {
      ksst::Footer footer;
      status = ksst::DecodeFooter("", part.size(), tail(ksst::kFooterBytes), &footer);
      unique_id = footer.unique_id;
    } else if (found.kind == FileKind::kValueSst) {
      vsst::Footer footer;
      status = vsst::DecodeFooter("", part.size(), tail(vsst::kFooterBytes), &footer);
      unique_id = footer.unique_id;
    }
    if (!status.ok() || unique_id != found.unique_id)
      FuzzFailed("inspect", "the footer of an embedded SST is not valid: " + status.ToString());
  }
}

inline void CheckFlinkMetadata(Slice bytes) {
  const ExactCopy copy(bytes);
  inspect::FlinkMetadata metadata;
  const Status status = inspect::ParseFlinkMetadata(copy.get(), kInspectName, &metadata);
  if (!status.ok()) return CheckError("inspect", status, kInspectName);
  for (const inspect::KeyedState& state : metadata.keyed)
    for (const inspect::HandleFile& file : state.files) {
      if (file.base.find('/') != std::string::npos)
        FuzzFailed("inspect", "the file of a handle is a path");
      if (file.base.empty() && file.offset + file.bytes > bytes.size())
        FuzzFailed("inspect", "the bytes of a handle end after the end of the file");
    }
}

inline void CheckUploaded(Slice bytes, const std::string& name) {
  const ExactCopy copy(bytes);
  inspect::UploadedFile uploaded;
  if (!inspect::FindUploaded(copy.get(), name, &uploaded)) return;
  if (uploaded.base.find('/') != std::string::npos)
    FuzzFailed("inspect", "the name of an uploaded file is a path");
  if (bytes.find(name) == Slice::npos || bytes.find(uploaded.base) == Slice::npos)
    FuzzFailed("inspect", "the names of an uploaded file have no offset");
}

inline void CheckProgram(Slice bytes) {
  testing::MemFileSystem files;
  for (const char* directory : {"/cp", "/cp/chk-1"})
    if (!files.CreateDirectory(directory).ok()) FuzzFailed("inspect", "no directory");
  if (!files.SetContent(kInspectName, std::string(bytes)).ok()) FuzzFailed("inspect", "no content");
  for (const char* command : {"summary", "verify"}) {
    std::ostringstream out, err;
    const int code = inspect::Run(&files, {command, "/cp/chk-1", "--json"}, out, err);
    const bool unverified = code == inspect::kNotVerified && command == std::string("verify");
    if (code != inspect::kFine && code != inspect::kFaultsFound && !unverified)
      FuzzFailed("inspect", "the program did not answer: " + err.str());
  }
  if (files.Paths() != std::vector<std::string>{kInspectName} ||
      *files.Content(kInspectName) != bytes)
    FuzzFailed("inspect", "the program changed a file");
}

/// Corrects the footer at the end: its checksum covers its position.
inline void SealEmbedded(bool values, std::string* bytes) {
  const size_t footer_bytes = values ? vsst::kPlainFooterBytes : ksst::kFooterBytes;
  if (bytes->size() < footer_bytes) return;
  char* footer = bytes->data() + bytes->size() - footer_bytes;
  const uint64_t offset = DecodeFixed64(footer) + DecodeFixed32(footer + 8) + kBlockTrailerBytes;
  if (values) EncodeFixed32(footer + footer_bytes - 24, static_cast<uint32_t>(footer_bytes));
  EncodeFixed64(footer + footer_bytes - 16, Hash64(Slice(footer, footer_bytes - 16), offset));
  EncodeFixed64(footer + footer_bytes - 8, values ? vsst::kMagic : ksst::kMagic);
}

struct InspectCase {
  uint8_t shape = 0;
  std::string bytes, name;
};

inline InspectCase InspectCaseOf(const uint8_t* data, size_t size) {
  InputReader in(InputSlice(data, size));
  InspectCase made;
  made.shape = in.Byte() % 4;
  made.name = "7-9.ksst";
  bool values = false;
  if (made.shape == 3) {
    const uint8_t length = in.Byte();
    values = (length & 1) != 0;
    made.name = in.Take(length);
  }
  made.bytes = in.rest();
  if (made.shape == 2) PutBigEndian(&made.bytes, Crc32c(made.bytes), 4);
  if (made.shape == 3) SealEmbedded(values, &made.bytes);
  return made;
}

/// Aborts when a rule is violated; otherwise returns 0.
inline int RunInspectInput(const uint8_t* data, size_t size) {
  const InspectCase made = InspectCaseOf(data, size);
  if (made.shape == 1 || made.shape == 2) CheckPrivateFile(made.bytes);
  CheckEmbedded(made.bytes);
  CheckFlinkMetadata(made.bytes);
  CheckUploaded(made.bytes, made.name);
  return 0;
}

/// The same, and the program itself must end with an answer. Only used by tests, because it is
/// slow.
inline int RunInspectProgramInput(const uint8_t* data, size_t size) {
  CheckProgram(InspectCaseOf(data, size).bytes);
  return RunInspectInput(data, size);
}

/// The plugin's private file around an engine's metadata, without its checksum.
inline std::string UnsealedPrivateFile(Slice metadata, uint32_t version = 1) {
  std::string bytes(inspect::kCheckpointMagic);
  for (const auto& [number, width] :
       {std::pair{version, 4u}, {1u, 4u}, {77u, 4u}, {99u, 4u}, {12u, 8u}, {0u, 4u}})
    PutBigEndian(&bytes, number, width);
  PutBigEndian(&bytes, metadata.size(), 4);
  bytes.append(metadata);
  if (version == 1) return bytes;
  std::string packs;
  PutBigEndian(&packs, 1, 4);
  packs += Slice("\0\4pack\0\0\0\2", 10);
  for (const Slice name : {Slice("\0\1a", 3), Slice("\0\2bc", 4)}) {
    packs += name;
    PutBigEndian(&packs, name.size(), 8);
    PutBigEndian(&packs, 1000, 8);
  }
  PutBigEndian(&bytes, packs.size(), 4);
  return bytes.append(packs);
}

/// The names of a file in Flink's _metadata, in each form of a handle.
inline std::string Handles(Slice name) {
  const auto put_text = [](Slice text, std::string* out) {
    PutBigEndian(out, text.size(), 2);
    out->append(text);
  };
  std::string out;
  put_text(name, &out);
  out += '\2';
  PutBigEndian(&out, 1000, 8);
  put_text("file:/cp/shared/8f6c-1", &out);
  put_text(name, &out);
  out += '\6';
  put_text("8f6c-1", &out);
  PutBigEndian(&out, 1000, 8);
  put_text(name, &out);
  out += '\1';
  put_text("a handle's name", &out);
  PutBigEndian(&out, 3, 4);
  return out + "abc";
}

inline std::vector<std::string> InspectSeeds() {
  VersionEdit edit;
  edit.partition_bytes = 2;
  edit.registered.push_back({"t", 1, {}});
  ManifestState small;
  if (!ApplyEdit(edit, &small).ok()) FuzzFailed("inspect", "a good state");
  const std::string description = UnsealedPrivateFile(EncodeMetadata(small));
  std::string sealed = description;
  PutBigEndian(&sealed, Crc32c(sealed), 4);
  std::string key_footer, value_footer;
  ksst::Footer footer;
  footer.properties = {20, 30};
  footer.top_index = {63, 24};
  ksst::EncodeFooter(footer, 100, &key_footer);
  vsst::EncodeFooter({{63, 24}, {20, 30}, 6}, 100, &value_footer);
  const std::string of_file(100, 'f');
  std::vector<std::string> seeds = {
      '\0' + ("Flink's own" + sealed + "between" + Handles("7-9.ksst")),
      '\1' + sealed,
      '\2' + description,
      '\2' + UnsealedPrivateFile(EncodeMetadata(SomeState())),
      "\3\4name" + Handles("name") + of_file + key_footer,
      "\3\5names" + Handles("names") + of_file + value_footer,
      '\0' + (of_file + key_footer + "between" + of_file + value_footer),
      '\2' + UnsealedPrivateFile(EncodeMetadata(small), 2)};
  seeds[0][0] = seeds[6][0] = '\0';
  for (const uint32_t version : {3, 6}) {
    inspect::FlinkMetadataBuilder metadata(version);
    const std::string stream(1, '\0');
    metadata.AddIncremental(stream, {});
    metadata.AddKeyGroups(12, stream);
    metadata.AddChangelog(stream);
    metadata.AddFlinksOwn(stream);
    seeds.push_back('\0' + metadata.Build());
    seeds.back()[0] = '\0';
  }
  return seeds;
}

}  // namespace lava::fuzzing

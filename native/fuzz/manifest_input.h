// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "base/coding.h"
#include "base/framing.h"
#include "fuzz/fuzz_input.h"
#include "fuzz/manifest_state.h"
#include "manifest/manifest.h"
#include "testing/mem_file_system.h"

namespace lava::fuzzing {

/// A directory with CURRENT and MANIFEST-1. An input's first byte determines them (bits 0 and 1;
/// bit 2: the edits are declared as synced; bit 3: all records are durable, otherwise the first
/// two):
///   0: the rest is the manifest;
///   1: edits (position u16, byte u8) of the payloads of a good manifest, with corrected checksums;
///   2: the rest is CURRENT, with a good manifest;
///   3: payloads of edits, each preceded by its length u16, as records with correct checksums
///      after a good header; with bit 4 set the first one is the header, with bit 5 the last one
///      CURRENT's.
/// For any files, recovery must end with a Status that names file and offset. A recovered manifest
/// must be writable, and recover to an equal state.
inline constexpr uint64_t kCurrentLogId = 0x4c41564143555252;
inline constexpr char kManifestHeader[] = "LAVAMANI\x01";

inline const std::vector<std::string>& GoodPayloads() {
  static const std::vector<std::string> payloads = [] {
    ManifestState state = SomeState();
    std::vector<VersionEdit> edits(3);
    edits[0].registered.push_back({"late", 44, {.kind = TableKind::kMap}});
    edits[0].Add(0, SomeFile(6, "a", "b"));
    edits[1].Remove(0, state.version->levels[0][1]);
    edits[1].Add(3, SomeFile(7, "a", "zz"));
    edits[2].dropped.push_back(44);
    edits[2].origins.push_back({5, 6});
    std::vector<std::string> made = {kManifestHeader, Encoded(state)};
    for (const VersionEdit& edit : edits) {
      if (!ApplyEdit(edit, &state).ok()) FuzzFailed("manifest", "a good edit");
      EncodeEdit(edit, &made.emplace_back());
    }
    return made;
  }();
  return payloads;
}

/// The two files of the directory under construction.
struct ManifestFiles {
  std::string manifest, current;

  /// The first payload is the header.
  void Frame(const std::vector<std::string>& payloads, uint64_t* durable_bytes, bool all) {
    FrameWriter writer(1);
    for (size_t i = 0; i < payloads.size(); ++i) {
      if (!writer.Append(i == 0 ? 1 : 2, payloads[i], &manifest).ok())
        FuzzFailed("manifest", "a good record");
      if (all || i < 2) *durable_bytes = manifest.size();
    }
  }
  void FrameCurrent(Slice payload) {
    FrameWriter writer(kCurrentLogId);
    if (!writer.Append(3, payload, &current).ok()) FuzzFailed("manifest", "a good record");
  }
};

inline std::vector<std::string> EditedPayloads(InputReader* in) {
  std::vector<std::string> payloads = GoodPayloads();
  size_t bytes = 0;
  for (const std::string& payload : payloads) bytes += payload.size();
  while (!in->done()) {
    size_t at = in->Short() % bytes;
    size_t i = 0;
    for (; at >= payloads[i].size(); ++i) at -= payloads[i].size();
    payloads[i][at] = static_cast<char>(in->Byte());
  }
  return payloads;
}

inline ManifestFiles FilesOf(InputReader* in) {
  const uint8_t shape = in->Byte();
  const int form = shape & 3;
  ManifestFiles files;
  uint64_t durable_bytes = 0;
  std::vector<std::string> payloads = GoodPayloads();
  std::string current;
  if (form == 1) payloads = EditedPayloads(in);
  if (form == 3) {
    payloads.resize((shape & 16) != 0 ? 0 : 1);
    while (!in->done()) {
      const uint32_t length = in->Short();
      payloads.emplace_back(in->Take(length));
    }
    if ((shape & 32) != 0 && !payloads.empty()) {
      current = payloads.back();
      payloads.pop_back();
    }
  }
  if (form == 0) {
    files.manifest = in->rest();
  } else {
    files.Frame(payloads, &durable_bytes, (shape & 8) != 0);
  }
  if (form == 2) {
    files.current = in->rest();
    return files;
  }
  if (current.empty()) {
    for (const uint64_t number : {uint64_t{1}, uint64_t{1}, durable_bytes})
      PutVarint64(&current, number);
    PutVarint64(&current, (shape & 4) != 0 ? 1 : 0);
  }
  files.FrameCurrent(current);
  return files;
}

/// Recovers, and writes edits like any instance. Null when the recovery fails.
inline std::unique_ptr<Manifest> RecoverManifest(const Manifest::Options& options) {
  Result<std::unique_ptr<Manifest>> manifest = Manifest::Recover(options);
  if (manifest.ok()) return std::move(manifest).value();
  const Status& status = manifest.status();
  // A missing file has no offset.
  if (status.IsCorruption() && status.message().find("which does not exist") != Slice::npos)
    return nullptr;
  CheckError("manifest", status, options.directory + "/");
  return nullptr;
}

inline void WriteOn(Manifest* manifest) {
  VersionEdit first, second;
  first.origins.push_back({8, 9});
  first.next_file_number = 1;
  const ManifestState& state = manifest->state();
  if (!state.tables.empty()) second.dropped.push_back(state.tables.begin()->first);
  for (uint32_t level = 0; level < kLevelCountMax; ++level)
    for (const KeyFileEntry& entry : state.version->levels[level]) second.Remove(level, entry);
  for (const VersionEdit* edit : {&first, &second}) {
    const Status status = manifest->LogAndApply(*edit);
    if (!status.ok())
      FuzzFailed("manifest", "a recovered manifest cannot be written to: " + status.ToString());
  }
}

/// Aborts when a rule is violated; otherwise returns 0.
inline int RunManifestInput(const uint8_t* data, size_t size) {
  InputReader in(InputSlice(data, size));
  ManifestFiles files = FilesOf(&in);
  testing::MemFileSystem file_system;
  if (!file_system.CreateDirectory("/m").ok() ||
      !file_system.SetContent("/m/CURRENT", std::move(files.current)).ok() ||
      !file_system.SetContent("/m/MANIFEST-1", std::move(files.manifest)).ok())
    FuzzFailed("manifest", "no files");
  Manifest::Options options{.file_system = &file_system, .directory = "/m"};
  std::unique_ptr<Manifest> manifest = RecoverManifest(options);
  if (manifest == nullptr) return 0;
  const std::string recovered = Encoded(manifest->state());
  if (!manifest->LogAndApply({}).ok())
    FuzzFailed("manifest", "a recovered manifest refused an empty edit");
  std::unique_ptr<Manifest> again = RecoverManifest(options);
  if (again == nullptr || Encoded(again->state()) != recovered)
    FuzzFailed("manifest", "a recovered and written manifest does not recover to an equal state");
  WriteOn(again.get());
  manifest = RecoverManifest(options);
  if (manifest == nullptr || Encoded(manifest->state()) != Encoded(again->state()))
    FuzzFailed("manifest", "an edit after the recovery was lost");
  return 0;
}

inline std::vector<std::string> ManifestSeeds() {
  ManifestFiles good;
  uint64_t durable_bytes = 0;
  good.Frame(GoodPayloads(), &durable_bytes, true);
  std::string current;
  for (const uint64_t number : {uint64_t{1}, uint64_t{1}, durable_bytes, uint64_t{0}})
    PutVarint64(&current, number);
  good.FrameCurrent(current);
  std::string edits, with_header_and_current;
  const auto put = [](Slice payload, std::string* out) {
    out->push_back(static_cast<char>(payload.size() & 0xff));
    out->push_back(static_cast<char>(payload.size() >> 8));
    out->append(payload);
  };
  for (size_t i = 1; i < GoodPayloads().size(); ++i) put(GoodPayloads()[i], &edits);
  put(GoodPayloads()[0], &with_header_and_current);
  put(GoodPayloads()[1], &with_header_and_current);
  put(current, &with_header_and_current);
  return {'\0' + good.manifest,
          '\4' + good.manifest.substr(0, good.manifest.size() - 5),
          "\1",
          std::string("\x01\x08\x00\x02", 4),  // a newer format in the header
          '\2' + good.current,
          '\3' + edits,
          '\7' + edits,
          '\x33' + with_header_and_current};
}

}  // namespace lava::fuzzing

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "manifest/version_edit.h"

namespace lava::fuzzing {

/// A state that uses every field of an edit: several levels, a file that occurs twice, all kinds of
/// tables, and blob files that are named, inherited, split and removed.
inline KeyFileEntry SomeFile(uint64_t number, std::string lower, std::string upper) {
  auto meta = std::make_shared<FileMeta>();
  meta->id = {{7, 9}, number};
  meta->bytes = 1000 + number;
  meta->crc32c = 0xdeadbeef;
  meta->records = 300;
  meta->deletes = number;
  meta->raw_bytes = 5000;
  meta->lower = lower;
  meta->upper = upper;
  meta->tables[42] = {10, 900};
  meta->tables[uint64_t{1} << 39] = {290, 4100};
  return {meta, std::move(lower), std::move(upper)};
}

inline std::shared_ptr<ValueFileMeta> SomeValueFile(uint64_t number, std::string lower,
                                                    std::string upper,
                                                    std::vector<BlobReference> blob_files) {
  auto meta = std::make_shared<ValueFileMeta>();
  meta->id = {{7, 9}, number};
  meta->bytes = 20000 + number;
  meta->crc32c = 0xfeedbeef;
  meta->records = 40;
  meta->raw_bytes = 14000;
  meta->stored_bytes = 9000;
  meta->lower = std::move(lower);
  meta->upper = std::move(upper);
  meta->blob_files = std::move(blob_files);
  return meta;
}

inline VersionEdit SomeSnapshot() {
  VersionEdit edit;
  edit.partition_bytes = 1;
  edit.next_file_number = 12;
  edit.origins = {{1, 2}, {3, 4}};
  edit.registered.push_back(
      {"list", 42, {.kind = TableKind::kList, .ttl_layout = TtlLayout::kList, .ttl_ms = 5}});
  edit.registered.push_back({"map", uint64_t{1} << 39, {.kind = TableKind::kMap}});
  edit.registered.push_back({"value", 43, {}});
  KeyFileEntry newest = SomeFile(3, "a", "z");
  newest.file->blob_references = {
      {{{7, 9}, 100}, 5, 5000}, {{{7, 9}, 101}, 7, 900}, {{{7, 9}, 105}, 1, 9}};
  edit.Add(0, newest);
  edit.Add(0, SomeFile(2, "b", "c"));
  const KeyFileEntry twice = SomeFile(1, "d", "m");
  twice.file->blob_references = {{{{7, 9}, 101}, 2, 300}};
  edit.AddNewValueFile(SomeValueFile(100, "a", "c", {{{{7, 9}, 100}, 9, 9000}}));
  edit.values_added.push_back(
      {SomeValueFile(110, "b", "y", {{{{7, 9}, 100}, 1, 10}, {{{7, 9}, 101}, 30, 5000}}),
       {{{{7, 9}, 101}, "b", "d"}, {{{7, 9}, 101}, "f", "y"}, {{{7, 9}, 100}, "c", "y"}}});
  edit.values_added.back().file->tables = {{42, {30, 4000, 55}}, {43, {10, 10000, 66}}};
  edit.blob_files_expired = {{{{7, 9}, 101}, 42, 60}, {{{7, 9}, 105}, 43, 70}};
  edit.Add(1, {twice.file, "d", "f"});
  edit.Add(1, SomeFile(5, "m", "x"));
  edit.Add(2, {twice.file, "g", "m"});
  return edit;
}

inline ManifestState SomeState() {
  ManifestState state;
  if (!ApplyEdit(SomeSnapshot(), &state).ok()) FuzzFailed("manifest", "a good state");
  return state;
}

/// The whole state as bytes, for comparisons.
inline std::string Encoded(const ManifestState& state) {
  std::string bytes;
  EncodeEdit(SnapshotOf(state), &bytes);
  return bytes;
}

}  // namespace lava::fuzzing

#pragma once

#include <memory>
#include <string>
#include <utility>

#include "fuzz/fuzz_input.h"
#include "manifest/version_edit.h"

namespace lava::fuzzing {

/// A state with all that an edit can say: several levels, a file that stands twice, all kinds of
/// tables.
inline FileEntry SomeFile(uint64_t number, std::string lower, std::string upper) {
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

inline VersionEdit SomeSnapshot() {
  VersionEdit edit;
  edit.partition_bytes = 1;
  edit.next_file_number = 12;
  edit.origins = {{1, 2}, {3, 4}};
  edit.registered.push_back(
      {"list", 42, {.kind = TableKind::kList, .ttl_layout = TtlLayout::kList, .ttl_ms = 5}});
  edit.registered.push_back({"map", uint64_t{1} << 39, {.kind = TableKind::kMap}});
  edit.registered.push_back({"value", 43, {}});
  edit.Add(0, SomeFile(3, "a", "z"));
  edit.Add(0, SomeFile(2, "b", "c"));
  const FileEntry twice = SomeFile(1, "d", "m");
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

/// All that a state says, as bytes to compare.
inline std::string Encoded(const ManifestState& state) {
  std::string bytes;
  EncodeEdit(SnapshotOf(state), &bytes);
  return bytes;
}

}  // namespace lava::fuzzing

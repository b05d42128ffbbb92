// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <memory>

#include "manifest/version_edit.h"

namespace lava {
namespace {

constexpr FileId Id(uint64_t number) { return {{0x0123456789abcdef, 5}, number}; }

std::shared_ptr<FileMeta> KeyFile() {
  auto file = std::make_shared<FileMeta>();
  file->id = Id(1);
  file->bytes = 1000;
  file->records = 10;
  file->raw_bytes = 900;
  file->lower = "a";
  file->upper = std::string(20, 'z');
  file->tables[42] = {10, 900};
  file->blob_references = {{Id(2), 3, 300}};
  return file;
}

std::shared_ptr<ValueFileMeta> ValueFile() {
  auto file = std::make_shared<ValueFileMeta>();
  file->id = Id(2);
  file->bytes = 500;
  file->records = 5;
  file->raw_bytes = file->stored_bytes = 480;
  file->lower = "b";
  file->upper = "c";
  file->blob_files = {{Id(2), 5, 480}};
  return file;
}

TEST(DebugString, ShowsLevelsFilesAndGarbageOfAVersion) {
  VersionEdit edit;
  const auto file = KeyFile();
  edit.Add(1, {file, "a", "k"});
  edit.AddNewValueFile(ValueFile());
  Version version;
  EXPECT_EQ(version.DebugString(), "empty\n");
  ASSERT_TRUE(ApplyToVersion(edit, &version).ok());
  EXPECT_EQ(
      version.DebugString(),
      "level 1, entries 1, bytes 1000, records 10\n"
      "  01234567-1.ksst [61, 6b) of [61, 7a7a7a7a7a7a7a7a7a7a7a7a..), bytes 1000, records "
      "10, blob files 1\n"
      "value files: 1, bytes 500, raw 480\n"
      "  01234567-2.vsst [62, 63), bytes 500, raw 480, records 5, level 0, group 0, garbage "
      "180 to 480, referenced 300, locations 1\n"
      "blob file 01234567-2, named by 1, records 0, raw 0, clipped records 3, clipped raw 300, in "
      "01234567-2 [62, 63)\n");
}

TEST(DebugString, ShowsWhatAnEditChanges) {
  VersionEdit edit;
  EXPECT_EQ(edit.DebugString(), "empty\n");
  const auto file = KeyFile();
  edit.Add(0, {file, file->lower, ""});
  edit.Remove(2, {file, "abc", file->upper});
  edit.AddNewValueFile(ValueFile());
  edit.values_removed.push_back(Id(9));
  edit.blob_files_expired.push_back({Id(9), 42, 77});
  edit.registered.push_back({"state", 42, {}});
  edit.dropped.push_back(43);
  edit.origins.push_back({0x0123456789abcdef, 5});
  edit.partition_bytes = 1;
  edit.next_file_number = 12;
  edit.wal_flushed = 6;
  edit.entries_released = 34;
  EXPECT_EQ(edit.DebugString(),
            "add to level 0: 01234567-1.ksst [61, end) of [61, 7a7a7a7a7a7a7a7a7a7a7a7a..), bytes "
            "1000, records 10, blob files 1\n"
            "remove from level 2: 01234567-1.ksst from 616263\n"
            "add value file: 01234567-2.vsst [62, 63), bytes 500, raw 480, records 5, level 0, "
            "group 0, for 01234567-2 [62, 63)\n"
            "remove value file: 01234567-9.vsst\n"
            "expire: blob file 01234567-9, table 42, to 77\n"
            "register: table 'state', id 42\n"
            "drop: table 43\n"
            "origin: 01234567\n"
            "partition bytes: 1\n"
            "next file number: 12\n"
            "log flushed to: 6\n"
            "entries released to: 34\n");
}

}  // namespace
}  // namespace lava

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "manifest/garbage.h"

#include <gtest/gtest.h>

#include "manifest/blob_files_for_test.h"

namespace lava {
namespace {

const ValueFileGarbage& Of(const std::vector<ValueFileGarbage>& all, uint64_t number) {
  static const ValueFileGarbage none;
  for (const ValueFileGarbage& garbage : all)
    if (garbage.file->id == IdOf(number)) return garbage;
  ADD_FAILURE() << "no value file " << number;
  return none;
}

/// The figures of one file: raw bytes, garbage min, estimate, max.
using Numbers = std::vector<uint64_t>;
Numbers GarbageIn(const BlobFilesForTest& blob_files, uint64_t number) {
  const ValueFileGarbage garbage = Of(GarbageOf(blob_files.version()), number);
  return {garbage.raw_bytes, garbage.garbage_min, garbage.garbage_estimate, garbage.garbage_max};
}

TEST(Garbage, NothingOfAFreshFile) {
  BlobFilesForTest blob_files;
  blob_files.Flush(WholeOf(KeyFileOf(1, {{IdOf(2), 4, 1000}})), {NewValueFile(2, 4, 1000)});
  EXPECT_EQ(GarbageIn(blob_files, 2), (Numbers{1000, 0, 0, 0}));
  EXPECT_EQ(Of(GarbageOf(blob_files.version()), 2).referenced, 1000u);
}

TEST(Garbage, IsExactForWhatWasNeverInheritedOrClipped) {
  BlobFilesForTest blob_files;
  const KeyFileEntry flushed = WholeOf(KeyFileOf(1, {{IdOf(2), 10, 1000}}));
  blob_files.Flush(flushed, {NewValueFile(2, 10, 1000)});
  // A compaction dropped 300 bytes and split the rest.
  VersionEdit compaction;
  compaction.Remove(0, flushed);
  compaction.Add(1, WholeOf(KeyFileOf(3, {{IdOf(2), 4, 450}}, "a", "k")));
  compaction.Add(1, WholeOf(KeyFileOf(4, {{IdOf(2), 3, 250}}, "k", "z")));
  blob_files.Apply(compaction);
  EXPECT_EQ(GarbageIn(blob_files, 2), (Numbers{1000, 300, 300, 300}));
  blob_files.RemoveKeys(1, blob_files.version().levels[1][1]);
  EXPECT_EQ(GarbageIn(blob_files, 2), (Numbers{1000, 550, 550, 550}));
  EXPECT_EQ(Of(GarbageOf(blob_files.version()), 2).referenced, 450u);
}

// Any part of a clipped key file may be visible.
TEST(Garbage, ClippedKeyFilesGiveBounds) {
  BlobFilesForTest blob_files;
  const auto clipped = KeyFileOf(1, {{IdOf(2), 6, 600}});
  blob_files.Flush({clipped, "a", "f"}, {NewValueFile(2, 10, 1000)});
  EXPECT_EQ(GarbageIn(blob_files, 2), (Numbers{1000, 400, 400, 1000}));
  blob_files.Flush(WholeOf(KeyFileOf(3, {{IdOf(2), 1, 100}})), {});
  EXPECT_EQ(GarbageIn(blob_files, 2), (Numbers{1000, 300, 300, 900}));
  // The other half came back: the references cannot exceed the whole file.
  VersionEdit edit;
  edit.Add(0, {clipped, "f", "z"});
  blob_files.Apply(edit);
  EXPECT_EQ(GarbageIn(blob_files, 2), (Numbers{1000, 0, 0, 900}));
}

// References to inherited values may be stale and reach nothing.
TEST(Garbage, InheritedValuesGiveBounds) {
  BlobFilesForTest blob_files;
  blob_files.Flush(WholeOf(KeyFileOf(1, {{IdOf(2), 10, 1000}})), {NewValueFile(2, 10, 1000)});
  blob_files.Replace({2}, {{ValueFileOf(5, "a", "z", {{IdOf(2), 7, 700}}), {{IdOf(2), "a", "z"}}}});
  EXPECT_EQ(GarbageIn(blob_files, 5), (Numbers{700, 0, 0, 700}))
      << "of the 1000 bytes that references name, 300 are stale";
  const KeyFileEntry old = blob_files.version().levels[0][0];
  VersionEdit compaction;
  compaction.Remove(0, old);
  compaction.Add(1, WholeOf(KeyFileOf(6, {{IdOf(2), 5, 500}})));
  blob_files.Apply(compaction);
  EXPECT_EQ(GarbageIn(blob_files, 5), (Numbers{700, 200, 200, 700}));
}

// The file that held a dead value is unknown. Garbage is divided in proportion to each file's
// bytes.
TEST(Garbage, OfABlobFileInSeveralFilesIsSharedOut) {
  BlobFilesForTest blob_files;
  const KeyFileEntry keys = WholeOf(KeyFileOf(1, {{IdOf(2), 10, 1000}}));
  blob_files.Flush(keys, {NewValueFile(2, 10, 1000)});
  blob_files.Replace({2}, {{ValueFileOf(5, "a", "k", {{IdOf(2), 6, 600}}), {{IdOf(2), "a", "k"}}},
                           {ValueFileOf(6, "k", "z", {{IdOf(2), 2, 200}}), {{IdOf(2), "k", "z"}}}});
  VersionEdit compaction;
  compaction.Remove(0, keys);
  compaction.Add(1, WholeOf(KeyFileOf(7, {{IdOf(2), 5, 400}})));
  blob_files.Apply(compaction);
  // 800 are held, 400 are dead: half of each file. All 400 may be in either file.
  EXPECT_EQ(GarbageIn(blob_files, 5), (Numbers{600, 200, 300, 600}));
  EXPECT_EQ(GarbageIn(blob_files, 6), (Numbers{200, 0, 100, 200}));
}

TEST(Garbage, OneFileTwiceForABlobFileCountsOnce) {
  BlobFilesForTest blob_files;
  const KeyFileEntry keys = WholeOf(KeyFileOf(1, {{IdOf(2), 10, 1000}}));
  blob_files.Flush(keys, {NewValueFile(2, 10, 1000)});
  const auto both = ValueFileOf(5, "a", "z", {{IdOf(2), 10, 1000}});
  blob_files.Replace({2}, {{both, {{IdOf(2), "a", "c"}, {IdOf(2), "x", "z"}}}});
  VersionEdit compaction;
  compaction.Remove(0, keys);
  compaction.Add(1, WholeOf(KeyFileOf(7, {{IdOf(2), 5, 400}})));
  blob_files.Apply(compaction);
  EXPECT_EQ(GarbageIn(blob_files, 5), (Numbers{1000, 600, 600, 1000}));
}

TEST(Garbage, ABlobFileThatNothingNamesIsGarbageWhole) {
  BlobFilesForTest blob_files;
  const KeyFileEntry first = WholeOf(KeyFileOf(1, {{IdOf(2), 3, 300}}));
  blob_files.Flush(first, {NewValueFile(2, 3, 300)});
  blob_files.Flush(WholeOf(KeyFileOf(3, {{IdOf(4), 1, 100}})), {NewValueFile(4, 1, 100)});
  const auto both = ValueFileOf(5, "a", "z", {{IdOf(2), 3, 300}, {IdOf(4), 1, 100}});
  blob_files.Replace({2, 4}, {{both, {{IdOf(2), "a", "z"}, {IdOf(4), "a", "z"}}}});
  EXPECT_EQ(GarbageIn(blob_files, 5), (Numbers{400, 0, 0, 400}));
  blob_files.RemoveKeys(0, first);
  EXPECT_EQ(GarbageIn(blob_files, 5), (Numbers{400, 300, 300, 400}));
}

// A value-log segment with list elements: its garbage is known as exactly as that of other files.
// An import or a collection may take a file for some of its keys only.
TEST(Garbage, ValuesThatNoLocationLeadsToAreGarbageWhole) {
  BlobFilesForTest blob_files;
  const KeyFileEntry named = WholeOf(KeyFileOf(1, {{IdOf(2), 4, 400}, {IdOf(3), 6, 600}}));
  blob_files.Flush(named, {NewValueFile(2, 4, 400), NewValueFile(3, 6, 600)});
  blob_files.Replace(
      {2, 3},
      {{ValueFileOf(5, "a", "z", {{IdOf(2), 4, 400}, {IdOf(3), 6, 600}}), {{IdOf(2), "a", "z"}}},
       {ValueFileOf(6, "a", "z", {{IdOf(3), 6, 600}}), {{IdOf(3), "a", "z"}}}});
  EXPECT_EQ(GarbageIn(blob_files, 5), (Numbers{1000, 600, 600, 1000}));
  EXPECT_EQ(GarbageIn(blob_files, 6), (Numbers{600, 0, 0, 600}));
  // Only the other blob file changes. It has no location in file 5.
  VersionEdit compaction;
  compaction.Remove(0, named);
  compaction.Add(1, WholeOf(KeyFileOf(7, {{IdOf(2), 4, 400}, {IdOf(3), 1, 100}})));
  blob_files.Apply(compaction);
  EXPECT_EQ(GarbageIn(blob_files, 5), (Numbers{1000, 600, 600, 1000}));
  EXPECT_EQ(GarbageIn(blob_files, 6), (Numbers{600, 500, 500, 600}));
}

TEST(Garbage, AFileMayHaveSeveralBlobFilesOfItsOwn) {
  BlobFilesForTest blob_files;
  blob_files.Flush(WholeOf(KeyFileOf(1, {{IdOf(5), 3, 300}, {IdOf(6), 1, 50}})),
                   {ValueFileOf(5, "a", "z", {{IdOf(5), 3, 300}, {IdOf(6), 2, 200}})});
  EXPECT_EQ(GarbageIn(blob_files, 5), (Numbers{500, 150, 150, 150}));
}

TEST(Garbage, OneEntryForEachValueFileInTheirOrder) {
  BlobFilesForTest blob_files;
  for (const uint64_t n : {6, 2, 4})
    blob_files.Flush(WholeOf(KeyFileOf(n + 1, {{IdOf(n), 1, 100}})), {NewValueFile(n, 1, 100)});
  blob_files.Flush(WholeOf(KeyFileOf(9, {{IdOf(8), 1, 100}})), {});  // a stale reference
  std::vector<uint64_t> numbers;
  for (const ValueFileGarbage& garbage : GarbageOf(blob_files.version()))
    numbers.push_back(garbage.file->id.number);
  EXPECT_EQ(numbers, (std::vector<uint64_t>{2, 4, 6}));
}

}  // namespace
}  // namespace lava

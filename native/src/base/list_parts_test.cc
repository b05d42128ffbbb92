// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/list_parts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/coding.h"
#include "base/lookup.h"
#include "lava/list_format.h"

namespace lava {
namespace {

ValueReference ReferenceTo(uint64_t number, uint64_t raw_bytes) {
  return {FileId{{1, 2}, number}, raw_bytes, std::nullopt};
}
std::string Element(std::string_view bytes) {
  std::string list;
  AppendListSegment(ListSegment::kElement, bytes, &list);
  return list;
}
std::string Reference(uint64_t number, uint64_t raw_bytes) {
  std::string list;
  AppendListReference(ReferenceTo(number, raw_bytes), &list);
  return list;
}

TEST(ListParts, SegmentsThatStandTogetherAreOnePart) {
  const std::string list =
      Element("a") + Element("bc") + Reference(7, 1000) + Reference(8, 50) + Element("");
  std::vector<ListPart> parts;
  ASSERT_TRUE(SplitList(list, &parts).ok());
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_FALSE(parts[0].is_reference);
  EXPECT_EQ(parts[0].bytes, Element("a") + Element("bc"));
  ValueReference reference;
  EXPECT_TRUE(ReferenceOf(parts[1], &reference).ok());
  EXPECT_EQ(reference, ReferenceTo(7, 1000));
  EXPECT_TRUE(ReferenceOf(parts[2], &reference).ok());
  EXPECT_EQ(reference, ReferenceTo(8, 50));
  EXPECT_EQ(parts[3].bytes, Element(""));
  EXPECT_TRUE(ReferenceOf(parts[3], &reference).IsCorruption());
  std::string again;
  for (const ListPart& part : parts) AppendListPart(part, &again);
  EXPECT_EQ(again, list);
  uint64_t bytes = 0;
  ASSERT_TRUE(WholeListBytes(list, &bytes).ok());
  EXPECT_EQ(bytes, Element("a").size() + Element("bc").size() + 1050 + Element("").size());
  ASSERT_TRUE(SplitList("", &parts).ok());
  EXPECT_TRUE(parts.empty());
}

TEST(ListParts, WhatIsMalformedIsCorruption) {
  const std::string list = Element("abc") + Reference(7, 1000);
  std::vector<ListPart> parts;
  uint64_t bytes = 0;
  const size_t whole = Element("abc").size();
  for (size_t length = 1; length < list.size(); ++length) {
    if (length == whole) continue;
    EXPECT_TRUE(SplitList(Slice(list).substr(0, length), &parts).IsCorruption()) << length;
    EXPECT_TRUE(WholeListBytes(Slice(list).substr(0, length), &bytes).IsCorruption()) << length;
  }
  std::string bad;
  AppendListSegment(ListSegment::kReference, "xyz", &bad);
  EXPECT_TRUE(WholeListBytes(bad, &bytes).IsCorruption());
  EXPECT_TRUE(WholeListBytes(Reference(1, UINT64_MAX) + Reference(2, 1), &bytes).IsCorruption())
      << "the sum does not fit in 64 bits";
}

TEST(ListParts, CallersWriteElementsOnly) {
  std::string joined;
  AppendListSegment(ListSegment::kJoined, "a,b", &joined);
  std::string too_long;
  AppendTooLongSegment(100, 10, &too_long);
  EXPECT_TRUE(IsWritableList(""));
  EXPECT_TRUE(IsWritableList(Element("a") + joined));
  EXPECT_FALSE(IsWritableList(Element("a") + too_long));
  EXPECT_FALSE(IsWritableList(Element("a") + Reference(1, 10)));
  EXPECT_FALSE(IsWritableList("x"));
  EXPECT_FALSE(IsWritableList(Element("abc").substr(0, 2)));
}

// Records are passed on newest first, in the order in which the runs are asked.
TEST(ListParts, ALookupFoldsPartsWithoutReadingThem) {
  Lookup lookup("k", 0);
  lookup.Tell(RecordKind::kAppend, Element("new"), nullptr);
  lookup.Tell(RecordKind::kAppendParts, Reference(8, 50), nullptr);
  lookup.Tell(RecordKind::kPutParts, Element("old") + Reference(7, 1000), nullptr);
  EXPECT_TRUE(lookup.done());
  lookup.Finish();
  EXPECT_TRUE(lookup.found());
  EXPECT_TRUE(lookup.has_parts());
  EXPECT_EQ(lookup.value(),
            Element("old") + Reference(7, 1000) + Reference(8, 50) + Element("new"));
  lookup.Resolve("whole", nullptr);
  EXPECT_FALSE(lookup.has_parts());
  EXPECT_EQ(lookup.value(), "whole");
}

TEST(ListParts, WhatIsElsewhereCountsForTheLimit) {
  Lookup lookup("k", 0);
  lookup.list_bytes_max = 1000;
  lookup.Tell(RecordKind::kAppend, Element("new"), nullptr);
  lookup.Tell(RecordKind::kPutParts, Reference(7, 999), nullptr);
  lookup.Finish();
  EXPECT_FALSE(lookup.has_parts());
  Slice value = lookup.value(), bytes;
  ListSegment kind;
  EXPECT_TRUE(NextListSegment(&value, &kind, &bytes).IsInvalidArgument());
}

// A single record may exceed the limit through its parts in value files alone.
TEST(ListParts, OneRecordMayBePastTheLimit) {
  for (const RecordKind kind : {RecordKind::kPutParts, RecordKind::kAppendParts}) {
    Lookup lookup("k", 0);
    lookup.list_bytes_max = 1000;
    lookup.Tell(kind, Reference(7, 600) + Reference(8, 401), nullptr);
    lookup.Finish();
    EXPECT_FALSE(lookup.has_parts());
    Slice value = lookup.value(), bytes;
    ListSegment segment;
    EXPECT_TRUE(NextListSegment(&value, &segment, &bytes).IsInvalidArgument());
  }
}

TEST(ListParts, ExistenceNeedsNone) {
  Lookup lookup("k", 0);
  lookup.existence_only = true;
  lookup.Tell(RecordKind::kAppendParts, "", nullptr);
  EXPECT_TRUE(lookup.done());
  lookup.Finish();
  EXPECT_TRUE(lookup.found());
}

void AddInPieces(Slice list, size_t piece_bytes, ListScan* scan) {
  for (; !list.empty(); list.remove_prefix(std::min(piece_bytes, list.size())))
    scan->Add(list.substr(0, piece_bytes));
}

TEST(ListScan, TellsWhatMayBeWrittenWhereverItIsCut) {
  std::string joined;
  AppendListSegment(ListSegment::kJoined, "a,b", &joined);
  const std::string list =
      Element("one") + Element("") + joined + Element(std::string(300, 'x')) + Element("last");
  for (size_t piece_bytes : {1, 2, 3, 7, 100, 1000}) {
    for (size_t end = 0; end <= list.size(); ++end) {
      ListScan scan;
      AddInPieces(Slice(list).substr(0, end), piece_bytes, &scan);
      EXPECT_EQ(scan.is_writable(), IsWritableList(Slice(list).substr(0, end))) << end;
    }
    for (const std::string& wrong :
         {list + Reference(7, 10), Reference(7, 10), std::string(10, '\xff'),
          std::string(9, '\xff') + '\x01', std::string(9, '\xff') + '\x02', std::string("\x80")}) {
      ListScan scan;
      AddInPieces(wrong, piece_bytes, &scan);
      EXPECT_FALSE(scan.is_writable());
      EXPECT_FALSE(IsWritableList(wrong));
    }
  }
}

TEST(ListScan, FindsTheNewestElement) {
  const auto stamped = [](int64_t written) {
    std::string element;
    PutBigEndian(&element, static_cast<uint64_t>(written), 8);
    return Element(element + "rest");
  };
  for (size_t piece_bytes : {1, 3, 8, 11, 1000}) {
    const auto newest = [&](const std::string& list) {
      ListScan scan;
      AddInPieces(list, piece_bytes, &scan);
      EXPECT_TRUE(scan.is_writable());
      return scan.newest();
    };
    EXPECT_EQ(newest(stamped(5) + stamped(9) + stamped(7)), 9u);
    EXPECT_EQ(newest(stamped(-5) + stamped(-9)), static_cast<uint64_t>(-5));
    EXPECT_EQ(newest(stamped(5) + Element("short") + stamped(7)), std::nullopt);
    EXPECT_EQ(newest(stamped(5) + Element("")), std::nullopt);
    std::string joined;
    AppendListSegment(ListSegment::kJoined, "12345678,12345678", &joined);
    EXPECT_EQ(newest(stamped(5) + joined), std::nullopt);
    EXPECT_EQ(newest(""), std::nullopt);
  }
}

}  // namespace
}  // namespace lava

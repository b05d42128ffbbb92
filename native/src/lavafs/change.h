// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lava/slice.h"
#include "lava/status.h"
#include "lavafs/format.h"

namespace lava::lavafs {

/// Adjacent extents.
struct ExtentRange {
  uint32_t first = 0, count = 0;
  friend bool operator==(const ExtentRange&, const ExtentRange&) = default;
};

/// One change of a volume's metadata, as the journal stores it. Numbers of inodes and directories
/// are used again once their file or directory is gone.
struct Change {
  enum class Type : uint8_t {
    kMakeDirectory = 1,    // directory, name
    kRemoveDirectory = 2,  // directory; it is empty
    kCreate = 3,           // inode, directory, name: a new empty file; replaces one of that name
    kLink = 4,             // inode, directory, name: another name, which was free
    kUnlink = 5,           // directory, name; the file goes with its last name
    kRename = 6,           // directory, name, to_directory, to_name, which is replaced
    kExtents = 7,          // inode, ranges: appended to the file's extents
    kSize = 8,             // inode, size, open_ended
    kRestore = 9,  // inode, size, open_ended, ranges: a whole file, in a checkpoint; its names
                   // follow as kLink
    kJump = 10,    // extent: the journal continues there, after this transaction
    kResume = 11,  // start: as kJump, with the next sequence and predecessor
  };
  Type type = Type::kMakeDirectory;
  uint32_t inode = 0;
  uint32_t directory = 0, to_directory = 0;
  Slice name = {}, to_name = {};  // of files; `name` also of directories
  uint64_t size = 0;
  /// The file may contain more than `size` bytes, up to the end of its extents; readers find the
  /// end.
  bool open_ended = false;
  std::vector<ExtentRange> ranges = {};
  uint32_t extent = 0;
  JournalStart start = {};
};

/// Most ranges of one change; longer lists become several changes.
inline constexpr size_t kRangesMax = 256;
/// Upper bound of an encoded change.
inline constexpr size_t kChangeBytesMax = 16 + 2 * (5 + kDirectoryNameBytesMax);

void EncodeChange(const Change& change, std::string* out);
/// Takes a change off the front of *in, from which its slices borrow. Errors: Corruption that names
/// the change. Numbers and names are within their bounds, but need not exist.
Result<Change> DecodeChange(Slice* in);
/// A change's name in messages, such as "link".
Slice NameOf(Change::Type type);
/// Whether a file may have this name: 1 to kNameBytesMax bytes, no '/', no zero byte.
bool IsFileName(Slice name);
bool IsDirectoryName(Slice name);

}  // namespace lava::lavafs

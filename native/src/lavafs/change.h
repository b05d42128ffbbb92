#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lava/slice.h"
#include "lava/status.h"
#include "lavafs/format.h"

namespace lava::lavafs {

/// Extents that stand next to each other.
struct ExtentRun {
  uint32_t first = 0, count = 0;
  friend bool operator==(const ExtentRun&, const ExtentRun&) = default;
};

/// One change of a volume's metadata, as the journal keeps it. Inodes and directories are numbers
/// that are used again once what they named is gone.
struct Change {
  enum class Type : uint8_t {
    kMakeDirectory = 1,    // directory, name
    kRemoveDirectory = 2,  // directory; it is empty
    kCreate = 3,           // inode, directory, name: a new empty file, in place of one of that name
    kLink = 4,             // inode, directory, name: one more name, which was free
    kUnlink = 5,           // directory, name; the file goes with its last name
    kRename = 6,           // directory, name, to_directory, to_name, which is replaced
    kExtents = 7,          // inode, runs: behind those it has
    kSize = 8,             // inode, size, open_ended
    kRestore = 9,  // inode, size, open_ended, runs: a whole file, in a checkpoint; its names
                   // follow as kLink
    kJump = 10,    // extent: the journal goes on there, after this transaction
    kResume = 11,  // start: as kJump, and what the next transaction says of itself
  };
  Type type = Type::kMakeDirectory;
  uint32_t inode = 0;
  uint32_t directory = 0, to_directory = 0;
  Slice name = {}, to_name = {};  // of files; a directory's is name
  uint64_t size = 0;
  /// Contents may go on behind size, up to the end of the extents: whoever reads finds the end.
  bool open_ended = false;
  std::vector<ExtentRun> runs = {};
  uint32_t extent = 0;
  JournalStart start = {};
};

/// So many runs are in a change at most: longer lists become several.
inline constexpr size_t kRunsMax = 256;
/// No encoded change is longer.
inline constexpr size_t kChangeBytesMax = 16 + 2 * (5 + kDirectoryNameBytesMax);

void EncodeChange(const Change& change, std::string* out);
/// Takes a change off the front; its slices borrow from *in. Errors: Corruption that says which
/// change it was; numbers and names are within their bounds, but not looked up yet.
Result<Change> DecodeChange(Slice* in);
/// "link" and so on.
Slice NameOf(Change::Type type);
/// Whether a file may be called so: 1 to kNameBytesMax bytes, no '/', no zero byte.
bool IsFileName(Slice name);
bool IsDirectoryName(Slice name);

}  // namespace lava::lavafs

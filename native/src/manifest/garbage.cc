#include "manifest/garbage.h"

#include <algorithm>
#include <set>

#include "manifest/births.h"

namespace lava {
namespace {

// One birth, summed over the files that hold its values. Raw bytes.
struct BirthView {
  uint64_t held = 0;            // in all files that have a place for it
  uint64_t referenced = 0;      // upper bound
  uint64_t referenced_min = 0;  // lower bound: without clipped entries
  bool inherited = false;       // the birth is not solely in the file where it was born
};

uint64_t HeldBy(const ValueFileMeta& file, const FileId& birth) {
  const auto it =
      std::lower_bound(file.births.begin(), file.births.end(), birth,
                       [](const BirthShare& share, const FileId& id) { return share.birth < id; });
  return it != file.births.end() && it->birth == birth ? it->raw_bytes : 0;
}

BirthView ViewOf(const FileId& id, const Birth& birth) {
  BirthView view;
  std::set<const ValueFileMeta*> files;
  for (const Placement& place : birth.places)
    if (files.insert(place.file.get()).second) view.held += HeldBy(*place.file, id);
  view.referenced = std::min(view.held, birth.raw_bytes + birth.clipped_raw_bytes);
  view.referenced_min = std::min(view.held, birth.raw_bytes);
  view.inherited = files.size() != 1 || !IsBornIn(id, (*files.begin())->id);
  return view;
}

uint64_t Share(uint64_t part, uint64_t of, uint64_t whole) {
  if (whole == 0) return 0;
  return static_cast<uint64_t>(static_cast<double>(part) / static_cast<double>(whole) *
                               static_cast<double>(of));
}

}  // namespace

ValueGarbage GarbageOf(const Version& version, const ValueFileMeta& file) {
  ValueGarbage garbage;
  for (const BirthShare& share : file.births) {
    const auto birth = version.births.find(share.birth);
    if (birth == version.births.end()) {  // no key file names the birth any more
      garbage.min += share.raw_bytes;
      garbage.max += share.raw_bytes;
      garbage.estimate += share.raw_bytes;
      continue;
    }
    const BirthView view = ViewOf(share.birth, *birth->second);
    const uint64_t dead = view.held - view.referenced;
    garbage.referenced += view.referenced;
    garbage.min += share.raw_bytes - std::min(share.raw_bytes, view.referenced);
    // References to inherited values may be stale and reach nothing.
    garbage.max += view.inherited
                       ? share.raw_bytes
                       : share.raw_bytes - std::min(share.raw_bytes, view.referenced_min);
    garbage.estimate += std::min(share.raw_bytes, Share(share.raw_bytes, dead, view.held));
  }
  return garbage;
}

std::vector<ValueFileGarbage> GarbageOf(const Version& version) {
  std::vector<ValueFileGarbage> out;
  out.reserve(version.value_files.size());
  for (const auto& [id, entry] : version.value_files)
    out.push_back({entry.file, entry.file->raw_bytes, entry.garbage.min, entry.garbage.max,
                   entry.garbage.estimate, entry.garbage.referenced});
  return out;
}

}  // namespace lava

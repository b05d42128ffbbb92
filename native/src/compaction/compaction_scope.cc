#include "compaction/compaction_scope.h"

#include <algorithm>

namespace lava {
namespace {

// [lower, upper) of all inputs; an empty upper bound means no end.
struct Range {
  Slice lower, upper;
};

Range RangeOf(const CompactionInput& input) {
  Range range;
  bool first = true;
  for (const CompactionInput::Level& level : input.inputs) {
    for (const FileEntry& entry : level.entries) {
      const bool ends = first || !range.upper.empty();
      range.lower = first ? Slice(entry.lower) : std::min<Slice>(range.lower, entry.lower);
      if (ends)
        range.upper = entry.upper.empty() ? Slice() : std::max<Slice>(range.upper, entry.upper);
      first = false;
    }
  }
  return range;
}

bool Overlaps(const FileEntry& entry, const Range& range) {
  return (entry.upper.empty() || range.lower < entry.upper) &&
         (range.upper.empty() || entry.lower < range.upper);
}

// Lists: their parts may have to be joined.
bool HoldsLists(const ValueFileMeta& file, const std::map<uint64_t, TableOptions>& tables) {
  return std::any_of(file.tables.begin(), file.tables.end(), [&](const auto& share) {
    const auto table = tables.find(share.first);
    return table != tables.end() && table->second.kind == TableKind::kList;
  });
}

// The part of the birth that the compaction needs; null if there is none.
std::shared_ptr<const Birth> InScope(const Birth& birth, const CompactionInput& input) {
  auto part = std::make_shared<Birth>();
  part->expired_to_ms = birth.expired_to_ms;
  std::copy_if(birth.places.begin(), birth.places.end(), std::back_inserter(part->places),
               [&](const Placement& place) {
                 return input.merged_values.contains(place.file.get()) ||
                        HoldsLists(*place.file, input.tables);
               });
  return part->expired_to_ms.empty() && part->places.empty() ? nullptr : part;
}

}  // namespace

std::shared_ptr<const Version> ScopeOf(const CompactionInput& input) {
  auto scope = std::make_shared<Version>();
  const Range range = RangeOf(input);
  for (uint32_t n = 0; n < kLevelCountMax; ++n) {
    const FileList& level = input.version->levels[n];
    auto begin = level.begin(), end = level.end();
    if (n > 0) {
      begin = level.PartitionPoint([&](const FileEntry& entry) {
        return !entry.upper.empty() && Slice(entry.upper) <= range.lower;
      });
      end = begin;
      while (end != level.end() && Overlaps(*end, range)) ++end;
    }
    for (; begin != end; ++begin)
      if (Overlaps(*begin, range)) scope->levels[n].push_back(*begin);
  }
  for (const CompactionInput::Level& level : input.inputs) {
    for (const FileEntry& entry : level.entries) {
      for (const BirthShare& share : entry.file->births) {
        const auto known = input.version->births.find(share.birth);
        if (known == input.version->births.end() || scope->births.contains(share.birth)) continue;
        if (std::shared_ptr<const Birth> birth = InScope(*known->second, input))
          scope->births.emplace(share.birth, std::move(birth));
      }
    }
  }
  return scope;
}

}  // namespace lava

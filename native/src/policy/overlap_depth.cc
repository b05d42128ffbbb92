#include "policy/overlap_depth.h"

#include <algorithm>

namespace lava {

uint32_t OverlapDepth(const std::vector<KeyRange>& ranges) {
  std::vector<Slice> begins, ends;
  for (const KeyRange& range : ranges) {
    begins.push_back(range.lower);
    if (!range.upper.empty()) ends.push_back(range.upper);
  }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  size_t ended = 0, deepest = 0;
  for (size_t begun = 1; begun <= begins.size(); ++begun) {
    while (ended < ends.size() && ends[ended] <= begins[begun - 1]) ++ended;
    deepest = std::max(deepest, begun - ended);
  }
  return static_cast<uint32_t>(deepest);
}

}  // namespace lava

#include "policy/value_merge_picker.h"

#include <algorithm>

namespace lava {
namespace {

// References that the compaction does not reach keep what they name alive: so many may be left.
constexpr uint64_t kLeftPercentMax = 10;
// A compaction reads and compresses again all that lives; the collector looks each key up and
// copies. Above so many bytes a value the lookup is the cheaper.
constexpr uint64_t kMeanBytesMax = 1024;

bool GoesWithInputs(const MergeableFile& file, const ValueMergeOptions& options) {
  if (options.garbage_percent > 100 || file.garbage == 0) return false;
  if (file.raw_bytes / kMeanBytesMax > file.records) return false;
  const auto percent = [](uint64_t part) { return static_cast<double>(part) * 100; };
  const uint32_t worth = file.in_checkpoint ? options.checkpoint_percent : options.garbage_percent;
  return percent(file.garbage) >= static_cast<double>(file.raw_bytes) * worth &&
         percent(file.reached) >= static_cast<double>(file.referenced) * (100 - kLeftPercentMax);
}

}  // namespace

std::vector<size_t> PickValueMerge(const std::vector<MergeableFile>& files,
                                   const ValueMergeOptions& options) {
  std::vector<size_t> picked, dirty, tangled;
  std::vector<KeyRange> ranges;
  for (const MergeableFile& file : files) ranges.push_back(file.range);
  const std::vector<uint32_t> overlaps = OverlapCounts(ranges);
  uint64_t bytes = 0, order_bytes = 0;
  const auto fits = [&](const MergeableFile& file) {
    return file.reached <= options.bytes_max - std::min(bytes, options.bytes_max);
  };
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i].busy || files[i].reached == 0) continue;
    if (GoesWithInputs(files[i], options)) {
      dirty.push_back(i);
    } else if (options.sorted_runs_max > 0 && overlaps[i] >= options.sorted_runs_max) {
      tangled.push_back(i);
    }
  }
  const auto garbage_share = [&](size_t i) {
    return static_cast<double>(files[i].garbage) / static_cast<double>(files[i].raw_bytes);
  };
  std::stable_sort(dirty.begin(), dirty.end(),
                   [&](size_t a, size_t b) { return garbage_share(a) > garbage_share(b); });
  for (const size_t i : dirty) {
    if (!fits(files[i])) continue;
    bytes += files[i].reached;
    picked.push_back(i);
  }
  std::stable_sort(tangled.begin(), tangled.end(),
                   [&](size_t a, size_t b) { return overlaps[a] > overlaps[b]; });
  for (const size_t i : tangled) {
    if (!fits(files[i]) || files[i].reached > options.order_bytes_max - order_bytes) continue;
    bytes += files[i].reached;
    order_bytes += files[i].reached;
    picked.push_back(i);
  }
  std::sort(picked.begin(), picked.end());
  return picked;
}

}  // namespace lava

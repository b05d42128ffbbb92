// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/history/report.h"

#include <algorithm>
#include <iostream>
#include <vector>

#include "tests/history/shrink.h"
#include "tests/history/store.h"

namespace lava::testing {
namespace {

std::string Shortened(const std::string& words) {
  constexpr size_t kMax = 200;
  const bool readable =
      std::all_of(words.begin(), words.end(), [](char c) { return c >= ' ' && c <= '~'; });
  const std::string text = readable ? words : Hex(words);
  return text.size() <= kMax ? text : text.substr(0, kMax) + "...";
}

void Print(const Difference& difference, const std::string& where) {
  std::cout << "  at " << where << "\n  expected " << Shortened(difference.expected)
            << "\n  found    " << Shortened(difference.found) << std::endl;
}

}  // namespace

size_t ReportDifference(const History& history, const Difference& first, const PlayHistory& play,
                        const std::function<std::string(const std::string& keep)>& command,
                        size_t attempts_max) {
  Print(first, "operation " + std::to_string(first.index) + ", before it was shrunk,");
  const auto fails = [&](const std::vector<size_t>& kept) {
    return play(Keep(history, kept)).has_value();
  };
  const std::vector<size_t> kept = Shrink(history.size(), fails, attempts_max);
  const History part = Keep(history, kept);
  const auto difference = play(part);
  for (size_t i = 0; i < part.size(); ++i)
    std::cout << "  " << kept[i] << ": " << Describe(part[i]) << std::endl;
  if (difference.has_value()) {
    Print(*difference, difference->index < part.size()
                           ? "operation " + std::to_string(kept[difference->index])
                           : "the end");
  }
  std::cout << "Again: " << command(RangesOf(kept)) << std::flush;
  return part.size();
}

}  // namespace lava::testing

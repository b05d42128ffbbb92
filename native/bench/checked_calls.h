// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "lava/status.h"

namespace lava::bench {

/// Ends the program after an error, because a benchmark cannot continue.
inline void Check(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

/// The result's value.
template <typename T>
T Must(Result<T> result) {
  Check(result.status());
  return std::move(result).value();
}

/// Repeats call while it is Busy.
template <typename Call>
void UntilDone(Call call) {
  Status status = call();
  while (status.IsBusy()) status = call();
  Check(status);
}

}  // namespace lava::bench

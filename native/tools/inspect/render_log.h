// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "inspect/report.h"

namespace lava::inspect {

/// The answer of `log` as text, without faults.
void RenderLog(const Json& report, std::string* out);

}  // namespace lava::inspect

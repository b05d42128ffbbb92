// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "inspect/report.h"

namespace lava::inspect {

/// The text of `host`: a page for each process.
void RenderHost(const Json& report, std::string* out);

}  // namespace lava::inspect

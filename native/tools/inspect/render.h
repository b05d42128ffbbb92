// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "inspect/report.h"

namespace lava::inspect {

/// A subcommand's answer as text.
std::string Render(const Json& report);

}  // namespace lava::inspect

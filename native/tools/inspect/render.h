#pragma once

#include <string>

#include "inspect/report.h"

namespace lava::inspect {

/// A subcommand's answer as text.
std::string Render(const Json& report);

}  // namespace lava::inspect

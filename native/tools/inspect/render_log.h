#pragma once

#include <string>

#include "inspect/report.h"

namespace lava::inspect {

/// What `log` answered as text for people, faults apart.
void RenderLog(const Json& report, std::string* out);

}  // namespace lava::inspect

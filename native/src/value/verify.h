#pragma once

#include "value/value_head.h"

namespace lava::vsst {

/// ValueReader::VerifyAll.
Status VerifyValueFile(const ValueHead& head);

}  // namespace lava::vsst

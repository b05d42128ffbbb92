#pragma once

#include "value/value_head.h"

namespace lava::vsst {

/// ValueReader::VerifyAll.
Status VerifyValueFile(const ValueHead& head);
/// The same of a value log.
Status VerifyValueLog(const ValueHead& head);

}  // namespace lava::vsst

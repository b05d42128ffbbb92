// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "value/value_head.h"

namespace lava::vsst {

/// ValueReader::VerifyAll() of a sorted value file.
Status VerifyValueFile(const ValueHead& head);
/// ValueReader::VerifyAll() of a value log.
Status VerifyValueLog(const ValueHead& head);

}  // namespace lava::vsst

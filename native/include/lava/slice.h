// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

namespace lava {

/// A borrowed sequence of bytes. Keys are compared as unsigned bytes, as std::string_view does.
/// Ownership:  none; the bytes must outlive every use of the slice.
using Slice = std::string_view;

}  // namespace lava

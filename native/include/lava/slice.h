#pragma once

#include <string_view>

namespace lava {

/// A borrowed run of bytes. Keys and values are bytes, compared as unsigned bytes, which is what
/// std::string_view does.
/// Ownership:  none; the bytes must outlive every use of the slice.
using Slice = std::string_view;

}  // namespace lava

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "lava/status.h"

namespace lava::fs {

/// The Status for a failed system call: NotFound for ENOENT, NoSpace for a full device or quota
/// (the message names the directory), otherwise IOError.
Status PosixError(std::string_view operation, const std::string& path, int error);

/// The directory part of a path; "." when it has none.
std::string DirectoryOf(const std::string& path);

}  // namespace lava::fs

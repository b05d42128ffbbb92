// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "base/file_id.h"

#include <cinttypes>
#include <cstdio>
#include <string>

namespace lava {

std::string Origin::ToString() const {
  char buffer[33];
  std::snprintf(buffer, sizeof(buffer), "%016" PRIx64 "%016" PRIx64, high, low);
  return std::string(buffer, 32);
}

std::string FileId::FileName() const {
  return origin.ToString() + "-" + std::to_string(number) + ".ksst";
}

std::string FileId::ValueFileName() const {
  return origin.ToString() + "-" + std::to_string(number) + ".vsst";
}

}  // namespace lava

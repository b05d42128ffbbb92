// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lava/status.h"

namespace lava::inspect {

/// The result of every subcommand. Text is generated from it, so that both agree.
using Json = nlohmann::ordered_json;

/// A damaged or unreadable file.
struct Fault {
  std::string path;
  std::optional<uint64_t> offset;
  std::string code;  // Status's name, or "Missing"
  std::string what;
};
/// The offset is taken from the message, in the format of Lava's messages.
Fault FaultOf(const std::string& path, const Status& status);
Json ToJson(const Fault& fault);
Json ToJson(const std::vector<Fault>& faults);

/// How much of users' data may be shown.
struct Show {
  bool keys = false, values = false;
};

}  // namespace lava::inspect

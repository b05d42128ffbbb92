#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lava/status.h"

namespace lava::inspect {

/// What every subcommand makes; text is written from it, so that both say the same.
using Json = nlohmann::ordered_json;

/// Something that is not as it was written, or could not be read.
struct Fault {
  std::string path;
  std::optional<uint64_t> offset;
  std::string code;  // Status's name, or "Missing"
  std::string what;
};
/// offset comes out of the message, as Lava's messages name it.
Fault FaultOf(const std::string& path, const Status& status);
Json ToJson(const Fault& fault);
Json ToJson(const std::vector<Fault>& faults);

/// How much of users' data may be shown.
struct Show {
  bool keys = false, values = false;
};

}  // namespace lava::inspect

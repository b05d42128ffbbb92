// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/report.h"

#include "inspect/text.h"

namespace lava::inspect {

Fault FaultOf(const std::string& path, const Status& status) {
  return {path, OffsetIn(status.message()), std::string(CodeName(status.code())),
          std::string(status.message())};
}

Json ToJson(const Fault& fault) {
  Json json;
  json["path"] = fault.path;
  json["offset"] = fault.offset ? Json(*fault.offset) : Json();
  json["code"] = fault.code;
  json["what"] = fault.what;
  return json;
}

Json ToJson(const std::vector<Fault>& faults) {
  Json json = Json::array();
  for (const Fault& fault : faults) json.push_back(ToJson(fault));
  return json;
}

}  // namespace lava::inspect

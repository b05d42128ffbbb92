// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/job_plans.h"

#include "lava/options.h"
#include "policy/collection_effort.h"
#include "policy/space_limits.h"

namespace lava {

CollectionEffort EffortOf(const DBOptions& options, const PlanInputs& inputs, bool compacting) {
  const SpacePressure& pressure = inputs.pressure;
  return JudgeCollectionEffort({.garbage_percent = options.collection_garbage_percent,
                                .fullness = inputs.disk_full ? 1 : pressure.fullness,
                                .allowed_percent = pressure.bytes ? 0 : pressure.garbage_percent,
                                .jobs_max = inputs.collection_jobs_max,
                                .upload_cost_percent = options.collection_upload_cost_percent,
                                .last_resort = (pressure.stop || inputs.disk_full) && !compacting});
}

}  // namespace lava

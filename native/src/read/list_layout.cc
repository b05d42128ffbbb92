// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "read/list_layout.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/list_parts.h"
#include "lava/options.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "manifest/version.h"
#include "read/value_fetch.h"

namespace lava {

Status ListLayout::Read(Slice list) {
  LAVA_RETURN_IF_ERROR(SplitList(list, &split_));
  parts_.clear();
  bytes_ = 0;
  bool overflows = false;
  for (const ListPart& part : split_) {
    Part& added = parts_.emplace_back();
    if (part.is_reference)
      LAVA_RETURN_IF_ERROR(ReferenceOf(part, &added.reference.emplace()));
    else
      added.bytes = part.bytes;
    overflows |= __builtin_add_overflow(bytes_, added.raw_bytes(), &bytes_);
  }
  // Checked before memory is allocated. Folding stops at the limit, so only forged lists fail here.
  if (overflows || bytes_ > kListBytesMax)
    return Status::Corruption("a list's references speak of " + std::to_string(bytes_) +
                              " bytes, more than a list may have: restore from a checkpoint");
  return Status::OK();
}

void ListLayout::Place(Slice key, char* to, uint64_t offset, ValueFetch* fetch,
                       std::vector<Logged>* logged) const {
  for (const Part& part : parts_) {
    Place(part, key, to, offset, fetch, logged);
    offset += part.raw_bytes();
  }
}

void ListLayout::Place(const Part& part, Slice key, char* to, uint64_t offset, ValueFetch* fetch,
                       std::vector<Logged>* logged) {
  if (part.reference && part.reference->is_logged())
    logged->push_back({*part.reference, offset});
  else if (part.reference)
    fetch->Add(key, *part.reference, offset);
  else
    std::copy(part.bytes.begin(), part.bytes.end(), to + offset);
}

Status ListLayout::Fetch(const Version& version, Slice key, std::string* whole,
                         std::vector<Logged>* logged) const {
  ValueFetch fetch(version);
  for (const Part& part : parts_)
    if (part.reference) LAVA_RETURN_IF_ERROR(fetch.CheckSize(*part.reference));
  whole->resize(bytes_);
  Place(key, whole->data(), 0, &fetch, logged);
  return fetch.Run(whole->data());
}

}  // namespace lava

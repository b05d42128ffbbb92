// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "db/read_logged.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/file_id.h"
#include "base/value_reference.h"
#include "db/read_view.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "memtable/memtable.h"
#include "read/list_layout.h"
#include "value_log/value_log_segment.h"

namespace lava {
namespace {

std::shared_ptr<const ValueLogSegment> LogSegmentOf(const MemTable& table,
                                                    const FileId& blob_file) {
  const auto segments = std::static_pointer_cast<const ValueLogSegments>(table.attachment());
  return segments != nullptr ? segments->Of(blob_file) : nullptr;
}

}  // namespace

std::shared_ptr<const ValueLogSegment> LogSegmentOf(const ReadView& view, const FileId& blob_file) {
  std::shared_ptr<const ValueLogSegment> segment;
  if (view.active != nullptr) segment = LogSegmentOf(*view.active, blob_file);
  for (size_t i = 0; i < view.sealed.size() && segment == nullptr; ++i)
    segment = LogSegmentOf(*view.sealed[i]->memtable, blob_file);
  return segment;
}

Status ReadLoggedValue(const ReadView& view, Slice key, const ValueReference& reference,
                       std::string* value) {
  const std::shared_ptr<const ValueLogSegment> segment = LogSegmentOf(view, reference.blob_file);
  if (segment == nullptr)
    return Status::Corruption("a value was logged in " + reference.blob_file.ValueFileName() +
                              ", which no memtable has");
  return segment->Read(key, reference, value);
}

Status ReadLoggedTo(const ReadView& view, Slice key, const ListLayout::Logged& logged, char* to) {
  std::string value;
  LAVA_RETURN_IF_ERROR(ReadLoggedValue(view, key, logged.reference, &value));
  std::copy(value.begin(), value.end(), to + logged.offset);
  return Status::OK();
}

Status ReadList(const ReadView& view, Slice key, const ListLayout& list, std::string* whole) {
  std::vector<ListLayout::Logged> logged;
  LAVA_RETURN_IF_ERROR(list.Fetch(*view.version, key, whole, &logged));
  for (const ListLayout::Logged& part : logged)
    LAVA_RETURN_IF_ERROR(ReadLoggedTo(view, key, part, whole->data()));
  return Status::OK();
}

}  // namespace lava

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>

#include "db/read_view.h"
#include "read/list_layout.h"
#include "value_log/value_log_segment.h"

namespace lava {

// Reads of values in log segments (of the value log or of the changelog) to which a memtable of the
// view refers. Threads: any. Errors: Corruption, IOError; messages name the file and the offset.

/// The log segment that holds values of this blob file. Null: no memtable of the view refers to
/// such a segment.
std::shared_ptr<const ValueLogSegment> LogSegmentOf(const ReadView& view, const FileId& blob_file);
/// Reads the value of a reference for which is_logged() is true.
Status ReadLoggedValue(const ReadView& view, Slice key, const ValueReference& reference,
                       std::string* value);
/// Copies a logged value to its offset in `to`, which is the begin of a list or a page.
Status ReadLoggedTo(const ReadView& view, Slice key, const ListLayout::Logged& logged, char* to);
/// Reads the whole of a list whose parts are in value files and log segments.
Status ReadList(const ReadView& view, Slice key, const ListLayout& list, std::string* whole);

}  // namespace lava

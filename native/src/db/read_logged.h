#pragma once

#include <memory>
#include <string>

#include "db/read_view.h"
#include "read/list_layout.h"
#include "value_log/value_log_segment.h"

namespace lava {

// Reads of values that are in a log segment (of the value log or of the changelog), to which a
// memtable of the view refers. Threads: any. Errors: Corruption, IOError; a message names the file
// and the offset.

/// The log segment that holds values of this blob file; null: no memtable of the view refers to
/// one.
std::shared_ptr<const ValueLogSegment> LogSegmentOf(const ReadView& view, const FileId& blob_file);
/// The value of a reference that is_logged().
Status ReadLoggedValue(const ReadView& view, Slice key, const ValueReference& reference,
                       std::string* value);
/// Copies such a value to its offset in `to`, which is a list or a page.
Status ReadLoggedTo(const ReadView& view, Slice key, const ListLayout::Logged& logged, char* to);
/// Reads the whole of a list whose parts are in value files and log segments.
Status ReadList(const ReadView& view, Slice key, const ListLayout& list, std::string* whole);

}  // namespace lava

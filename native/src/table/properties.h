// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lava/slice.h"
#include "table/table_writer.h"

namespace lava::ksst {

/// Appends the payload of the properties block.
void EncodeProperties(const TableProperties& properties, std::string* out);
/// Returns null, or an error message. Leaves file_bytes and file_crc32c alone.
const char* DecodeProperties(Slice in, TableProperties* properties);

/// Appends the payload of the range tombstone block.
void EncodeTombstones(const RangeTombstoneSet& tombstones, std::string* out);
const char* DecodeTombstones(Slice in, RangeTombstoneSet* tombstones);

}  // namespace lava::ksst

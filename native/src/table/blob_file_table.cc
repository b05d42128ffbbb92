// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "table/blob_file_table.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/list_parts.h"
#include "base/value_reference.h"
#include "lava/list_format.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "table/table_writer.h"

namespace lava::ksst {

void BlobFileTableBuilder::Add(uint64_t partition, const ValueReference& reference,
                               std::string* out) {
  const auto [it, is_new] =
      indexes_.try_emplace(reference.blob_file, static_cast<uint32_t>(blob_files_->size()));
  if (is_new) blob_files_->push_back({reference.blob_file, {}});
  auto& partitions = (*blob_files_)[it->second].partitions;
  // Keys ascend, and so do their partitions.
  if (partitions.empty() || partitions.back().partition != partition)
    partitions.push_back({partition, 0, 0});
  TableProperties::NamedBlobFile::Share& share = partitions.back();
  ++share.records;
  share.raw_bytes += reference.raw_bytes;
  PutVarint32(out, it->second);
  PutVarint64(out, reference.raw_bytes);
  if (reference.timestamp) PutFixed64(out, *reference.timestamp);
}

Status BlobFileTableBuilder::AddList(uint64_t partition, Slice list, std::string* out,
                                     uint64_t* raw_bytes) {
  std::vector<ListPart> parts;
  LAVA_RETURN_IF_ERROR(SplitList(list, &parts));
  std::vector<ValueReference> references;
  for (const ListPart& part : parts)
    if (part.is_reference) LAVA_RETURN_IF_ERROR(ReferenceOf(part, &references.emplace_back()));
  if (references.empty()) return Status::Corruption("a list has no parts in value files");
  *raw_bytes = 0;
  size_t next = 0;
  std::string stored;
  for (const ListPart& part : parts) {
    if (!part.is_reference) {
      out->append(part.bytes);
      continue;
    }
    stored.clear();
    Add(partition, references[next], &stored);
    AppendListSegment(ListSegment::kReference, stored, out);
    *raw_bytes += references[next++].raw_bytes;
  }
  return Status::OK();
}

bool DecodeFileList(Slice bytes, const std::vector<TableProperties::NamedBlobFile>& blob_files,
                    std::string* list, std::vector<ValueReference>* references) {
  std::vector<ListPart> parts;
  if (!SplitList(bytes, &parts).ok()) return false;
  list->clear();
  for (const ListPart& part : parts) {
    if (!part.is_reference) {
      list->append(part.bytes);
      continue;
    }
    ValueReference reference;
    if (!DecodeFileReference(part.bytes, blob_files, &reference)) return false;
    AppendListReference(reference, list);
    if (references != nullptr) references->push_back(reference);
  }
  return true;
}

bool DecodeFileReference(Slice bytes, const std::vector<TableProperties::NamedBlobFile>& blob_files,
                         ValueReference* reference) {
  uint32_t index = 0;
  if (!GetVarint32(&bytes, &index) || index >= blob_files.size() ||
      !GetVarint64(&bytes, &reference->raw_bytes))
    return false;
  reference->blob_file = blob_files[index].blob_file;
  reference->timestamp.reset();
  if (bytes.empty()) return true;
  uint64_t timestamp = 0;
  if (!GetFixed64(&bytes, &timestamp) || !bytes.empty()) return false;
  reference->timestamp = timestamp;
  return true;
}

}  // namespace lava::ksst

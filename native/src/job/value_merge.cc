#include "job/value_merge.h"

namespace lava {

Status ValueMerge::BringIn(Record* record) {
  if (files_.empty() || record->kind != RecordKind::kPutReference) return Status::OK();
  ValueReference reference;
  if (!DecodeReference(record->value, &reference))
    return Status::Corruption("a reference to a value file is malformed");
  Slice value;
  LAVA_ASSIGN_OR_RETURN(const bool found, values_.ReadFrom(files_, record->key, reference, &value));
  if (!found) return Status::OK();
  bytes_read_ += value.size();
  record->kind = RecordKind::kPut;
  record->value = value;
  return Status::OK();
}

}  // namespace lava

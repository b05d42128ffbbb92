#include "job/value_merge.h"

#include "base/dictionary.h"

namespace lava {

Status ValueMerge::Move(Record* record) {
  if (files_.empty() || record->kind != RecordKind::kPutReference) return Status::OK();
  ValueReference reference;
  if (!DecodeReference(record->value, &reference))
    return Status::Corruption("a reference to a value file is malformed");
  StoredValue stored;
  LAVA_ASSIGN_OR_RETURN(const bool found, values_.Find(files_, record->key, reference, &stored));
  if (!found) return Status::OK();
  bytes_read_ += stored.raw_bytes;
  const bool apart = output_.Separates(record->key, stored.raw_bytes);
  if (apart && stored.codec != kZstdDictionary)
    return output_.MoveStored(record, stored, reference.timestamp);
  Slice value;
  LAVA_RETURN_IF_ERROR(values_.Decode(stored, &value));
  record->kind = RecordKind::kPut;
  record->value = value;
  return output_.MoveOut(record);
}

}  // namespace lava

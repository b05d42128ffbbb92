#include "value/entry_record.h"

#include "base/coding.h"
#include "base/compression.h"

namespace lava::vsst {

void EncodeEntryHead(const EntryHead& head, std::string* out) {
  out->clear();
  PutVarint64(out, head.has_value ? uint64_t{head.inline_bytes} + 1 : 0);
  out->append(head.bytes);
}

bool DecodeEntryHead(Slice bytes, EntryHead* head) {
  uint64_t said = 0;
  if (!GetVarint64(&bytes, &said) || said > kRecordValueBytesMax) return false;
  head->has_value = said != 0;
  head->inline_bytes = head->has_value ? static_cast<uint32_t>(said - 1) : 0;
  head->bytes = bytes;
  return true;
}

namespace {

Status ReadRecord(const std::string& name, uint64_t offset, Slice bytes, RecordView* record,
                  std::string* value) {
  LAVA_RETURN_IF_ERROR(DecodeRecord({name, UniqueIdOf(name), 1}, offset, bytes, record));
  value->resize(record->value.raw_bytes);
  if (!Decompress(record->value.codec, record->value.bytes, value->data(), record->value.raw_bytes))
    return CorruptionAt(name, offset, "a record does not decompress to its raw length");
  return Status::OK();
}

}  // namespace

Status EntryReader::ReadValue(const std::string& name, uint64_t offset, Slice bytes,
                              std::string* value) {
  RecordView record;
  LAVA_RETURN_IF_ERROR(ReadRecord(name, offset, bytes, &record, value));
  if (record.key.empty() || record.bytes != bytes.size())
    return CorruptionAt(name, offset, "another record stands where a value was logged");
  return Status::OK();
}

Status EntryReader::TakeRecord(RecordView* record, std::string* value) {
  LAVA_RETURN_IF_ERROR(ReadRecord(name_, offset_, left_, record, value));
  offset_ += record->bytes;
  left_.remove_prefix(record->bytes);
  return Status::OK();
}

Status EntryReader::Next(std::string* entry) {
  const uint64_t offset = offset_;
  RecordView record;
  EntryHead head;
  LAVA_RETURN_IF_ERROR(TakeRecord(&record, &head_));
  if (!record.key.empty() || !DecodeEntryHead(head_, &head))
    return CorruptionAt(name_, offset, "no entry begins there");
  entry->assign(head.bytes);
  if (!head.has_value) return Status::OK();
  LAVA_RETURN_IF_ERROR(TakeRecord(&record, &value_));
  if (record.key.empty() || value_.size() < head.inline_bytes)
    return CorruptionAt(name_, offset, "the value of the entry that begins there is missing");
  entry->append(value_, head.inline_bytes);
  return Status::OK();
}

}  // namespace lava::vsst

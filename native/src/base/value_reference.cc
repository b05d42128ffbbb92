#include "base/value_reference.h"

#include "base/coding.h"

namespace lava {

void EncodeReference(const ValueReference& reference, std::string* out) {
  PutFixed64(out, reference.birth.origin.high);
  PutFixed64(out, reference.birth.origin.low);
  PutVarint64(out, reference.birth.number);
  PutVarint64(out, reference.raw_bytes);
  if (reference.timestamp) PutFixed64(out, *reference.timestamp);
}

bool DecodeReference(Slice bytes, ValueReference* reference) {
  if (!GetFixed64(&bytes, &reference->birth.origin.high) ||
      !GetFixed64(&bytes, &reference->birth.origin.low) ||
      !GetVarint64(&bytes, &reference->birth.number) || !GetVarint64(&bytes, &reference->raw_bytes))
    return false;
  reference->timestamp.reset();
  if (bytes.empty()) return true;
  uint64_t timestamp = 0;
  if (!GetFixed64(&bytes, &timestamp) || !bytes.empty()) return false;
  reference->timestamp = timestamp;
  return true;
}

}  // namespace lava

#include "base/list_parts.h"

#include "base/coding.h"
#include "lava/list_format.h"

namespace lava {
namespace {

// Takes one segment off *in, whatever its kind.
bool NextSegment(Slice* in, ListSegment* kind, Slice* bytes) {
  uint64_t head = 0;
  if (!GetVarint64(in, &head) || !GetBytes(in, head >> 2, bytes)) return false;
  *kind = static_cast<ListSegment>(head & 3);
  return true;
}

}  // namespace

Status SplitList(Slice list, std::vector<ListPart>* parts) {
  parts->clear();
  const char* begin = list.data();  // of segments that stand together
  for (Slice rest = list; !rest.empty();) {
    const char* const at = rest.data();
    ListSegment kind;
    Slice bytes;
    if (!NextSegment(&rest, &kind, &bytes))
      return Status::Corruption("a list with parts in value files is malformed");
    if (kind != ListSegment::kReference) continue;
    if (at > begin) parts->push_back({false, Slice(begin, static_cast<size_t>(at - begin))});
    parts->push_back({true, bytes});
    begin = rest.data();
  }
  const char* const end = list.data() + list.size();
  if (end > begin) parts->push_back({false, Slice(begin, static_cast<size_t>(end - begin))});
  return Status::OK();
}

void AppendListReference(const ValueReference& reference, std::string* list) {
  std::string encoded;
  EncodeReference(reference, &encoded);
  AppendListSegment(ListSegment::kReference, encoded, list);
}

void AppendListPart(const ListPart& part, std::string* list) {
  if (part.is_reference)
    AppendListSegment(ListSegment::kReference, part.bytes, list);
  else
    list->append(part.bytes);
}

Status ReferenceOf(const ListPart& part, ValueReference* reference) {
  if (part.is_reference && DecodeReference(part.bytes, reference)) return Status::OK();
  return Status::Corruption("a list's reference to a value file is malformed");
}

Status WholeListBytes(Slice list, uint64_t* bytes) {
  std::vector<ListPart> parts;
  LAVA_RETURN_IF_ERROR(SplitList(list, &parts));
  *bytes = 0;
  for (const ListPart& part : parts) {
    ValueReference reference;
    if (part.is_reference) LAVA_RETURN_IF_ERROR(ReferenceOf(part, &reference));
    const uint64_t more = part.is_reference ? reference.raw_bytes : part.bytes.size();
    if (__builtin_add_overflow(*bytes, more, bytes))
      return Status::Corruption("a list's references speak of more bytes than there can be");
  }
  return Status::OK();
}

bool IsWritableList(Slice list) {
  while (!list.empty()) {
    ListSegment kind;
    Slice bytes;
    if (!NextSegment(&list, &kind, &bytes)) return false;
    if (kind != ListSegment::kElement && kind != ListSegment::kJoined) return false;
  }
  return true;
}

}  // namespace lava

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <jni.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "array_pieces.h"
#include "handles.h"
#include "jni_util.h"
#include "lava/db.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "natives.h"
#include "scratch.h"

namespace lava::jni {
namespace {

constexpr jint kNotFound = -1;
constexpr size_t kPageHeaderBytes = 16;
constexpr jint kFlagLowerExclusive = 1;
constexpr jint kFlagKeysOnly = 2;
constexpr jint kFlagPastCache = 4;
constexpr uint32_t kFlagDone = 1;
constexpr uint32_t kSectionsShift = 1;  // the number of sections is above the flag

jint Length(Slice value) {
  if (value.size() > static_cast<size_t>(std::numeric_limits<jint>::max())) {
    Check(Status::NotSupported("a value of " + std::to_string(value.size()) +
                               " bytes does not fit into a Java array"));
  }
  return static_cast<jint>(value.size());
}

jint Get(JNIEnv* env, jobject, jlong handle, jlong table, jbyteArray key, jint key_off,
         jint key_len, jint prefix_len, jbyteArray out, jint out_off, jint out_capacity) {
  return Entry(env, kNotFound, [&]() -> jint {
    Use<DatabaseHandle> use(handle);
    KeyBytes key_buffer(&ThreadScratch().key);
    const Slice bytes = CopyIn(env, key, key_off, key_len, "key", &key_buffer);
    ScratchValue value;
    ArraySink sink(env, out, out_off, out_capacity);
    Status status = use->db()->GetTo(ToTable(table), {bytes, CheckPrefix(prefix_len, bytes.size())},
                                     value.get(), &sink);
    if (status.IsNotFound()) return kNotFound;
    if (sink.begun()) [[unlikely]] {
      jint length = 0;
      sink.Finish(std::move(status), &length);
      return length;
    }
    Check(std::move(status));
    const jint length = Length(value.data());
    if (length <= out_capacity) CopyOut(env, value.data(), out, out_off, out_capacity);
    return length;
  });
}

jbyteArray GetNew(JNIEnv* env, jobject, jlong handle, jlong table, jbyteArray key, jint key_off,
                  jint key_len, jint prefix_len, jlong snapshot) {
  return Entry(env, jbyteArray{}, [&]() -> jbyteArray {
    Use<DatabaseHandle> use(handle);
    UseSnapshot view(snapshot, use->state().get());
    KeyBytes key_buffer(&ThreadScratch().key);
    const Slice bytes = CopyIn(env, key, key_off, key_len, "key", &key_buffer);
    ScratchValue value;
    ArraySink sink(env);
    Status status = use->db()->GetTo(ToTable(table), {bytes, CheckPrefix(prefix_len, bytes.size())},
                                     value.get(), &sink, view.get());
    if (status.IsNotFound()) return nullptr;
    if (sink.begun()) [[unlikely]] {
      jint length = 0;
      return sink.Finish(std::move(status), &length);
    }
    Check(std::move(status));
    return NewArray(env, value.data());
  });
}

jboolean Contains(JNIEnv* env, jobject, jlong handle, jlong table, jbyteArray key, jint key_off,
                  jint key_len, jint prefix_len, jlong snapshot) {
  return Entry(env, jboolean{JNI_FALSE}, [&]() -> jboolean {
    Use<DatabaseHandle> use(handle);
    UseSnapshot view(snapshot, use->state().get());
    KeyBytes key_buffer(&ThreadScratch().key);
    const Slice bytes = CopyIn(env, key, key_off, key_len, "key", &key_buffer);
    Status status = use->db()->Contains(ToTable(table),
                                        {bytes, CheckPrefix(prefix_len, bytes.size())}, view.get());
    if (status.IsNotFound()) return JNI_FALSE;
    Check(std::move(status));
    return JNI_TRUE;
  });
}

jboolean ContainsPrefix(JNIEnv* env, jobject, jlong handle, jlong table, jbyteArray prefix,
                        jint prefix_off, jint prefix_len) {
  return Entry(env, jboolean{JNI_FALSE}, [&]() -> jboolean {
    Use<DatabaseHandle> use(handle);
    KeyBytes buffer(&ThreadScratch().key);
    Status status = use->db()->ContainsPrefix(
        ToTable(table), CopyIn(env, prefix, prefix_off, prefix_len, "prefix", &buffer));
    if (status.IsNotFound()) return JNI_FALSE;
    Check(std::move(status));
    return JNI_TRUE;
  });
}

void PutInt32(char* to, uint32_t v) {
  for (int i = 3; i >= 0; i--, v >>= 8) to[i] = static_cast<char>(v);
}

// Writes the page after its header, and the packed sections after its last key. If `out` is too
// small, returns the size that it must have.
jint WritePage(JNIEnv* env, const ScanPage& page, Slice sections, jbyteArray out,
               jint out_capacity) {
  const size_t needed =
      kPageHeaderBytes + page.bytes.size() + page.last_key.size() + sections.size();
  if (needed > static_cast<size_t>(std::numeric_limits<jint>::max() - 8)) {
    Check(Status::NotSupported("an entry of " + std::to_string(page.bytes.size()) +
                               " bytes does not fit into a page: read it alone"));
  }
  if (needed > static_cast<size_t>(out_capacity)) return static_cast<jint>(needed);
  std::array<char, kPageHeaderBytes> header;
  PutInt32(&header[0], page.entries);
  const auto section_count = static_cast<uint32_t>(sections.size() / ScanSection::kBytes);
  PutInt32(&header[4], section_count << kSectionsShift | (page.done ? kFlagDone : 0));
  PutInt32(&header[8], static_cast<uint32_t>(page.bytes.size()));
  PutInt32(&header[12], static_cast<uint32_t>(page.last_key.size()));
  const auto entries_end = static_cast<jint>(kPageHeaderBytes + page.bytes.size());
  // The header is written last: no JNI call follows one that may have failed.
  CheckRange(out, 0, out_capacity, "page");
  if (env->GetArrayLength(out) < out_capacity)
    ThrowOutOfBounds("page: the array is smaller than its stated capacity");
  CopyOut(env, page.bytes, out, kPageHeaderBytes, out_capacity - jint{kPageHeaderBytes});
  CopyOut(env, page.last_key, out, entries_end, out_capacity - entries_end);
  if (!sections.empty()) {
    const auto key_end = entries_end + static_cast<jint>(page.last_key.size());
    CopyOut(env, sections, out, key_end, out_capacity - key_end);
  }
  CopyOut(env, Slice(header.data(), header.size()), out, 0, out_capacity);
  return 0;
}

// Empties a thread's page at the end of a call, and reports the memory that it keeps.
struct RecycledPage {
  ScanPage* page;
  KeptBytes* kept;
  ~RecycledPage() {
    Recycle(&page->bytes);
    Recycle(&page->last_key);
    kept->Set(KeptBytesOf(page->bytes) + KeptBytesOf(page->last_key));
  }
};

jint Scan(JNIEnv* env, jclass, jlong handle, jlong table, jbyteArray lower, jint lower_len,
          jbyteArray upper, jint upper_len, jint flags, jint prefix_len, jint skip_key_bytes,
          jint entries_max, jint bytes_max, jlong snapshot, jbyteArray out, jint out_capacity) {
  return Entry(env, jint{0}, [&]() -> jint {
    Use<DatabaseHandle> use(handle);
    UseSnapshot view(snapshot, use->state().get());
    Scratch& scratch = ThreadScratch();
    KeyBytes lower_buffer(&scratch.key);
    KeyBytes upper_buffer(&scratch.upper);
    ScanRequest request;
    request.lower = CopyIn(env, lower, 0, lower_len, "lower bound", &lower_buffer);
    request.upper = CopyIn(env, upper, 0, upper_len, "upper bound", &upper_buffer);
    request.lower_exclusive = (flags & kFlagLowerExclusive) != 0;
    request.keys_only = (flags & kFlagKeysOnly) != 0;
    request.fill_cache = (flags & kFlagPastCache) == 0;
    request.prefix_bytes = CheckPrefix(prefix_len, request.lower.size());
    request.skip_key_bytes = Unsigned(skip_key_bytes, "skipKeyBytes");
    request.entries_max = Unsigned(entries_max, "entriesMax");
    request.bytes_max = Unsigned(bytes_max, "bytesMax");
    CheckRange(out, 0, out_capacity, "page");
    RecycledPage page{&scratch.page, &scratch.page_kept};
    Check(use->db()->Scan(ToTable(table), request, page.page, view.get()));
    page.kept->Set(KeptBytesOf(page.page->bytes) + KeptBytesOf(page.page->last_key));
    return WritePage(env, *page.page, {}, out, out_capacity);
  });
}

std::vector<Table*> CopyTables(JNIEnv* env, jlongArray array) {
  CheckRange(array, 0, 0, "tables");
  std::vector<jlong> numbers(static_cast<size_t>(env->GetArrayLength(array)));
  env->GetLongArrayRegion(array, 0, static_cast<jsize>(numbers.size()), numbers.data());
  std::vector<Table*> tables;
  tables.reserve(numbers.size());
  for (const jlong number : numbers) tables.push_back(ToTable(number));
  return tables;
}

std::string PackSections(const std::vector<ScanSection>& sections) {
  std::string packed(sections.size() * ScanSection::kBytes, '\0');
  char* to = packed.data();
  for (const ScanSection& section : sections) {
    PutInt32(to, section.table);
    PutInt32(to + 4, section.partition);
    PutInt32(to + 8, section.entries);
    to += ScanSection::kBytes;
  }
  return packed;
}

jint ScanTables(JNIEnv* env, jclass, jlong handle, jlongArray table_numbers, jint after_table,
                jbyteArray after_key, jint after_key_len, jint flags, jint entries_max,
                jint bytes_max, jlong snapshot, jbyteArray out, jint out_capacity) {
  return Entry(env, jint{0}, [&]() -> jint {
    Use<DatabaseHandle> use(handle);
    UseSnapshot view(snapshot, use->state().get());
    const std::vector<Table*> tables = CopyTables(env, table_numbers);
    KeyBytes key_buffer(&ThreadScratch().key);
    TablesScanRequest request;
    request.tables = tables;
    request.after_table = Unsigned(after_table, "afterTable");
    request.after_key = CopyIn(env, after_key, 0, after_key_len, "last key", &key_buffer);
    request.fill_cache = (flags & kFlagPastCache) == 0;
    request.entries_max = Unsigned(entries_max, "entriesMax");
    request.bytes_max = Unsigned(bytes_max, "bytesMax");
    CheckRange(out, 0, out_capacity, "page");
    TablesScanPage page;
    Check(use->db()->ScanTables(request, &page, view.get()));
    return WritePage(env, page.page, PackSections(page.sections), out, out_capacity);
  });
}

}  // namespace

NativeClass DatabaseReads() {
  static const JNINativeMethod methods[] = {
      Native("get0", "(JJ[BIII[BII)I", reinterpret_cast<void*>(Get)),
      Native("getNew0", "(JJ[BIIIJ)[B", reinterpret_cast<void*>(GetNew)),
      Native("contains0", "(JJ[BIIIJ)Z", reinterpret_cast<void*>(Contains)),
      Native("containsPrefix0", "(JJ[BII)Z", reinterpret_cast<void*>(ContainsPrefix)),
  };
  return {"org/lavakv/LavaDB", methods};
}

NativeClass DatabaseScans() {
  static const JNINativeMethod methods[] = {
      Native("scan0", "(JJ[BI[BIIIIIIJ[BI)I", reinterpret_cast<void*>(Scan)),
      Native("scanTables0", "(J[JI[BIIIIJ[BI)I", reinterpret_cast<void*>(ScanTables)),
  };
  return {"org/lavakv/DatabaseScan", methods};
}

}  // namespace lava::jni

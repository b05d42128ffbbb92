// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <jni.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "handles.h"
#include "jni_util.h"
#include "lava/db.h"
#include "lava/slice.h"
#include "lava/status.h"
#include "natives.h"
#include "packer.h"
#include "scratch.h"

namespace lava::jni {
namespace {

constexpr jint kNotFound = static_cast<jint>(Status::Code::kNotFound);
constexpr jint kBusy = static_cast<jint>(Status::Code::kBusy);

void CopyLocation(JNIEnv* env, const EntryLocation& at, jlongArray out) {
  const std::array<jlong, 4> numbers = {static_cast<jlong>(at.segment),
                                        static_cast<jlong>(at.offset), static_cast<jlong>(at.bytes),
                                        static_cast<jlong>(at.sequence)};
  CopyNumbers(env, numbers, out);
}

EntryLocation ToLocation(jlong segment, jlong offset, jlong bytes) {
  return {static_cast<uint64_t>(segment), static_cast<uint64_t>(offset),
          static_cast<uint64_t>(bytes), 0};
}

// The common part of calls that log an entry. OK, NotFound and Busy are returned as results.
template <typename Body>
jint LogCall(JNIEnv* env, jlong handle, jlongArray out, const Body& body) {
  return Entry(env, jint{0}, [&]() -> jint {
    Use<DatabaseHandle> use(handle);
    if (BusyInjected()) [[unlikely]]
      return kBusy;
    EntryLocation location;
    Status status = body(use->db(), ThreadScratch(), &location);
    if (status.IsNotFound()) return kNotFound;
    const jint done = DoneOrBusy(std::move(status));
    if (done == 0) CopyLocation(env, location, out);
    return done;
  });
}

jint AppendEntry(JNIEnv* env, jobject, jlong handle, jbyteArray entry, jint len, jlongArray out) {
  return LogCall(env, handle, out, [&](DB* db, Scratch& scratch, EntryLocation* location) {
    ValueBytes buffer(&scratch.value);
    return db->AppendEntry(CopyIn(env, entry, 0, len, "entry", &buffer), location);
  });
}

jint BindExternal(JNIEnv* env, jobject, jlong handle, jbyteArray entry, jint len, jlongArray out) {
  return LogCall(env, handle, out, [&](DB* db, Scratch& scratch, EntryLocation* location) {
    ValueBytes buffer(&scratch.value);
    return db->BindExternal(CopyIn(env, entry, 0, len, "entry", &buffer), location);
  });
}

jint PutExternal(JNIEnv* env, jobject, jlong handle, jlong table, jbyteArray key, jint key_len,
                 jint prefix_len, jbyteArray value, jint value_len, jbyteArray entry,
                 jint entry_len, jlongArray out) {
  return LogCall(env, handle, out, [&](DB* db, Scratch& scratch, EntryLocation* location) {
    KeyBytes key_buffer(&scratch.key);
    ValueBytes value_buffer(&scratch.value), entry_buffer(&scratch.upper);
    const Slice k = CopyIn(env, key, 0, key_len, "key", &key_buffer);
    const Slice v = CopyIn(env, value, 0, value_len, "value", &value_buffer);
    const Slice e = CopyIn(env, entry, 0, entry_len, "entry", &entry_buffer);
    return db->PutExternal(ToTable(table), {k, CheckPrefix(prefix_len, k.size())}, v, e, location);
  });
}

jint GetExternal(JNIEnv* env, jobject, jlong handle, jlong table, jbyteArray key, jint key_len,
                 jint prefix_len, jlongArray out) {
  return Entry(env, jint{0}, [&]() -> jint {
    Use<DatabaseHandle> use(handle);
    KeyBytes key_buffer(&ThreadScratch().key);
    const Slice k = CopyIn(env, key, 0, key_len, "key", &key_buffer);
    EntryLocation location;
    Status status =
        use->db()->GetExternal(ToTable(table), {k, CheckPrefix(prefix_len, k.size())}, &location);
    if (status.IsNotFound()) return kNotFound;
    Check(std::move(status));
    CopyLocation(env, location, out);
    return 0;
  });
}

jbyteArray Read(JNIEnv* env, jobject, jlong handle, jlong segment, jlong offset, jlong bytes,
                jboolean value_alone) {
  return Entry(env, jbyteArray{}, [&]() -> jbyteArray {
    Use<DatabaseHandle> use(handle);
    const EntryLocation location = ToLocation(segment, offset, bytes);
    std::string read;
    Check(value_alone == JNI_TRUE ? use->db()->ReadEntryValue(location, &read)
                                  : use->db()->ReadEntry(location, &read));
    return NewArray(env, read);
  });
}

jint Roll(JNIEnv* env, jobject, jlong handle) {
  return Entry(env, jint{0}, [&]() -> jint {
    Use<DatabaseHandle> use(handle);
    return DoneOrBusy(use->db()->RollEntries());
  });
}

jint Finish(JNIEnv* env, jobject, jlong handle, jlong segment) {
  return Entry(env, jint{0}, [&]() -> jint {
    Use<DatabaseHandle> use(handle);
    return DoneOrBusy(use->db()->FinishEntries(static_cast<uint64_t>(segment)));
  });
}

jint Release(JNIEnv* env, jobject, jlong handle, jlong through) {
  return Entry(env, jint{0}, [&]() -> jint {
    Use<DatabaseHandle> use(handle);
    return DoneOrBusy(use->db()->ReleaseEntries(static_cast<uint64_t>(through)));
  });
}

jbyteArray SegmentName(JNIEnv* env, jobject, jlong handle, jlong segment) {
  return Entry(env, jbyteArray{}, [&]() -> jbyteArray {
    Use<DatabaseHandle> use(handle);
    return NewArray(env, use->db()->ChangelogSegmentName(static_cast<uint64_t>(segment)));
  });
}

// Result: the number of entries, then each entry preceded by its length.
jbyteArray Decode(JNIEnv* env, jclass, jbyteArray name, jlong offset, jbyteArray bytes, jint off,
                  jint len) {
  return Entry(env, jbyteArray{}, [&]() -> jbyteArray {
    InBytes<kValueStackBytes> buffer(&ThreadScratch().value);
    const Slice in = CopyIn(env, bytes, off, len, "entries", &buffer);
    std::vector<std::string> entries;
    Check(DecodeEntries(CopyPath(env, name), static_cast<uint64_t>(offset), in, &entries));
    uint64_t total = sizeof(uint32_t);
    for (const std::string& entry : entries) total += sizeof(uint32_t) + entry.size();
    if (total > static_cast<uint64_t>(std::numeric_limits<jint>::max() - 8))
      Check(Status::NotSupported("entries of " + std::to_string(total) +
                                 " bytes do not fit into a Java array: decode fewer at once"));
    Packer out;
    out.Int32(static_cast<uint32_t>(entries.size()));
    for (const std::string& entry : entries) out.Bytes(entry);
    return NewArray(env, out.bytes());
  });
}

}  // namespace

NativeClass EntryLogMethods() {
  static const JNINativeMethod methods[] = {
      Native("append0", "(J[BI[J)I", reinterpret_cast<void*>(AppendEntry)),
      Native("bindExternal0", "(J[BI[J)I", reinterpret_cast<void*>(BindExternal)),
      Native("putExternal0", "(JJ[BII[BI[BI[J)I", reinterpret_cast<void*>(PutExternal)),
      Native("getExternal0", "(JJ[BII[J)I", reinterpret_cast<void*>(GetExternal)),
      Native("read0", "(JJJJZ)[B", reinterpret_cast<void*>(Read)),
      Native("roll0", "(J)I", reinterpret_cast<void*>(Roll)),
      Native("finish0", "(JJ)I", reinterpret_cast<void*>(Finish)),
      Native("release0", "(JJ)I", reinterpret_cast<void*>(Release)),
      Native("segmentName0", "(JJ)[B", reinterpret_cast<void*>(SegmentName)),
      Native("decode0", "([BJ[BII)[B", reinterpret_cast<void*>(Decode)),
  };
  return {"org/lavakv/EntryLog", methods};
}

}  // namespace lava::jni

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <jni.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "array_pieces.h"
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

constexpr jint kBusy = static_cast<jint>(Status::Code::kBusy);

// The common part of every write: runs the body in the database, unless a test injects Busy.
template <typename Body>
jint WriteEntry(JNIEnv* env, jlong handle, const Body& body) {
  return Entry(env, jint{0}, [&]() -> jint {
    Use<DatabaseHandle> use(handle);
    if (BusyInjected()) [[unlikely]]
      return kBusy;
    return DoneOrBusy(body(use->db(), ThreadScratch()));
  });
}

jint Put(JNIEnv* env, jobject, jlong handle, jlong table, jbyteArray key, jint key_off,
         jint key_len, jint prefix_len, jbyteArray value, jint value_off, jint value_len) {
  return WriteEntry(env, handle, [&](DB* db, Scratch& scratch) {
    KeyBytes key_buffer(&scratch.key);
    const Slice k = CopyIn(env, key, key_off, key_len, "key", &key_buffer);
    const KeyRef ref{k, CheckPrefix(prefix_len, k.size())};
    if (value_len > kWholeArrayMax) [[unlikely]] {
      ArraySource source(env, value, value_off, value_len, "value");
      return db->PutFrom(ToTable(table), ref, &source);
    }
    ValueBytes value_buffer(&scratch.value);
    const Slice v = CopyIn(env, value, value_off, value_len, "value", &value_buffer);
    return db->Put(ToTable(table), ref, v);
  });
}

jint Delete(JNIEnv* env, jobject, jlong handle, jlong table, jbyteArray key, jint key_off,
            jint key_len, jint prefix_len) {
  return WriteEntry(env, handle, [&](DB* db, Scratch& scratch) {
    KeyBytes key_buffer(&scratch.key);
    const Slice k = CopyIn(env, key, key_off, key_len, "key", &key_buffer);
    return db->Delete(ToTable(table), {k, CheckPrefix(prefix_len, k.size())});
  });
}

jint Append(JNIEnv* env, jobject, jlong handle, jlong table, jbyteArray key, jint key_off,
            jint key_len, jbyteArray segments, jint off, jint len) {
  return WriteEntry(env, handle, [&](DB* db, Scratch& scratch) {
    KeyBytes key_buffer(&scratch.key);
    const Slice k = CopyIn(env, key, key_off, key_len, "key", &key_buffer);
    if (len > kWholeArrayMax) [[unlikely]] {
      ArraySource source(env, segments, off, len, "segments");
      return db->AppendFrom(ToTable(table), {k, 0}, &source);
    }
    ValueBytes value_buffer(&scratch.value);
    const Slice v = CopyIn(env, segments, off, len, "segments", &value_buffer);
    return db->Append(ToTable(table), {k, 0}, v);
  });
}

jint DeletePrefix(JNIEnv* env, jobject, jlong handle, jlong table, jbyteArray prefix, jint off,
                  jint len) {
  return WriteEntry(env, handle, [&](DB* db, Scratch& scratch) {
    KeyBytes buffer(&scratch.key);
    const Slice bytes = CopyIn(env, prefix, off, len, "prefix", &buffer);
    return db->DeletePrefix(ToTable(table), bytes);
  });
}

jint DeleteRange(JNIEnv* env, jobject, jlong handle, jlong table, jbyteArray lower, jint lower_len,
                 jbyteArray upper, jint upper_len) {
  return WriteEntry(env, handle, [&](DB* db, Scratch& scratch) {
    KeyBytes lower_buffer(&scratch.key);
    KeyBytes upper_buffer(&scratch.upper);
    const Slice from = CopyIn(env, lower, 0, lower_len, "lower bound", &lower_buffer);
    const Slice to = CopyIn(env, upper, 0, upper_len, "upper bound", &upper_buffer);
    return db->DeleteRange(ToTable(table), from, to);
  });
}

constexpr size_t kBorrowedBytesMin = 64 << 10;

// The layout of WriteBatch.java: kind, table, bytes of key, prefix and value; key; value.
void UnpackBatch(Slice bytes, WriteBatch* batch) {
  for (Unpacker in(bytes); in.left() > 0;) {
    const auto kind = static_cast<WriteBatch::Kind>(in.Int8());
    Table* const table = ToTable(static_cast<jlong>(in.Int64()));
    const uint32_t key_bytes = in.Int32();
    const auto prefix = static_cast<jint>(in.Int32());
    const uint32_t value_bytes = in.Int32();
    const Slice key = in.Take(key_bytes);
    const KeyRef ref{key, CheckPrefix(prefix, key_bytes)};
    const Slice value = in.Take(value_bytes);
    const bool writes = kind == WriteBatch::Kind::kPut || kind == WriteBatch::Kind::kAppend;
    if (writes && value_bytes > kBorrowedBytesMin) {  // the bytes do not move during the call
      batch->Borrow(kind, table, ref, value);
      continue;
    }
    switch (kind) {
      case WriteBatch::Kind::kPut:
        batch->Put(table, ref, value);
        continue;
      case WriteBatch::Kind::kDelete:
        batch->Delete(table, ref);
        continue;
      case WriteBatch::Kind::kAppend:
        batch->Append(table, ref, value);
        continue;
      case WriteBatch::Kind::kDeletePrefix:
        batch->DeletePrefix(table, key);
        continue;
    }
    Check(Status::InvalidArgument("packed write batch: no operation has the number " +
                                  std::to_string(static_cast<int>(kind))));
  }
}

jint Write(JNIEnv* env, jobject, jlong handle, jbyteArray packed, jint length) {
  return WriteEntry(env, handle, [&](DB* db, Scratch& scratch) {
    ValueBytes buffer(&scratch.value);
    const Slice bytes = CopyIn(env, packed, 0, length, "write batch", &buffer);
    struct Cleared {
      WriteBatch* batch;
      KeptBytes* kept;
      ~Cleared() {
        // Not by assignment: a string keeps its storage when an empty string is moved to it.
        if (batch->kept_bytes() > kKeptBatchBytesMax) WriteBatch dropped = std::move(*batch);
        batch->Clear();
        kept->Set(batch->kept_bytes());
      }
    } cleared{&scratch.batch, &scratch.batch_kept};
    UnpackBatch(bytes, &scratch.batch);
    scratch.batch_kept.Set(scratch.batch.kept_bytes());
    return db->Write(scratch.batch);
  });
}

}  // namespace

NativeClass DatabaseWrites() {
  static const JNINativeMethod methods[] = {
      Native("put0", "(JJ[BIII[BII)I", reinterpret_cast<void*>(Put)),
      Native("delete0", "(JJ[BIII)I", reinterpret_cast<void*>(Delete)),
      Native("append0", "(JJ[BII[BII)I", reinterpret_cast<void*>(Append)),
      Native("deletePrefix0", "(JJ[BII)I", reinterpret_cast<void*>(DeletePrefix)),
      Native("deleteRange0", "(JJ[BI[BI)I", reinterpret_cast<void*>(DeleteRange)),
      Native("write0", "(J[BI)I", reinterpret_cast<void*>(Write)),
  };
  return {"org/lavakv/LavaDB", methods};
}

}  // namespace lava::jni

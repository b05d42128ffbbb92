// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <jni.h>

#include <cstdint>
#include <vector>

#include "handles.h"
#include "jni_util.h"
#include "lava/db.h"
#include "natives.h"
#include "packer.h"

namespace lava::jni {
namespace {

// Packs the events that org.lavakv.BackgroundEvent reads.
jbyteArray Take(JNIEnv* env, jclass, jlong handle) {
  return Entry(env, jbyteArray{}, [&]() -> jbyteArray {
    Use<DatabaseHandle> use(handle);
    const std::vector<BackgroundEvent> events = use->db()->TakeBackgroundEvents();
    Packer out;
    out.Int32(static_cast<uint32_t>(events.size()));
    for (const BackgroundEvent& event : events) {
      out.Int32(static_cast<uint32_t>(event.code));
      out.Int32(event.over ? 1 : 0);
      out.Bytes(event.message);
      out.Strings(event.tables);
      out.Int64(event.failures);
      out.Int64(static_cast<uint64_t>(event.since_ms));
    }
    return NewArray(env, out.bytes());
  });
}

}  // namespace

NativeClass BackgroundEventMethods() {
  static const JNINativeMethod methods[] = {
      Native("take0", "(J)[B", reinterpret_cast<void*>(Take)),
  };
  return {"org/lavakv/BackgroundEvent", methods};
}

}  // namespace lava::jni

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <jni.h>

#include "event_ring.h"
#include "handles.h"
#include "jni_util.h"
#include "natives.h"

namespace lava::jni {
namespace {

jbyteArray Take(JNIEnv* env, jclass, jlong handle) {
  return Entry(env, jbyteArray{}, [&]() -> jbyteArray {
    Use<DatabaseHandle> use(handle);
    return NewArray(env, use->events() == nullptr ? std::string() : use->events()->Take());
  });
}

}  // namespace

NativeClass EngineEventMethods() {
  static const JNINativeMethod methods[] = {
      Native("take0", "(J)[B", reinterpret_cast<void*>(Take)),
  };
  return {"org/lavakv/EngineEvents", methods};
}

}  // namespace lava::jni

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <jni.h>

#include <cstring>
#include <string>

#include "jni_util.h"
#include "natives.h"

namespace lava::jni {
namespace {

constexpr jint kJniVersion = JNI_VERSION_10;
// The marker lets a tool find the version in a library file.
constexpr char kBuildId[] = "lava-build-id:" LAVA_JNI_BUILD_ID;

NativeClass (*const kClasses[])() = {
    DatabaseReads,       DatabaseScans,   DatabaseWrites,         DatabaseAdministration,
    SnapshotMethods,     HostMethods,     LeaseMethods,           ObjectMethods,
    LibraryMethods,      MetadataMethods, VolumeMethods,          VolumeInputMethods,
    VolumeOutputMethods, EntryLogMethods, BackgroundEventMethods, EngineEventMethods,
};

const char* OwnBuildId() { return std::strchr(kBuildId, ':') + 1; }

/// Returns false, with UnsatisfiedLinkError pending, unless the Java classes have this version.
bool CheckBuildId(JNIEnv* env) {
  jclass library = env->FindClass("org/lavakv/LavaLibrary");
  if (library == nullptr) return false;
  jfieldID field = env->GetStaticFieldID(library, "BUILD_ID", "Ljava/lang/String;");
  if (field == nullptr) return false;
  auto text = static_cast<jstring>(env->GetStaticObjectField(library, field));
  if (text == nullptr) return false;
  const char* chars = env->GetStringUTFChars(text, nullptr);
  if (chars == nullptr) return false;
  const std::string java = chars;
  env->ReleaseStringUTFChars(text, chars);
  if (java == OwnBuildId()) return true;
  jclass error = env->FindClass("java/lang/UnsatisfiedLinkError");
  if (error != nullptr) {
    const std::string message = "the native library is \"" + std::string(OwnBuildId()) +
                                "\", but the Java classes are \"" + java +
                                "\": the class path holds two versions of Lava";
    env->ThrowNew(error, message.c_str());
  }
  return false;
}

void UnregisterAll(JNIEnv* env) {
  // Saves the pending exception: the calls below must not run with one.
  jthrowable pending = env->ExceptionOccurred();
  env->ExceptionClear();
  for (auto list : kClasses) {
    jclass type = env->FindClass(list().name);
    if (type != nullptr) env->UnregisterNatives(type);
    env->ExceptionClear();
  }
  if (pending != nullptr) env->Throw(pending);
}

bool RegisterAll(JNIEnv* env) {
  for (auto list : kClasses) {
    const NativeClass c = list();
    jclass type = env->FindClass(c.name);
    if (type == nullptr ||
        env->RegisterNatives(type, c.methods.data(), static_cast<jint>(c.methods.size())) != 0) {
      return false;
    }
    env->DeleteLocalRef(type);
  }
  return true;
}

/// All or nothing: a half-loaded library would fail later and elsewhere.
bool Load(JNIEnv* env) {
  if (!CheckBuildId(env)) return false;
  if (LoadClasses(env)) {
    if (RegisterAll(env)) return true;
    UnregisterAll(env);
  }
  UnloadClasses(env);
  return false;
}

}  // namespace
}  // namespace lava::jni

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void*) {
  JNIEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), lava::jni::kJniVersion) != JNI_OK) {
    return JNI_ERR;
  }
  try {
    return lava::jni::Load(env) ? lava::jni::kJniVersion : JNI_ERR;
  } catch (...) {
    return JNI_ERR;
  }
}

extern "C" JNIEXPORT void JNICALL JNI_OnUnload(JavaVM* vm, void*) {
  JNIEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), lava::jni::kJniVersion) == JNI_OK) {
    lava::jni::UnloadClasses(env);
  }
}

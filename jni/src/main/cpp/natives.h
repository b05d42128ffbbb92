// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <jni.h>

#include <span>

namespace lava::jni {

/// The native methods of each Java class, for RegisterNatives. Each list is defined in the file
/// that implements it, and names the methods of its Java class with their exact signatures.
struct NativeClass {
  const char* name;
  std::span<const JNINativeMethod> methods;
};

/// LavaDB has several lists, by the purpose of the methods.
NativeClass DatabaseReads();
NativeClass DatabaseScans();
NativeClass DatabaseWrites();
NativeClass DatabaseAdministration();
NativeClass EntryLogMethods();
NativeClass BackgroundEventMethods();
NativeClass EngineEventMethods();
NativeClass SnapshotMethods();
NativeClass HostMethods();
NativeClass LeaseMethods();
NativeClass ObjectMethods();
NativeClass LibraryMethods();
NativeClass MetadataMethods();
NativeClass VolumeMethods();
NativeClass VolumeInputMethods();
NativeClass VolumeOutputMethods();

inline JNINativeMethod Native(const char* name, const char* signature, void* function) {
  return {const_cast<char*>(name), const_cast<char*>(signature), function};
}

}  // namespace lava::jni

#pragma once

#include <jni.h>

#include <span>

namespace lava::jni {

/// The native methods of each Java class, for RegisterNatives. Each list stands in the file that
/// implements it; a list names its Java class' methods with their exact signatures.
struct NativeClass {
  const char* name;
  std::span<const JNINativeMethod> methods;
};

/// LavaDB has several lists, by what its methods do.
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

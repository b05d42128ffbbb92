// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <jni.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "handles.h"
#include "jni_util.h"
#include "lava/status.h"
#include "lava/volume.h"
#include "natives.h"
#include "packer.h"
#include "scratch.h"

namespace lava::jni {
namespace {

/// Maximum size of one read or write, so that none waits long for a disk.
constexpr jint kPieceBytesMax = 1 << 20;

// The order of VolumeOptions.java.
VolumeOptions ToOptions(JNIEnv* env, jlongArray array, jbyteArray capacity_setting) {
  OptionNumbers in(env, array);
  VolumeOptions o;
  o.capacity_bytes = in.Next();
  o.direct_io = in.Next() != 0;
  o.power_safe = in.Next() != 0;
  o.grow_bytes = in.Next();
  o.reserve_bytes = in.Next();
  o.idle_reserve_bytes = in.Next();
  in.End();
  o.capacity_setting = CopyPath(env, capacity_setting);
  return o;
}

// ---------------------------------------------------------------- Volume

jlong Open(JNIEnv* env, jclass, jbyteArray directory, jlongArray options, jbyteArray setting) {
  return Entry(env, jlong{0}, [&]() -> jlong {
    const VolumeOptions o = ToOptions(env, options, setting);
    std::vector<std::string> left_behind;
    Result<std::shared_ptr<SharedVolume>> volume =
        Host::Get().OpenVolume(CopyPath(env, directory), o, &left_behind);
    Check(volume.status());
    return ToJava(std::make_unique<VolumeHandle>(std::move(volume).value(), std::string(),
                                                 std::move(left_behind)));
  });
}

jlong OpenPinned(JNIEnv* env, jclass, jbyteArray marker, jlongArray options, jbyteArray setting) {
  return Entry(env, jlong{0}, [&]() -> jlong {
    const VolumeOptions o = ToOptions(env, options, setting);
    Result<PinnedFiles> pinned = Host::Get().OpenPinned(CopyPath(env, marker), o);
    Check(pinned.status());
    PinnedFiles files = std::move(pinned).value();
    return ToJava(std::make_unique<VolumeHandle>(
        std::move(files.volume), std::move(files.directory), std::vector<std::string>()));
  });
}

jint RemoveStale(JNIEnv* env, jclass, jbyteArray directory) {
  return Entry(env, jint{0}, [&]() -> jint {
    const Result<uint32_t> pinned = Host::Get().RemoveStaleVolumes(CopyPath(env, directory));
    Check(pinned.status());
    return static_cast<jint>(*pinned);
  });
}

jbyteArray Description(JNIEnv* env, jobject, jlong handle) {
  return Entry(env, jbyteArray{}, [&]() -> jbyteArray {
    Use<VolumeHandle> use(handle);
    Packer out;
    out.Bytes(use->path());
    out.Bytes(use->pinned_directory());
    out.Strings(use->left_behind());
    return NewArray(env, out.bytes());
  });
}

// The order of VolumeFigures.java.
void Figures(JNIEnv* env, jobject, jlong handle, jlongArray out) {
  static_cast<void>(Entry<Declares::kNothing>(env, 0, [&]() -> int {
    Use<VolumeHandle> use(handle);
    const VolumeFigures f = use->volume()->figures();
    const uint64_t values[] = {
        f.capacity_bytes,
        f.device_bytes,
        f.used_bytes,
        f.free_bytes,
        f.largest_free_run_bytes,
        f.files,
        f.pins,
        f.journal_written_bytes,
        f.journal_compactions,
        f.metadata_memory_bytes,
        f.direct_io ? 1u : 0u,
    };
    const std::vector<jlong> numbers(std::begin(values), std::end(values));
    CopyNumbers(env, numbers, out);
    return 0;
  }));
}

jlong OpenFile(JNIEnv* env, jobject, jlong handle, jbyteArray directory, jbyteArray name) {
  return Entry(env, jlong{0}, [&]() -> jlong {
    Use<VolumeHandle> use(handle);
    Result<std::unique_ptr<VolumeInput>> input =
        use->volume()->OpenFile(CopyPath(env, directory), CopyPath(env, name));
    Check(input.status());
    return ToJava(std::make_unique<VolumeInputHandle>(use->volume(), std::move(input).value()));
  });
}

jlong CreateFile(JNIEnv* env, jobject, jlong handle, jbyteArray directory, jbyteArray name) {
  return Entry(env, jlong{0}, [&]() -> jlong {
    Use<VolumeHandle> use(handle);
    Result<std::unique_ptr<VolumeOutput>> output =
        use->volume()->CreateFile(CopyPath(env, directory), CopyPath(env, name));
    Check(output.status());
    return ToJava(std::make_unique<VolumeOutputHandle>(use->volume(), std::move(output).value()));
  });
}

void LinkFile(JNIEnv* env, jobject, jlong handle, jbyteArray directory, jbyteArray name,
              jbyteArray to_directory, jbyteArray to_name) {
  static_cast<void>(Entry(env, 0, [&]() -> int {
    Use<VolumeHandle> use(handle);
    Check(use->volume()->LinkFile(CopyPath(env, directory), CopyPath(env, name),
                                  CopyPath(env, to_directory), CopyPath(env, to_name)));
    return 0;
  }));
}

void RemoveFile(JNIEnv* env, jobject, jlong handle, jbyteArray directory, jbyteArray name) {
  static_cast<void>(Entry(env, 0, [&]() -> int {
    Use<VolumeHandle> use(handle);
    Check(use->volume()->RemoveFile(CopyPath(env, directory), CopyPath(env, name)));
    return 0;
  }));
}

jbyteArray ListFiles(JNIEnv* env, jobject, jlong handle, jbyteArray directory) {
  return Entry(env, jbyteArray{}, [&]() -> jbyteArray {
    Use<VolumeHandle> use(handle);
    Result<std::vector<std::string>> names = use->volume()->ListFiles(CopyPath(env, directory));
    Check(names.status());
    Packer out;
    out.Strings(*names);
    return NewArray(env, out.bytes());
  });
}

void RemoveDirectory(JNIEnv* env, jobject, jlong handle, jbyteArray directory) {
  static_cast<void>(Entry(env, 0, [&]() -> int {
    Use<VolumeHandle> use(handle);
    Check(use->volume()->RemoveDirectory(CopyPath(env, directory)));
    return 0;
  }));
}

void Pin(JNIEnv* env, jobject, jlong handle, jbyteArray marker, jbyteArray directory,
         jbyteArray names) {
  static_cast<void>(Entry(env, 0, [&]() -> int {
    Use<VolumeHandle> use(handle);
    const std::string packed = CopyWhole(env, names, "names");
    Unpacker in(packed);
    const std::vector<std::string> list = in.Strings();
    if (in.left() != 0) Check(Status::InvalidArgument("bytes are left behind a pin's names"));
    Check(use->volume()->Pin(CopyPath(env, marker), CopyPath(env, directory), list));
    return 0;
  }));
}

void DropStalePins(JNIEnv* env, jobject, jlong handle) {
  static_cast<void>(Entry(env, 0, [&]() -> int {
    Use<VolumeHandle> use(handle);
    Check(use->volume()->DropStalePins());
    return 0;
  }));
}

// ---------------------------------------------------------------- VolumeInput, VolumeOutput

jlong InputSize(JNIEnv* env, jobject, jlong handle) {
  return Entry<Declares::kNothing>(env, jlong{0}, [&]() -> jlong {
    Use<VolumeInputHandle> use(handle);
    return static_cast<jlong>(use->input()->size());
  });
}

/// Returns the number of bytes read. It is less than len at the end of the file, and if len exceeds
/// the maximum of one read.
jint Read(JNIEnv* env, jobject, jlong handle, jlong offset, jbyteArray out, jint off, jint len) {
  return Entry(env, jint{0}, [&]() -> jint {
    Use<VolumeInputHandle> use(handle);
    CheckRange(out, off, len, "output array");
    const uint64_t size = use->input()->size();
    if (offset < 0) ThrowOutOfBounds("file offset: " + std::to_string(offset));
    if (static_cast<uint64_t>(offset) >= size) return 0;
    const auto bytes = static_cast<size_t>(
        std::min<uint64_t>(std::min(len, kPieceBytesMax), size - static_cast<uint64_t>(offset)));
    ValueBytes buffer(&ThreadScratch().value);
    char* to = buffer.Reserve(bytes);
    Check(use->input()->Read(static_cast<uint64_t>(offset), bytes, to));
    CopyOut(env, Slice(to, bytes), out, off, len);
    return static_cast<jint>(bytes);
  });
}

void Append(JNIEnv* env, jobject, jlong handle, jbyteArray in, jint off, jint len) {
  static_cast<void>(Entry(env, 0, [&]() -> int {
    Use<VolumeOutputHandle> use(handle);
    if (len > kPieceBytesMax) ThrowOutOfBounds("bytes to write: " + std::to_string(len));
    ValueBytes buffer(&ThreadScratch().value);
    Check(use->Append(CopyIn(env, in, off, len, "bytes to write", &buffer)));
    return 0;
  }));
}

void Finish(JNIEnv* env, jobject, jlong handle) {
  static_cast<void>(Entry(env, 0, [&]() -> int {
    Use<VolumeOutputHandle> use(handle);
    Check(use->Finish());
    return 0;
  }));
}

}  // namespace

NativeClass VolumeMethods() {
  static const JNINativeMethod methods[] = {
      Native("open0", "([B[J[B)J", reinterpret_cast<void*>(Open)),
      Native("openPinned0", "([B[J[B)J", reinterpret_cast<void*>(OpenPinned)),
      Native("removeStale0", "([B)I", reinterpret_cast<void*>(RemoveStale)),
      Native("description0", "(J)[B", reinterpret_cast<void*>(Description)),
      Native("figures0", "(J[J)V", reinterpret_cast<void*>(Figures)),
      Native("openFile0", "(J[B[B)J", reinterpret_cast<void*>(OpenFile)),
      Native("createFile0", "(J[B[B)J", reinterpret_cast<void*>(CreateFile)),
      Native("linkFile0", "(J[B[B[B[B)V", reinterpret_cast<void*>(LinkFile)),
      Native("removeFile0", "(J[B[B)V", reinterpret_cast<void*>(RemoveFile)),
      Native("listFiles0", "(J[B)[B", reinterpret_cast<void*>(ListFiles)),
      Native("removeDirectory0", "(J[B)V", reinterpret_cast<void*>(RemoveDirectory)),
      Native("pin0", "(J[B[B[B)V", reinterpret_cast<void*>(Pin)),
      Native("dropStalePins0", "(J)V", reinterpret_cast<void*>(DropStalePins)),
  };
  return {"org/lavakv/Volume", methods};
}

NativeClass VolumeInputMethods() {
  static const JNINativeMethod methods[] = {
      Native("size0", "(J)J", reinterpret_cast<void*>(InputSize)),
      Native("read0", "(JJ[BII)I", reinterpret_cast<void*>(Read)),
  };
  return {"org/lavakv/VolumeInput", methods};
}

NativeClass VolumeOutputMethods() {
  static const JNINativeMethod methods[] = {
      Native("append0", "(J[BII)V", reinterpret_cast<void*>(Append)),
      Native("finish0", "(J)V", reinterpret_cast<void*>(Finish)),
  };
  return {"org/lavakv/VolumeOutput", methods};
}

}  // namespace lava::jni

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <jni.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "db_options.h"
#include "event_ring.h"
#include "handles.h"
#include "jni_util.h"
#include "lava/db.h"
#include "lava/host.h"
#include "lava/status.h"
#include "natives.h"
#include "packer.h"

namespace lava::jni {
namespace {

constexpr jint kWaitMs = Handle::kWaitMsMax;

// ---------------------------------------------------------------- NativeObject

Handle* ToHandle(jlong number) {
  if (number == 0) ThrowBadHandle();
  return reinterpret_cast<Handle*>(number);
}

jboolean Close(JNIEnv* env, jobject, jlong handle) {
  return Entry<Declares::kNothing>(env, jboolean{JNI_TRUE}, [&]() -> jboolean {
    return ToHandle(handle)->Close() ? JNI_TRUE : JNI_FALSE;
  });
}

jboolean IsOpen(JNIEnv* env, jobject, jlong handle) {
  return Entry<Declares::kNothing>(env, jboolean{JNI_FALSE}, [&]() -> jboolean {
    return ToHandle(handle)->close_guard().closed() ? JNI_FALSE : JNI_TRUE;
  });
}

jboolean Release(JNIEnv* env, jclass, jlong handle) {
  return Entry<Declares::kNothing>(env, jboolean{JNI_FALSE}, [&]() -> jboolean {
    return ToHandle(handle)->Release() ? JNI_TRUE : JNI_FALSE;
  });
}

// ---------------------------------------------------------------- Snapshot

jint WaitFlushed(JNIEnv* env, jobject, jlong handle) {
  return Entry(env, jint{0}, [&]() -> jint {
    if (handle == 0) ThrowBadHandle();
    UseSnapshot use(handle, nullptr);
    if (BusyInjected()) return static_cast<jint>(Status::Code::kBusy);
    return DoneOrBusy(use.get()->WaitFlushed(kWaitMs));
  });
}

jbyteArray Files(JNIEnv* env, jobject, jlong handle) {
  return Entry(env, jbyteArray{}, [&]() -> jbyteArray {
    if (handle == 0) ThrowBadHandle();
    UseSnapshot use(handle, nullptr);
    std::vector<Snapshot::File> files;
    std::string metadata;
    Check(use.get()->Files(&files, &metadata));
    Packer out;
    out.Files(files);
    out.Bytes(metadata);
    const Snapshot::Flushed flushed = use.get()->flushed();
    out.Int64(flushed.sealed_bytes);
    out.Int64(flushed.file_bytes);
    std::vector<std::string> missing;
    for (const Snapshot::File& file : files) {
      if (file.missing) missing.push_back(file.name);
    }
    out.Strings(missing);
    return NewArray(env, out.bytes());
  });
}

// ---------------------------------------------------------------- Lease

jlong LeaseNumber(JNIEnv* env, jobject, jlong handle, jint which) {
  return Entry<Declares::kNothing>(env, jlong{0}, [&]() -> jlong {
    Use<LeaseHandle> use(handle);
    const Lease& lease = *use->lease();
    const uint64_t numbers[] = {lease.capacity_bytes(), lease.write_buffer_bytes(),
                                lease.write_buffer_used_bytes(), lease.used_bytes()};
    if (which < 0 || which >= jint{std::size(numbers)}) {
      ThrowOutOfBounds("a lease has no number " + std::to_string(which));
    }
    return static_cast<jlong>(numbers[which]);
  });
}

// ---------------------------------------------------------------- Host

jlong Acquire(JNIEnv* env, jclass, jlong bytes, jdouble write_buffer_ratio) {
  return Entry(env, jlong{0}, [&]() -> jlong {
    if (bytes <= 0 || !(write_buffer_ratio > 0 && write_buffer_ratio < 1)) {
      Check(Status::InvalidArgument("a lease of " + std::to_string(bytes) + " bytes, of which " +
                                    std::to_string(write_buffer_ratio) + " are for writes"));
    }
    Result<std::shared_ptr<Lease>> lease =
        Host::Get().Acquire(static_cast<uint64_t>(bytes), write_buffer_ratio);
    Check(lease.status());
    return ToJava(std::make_unique<LeaseHandle>(std::move(lease).value()));
  });
}

// The order of HostStatistics.java.
void HostNumbers(JNIEnv* env, jclass, jlongArray out) {
  static_cast<void>(Entry<Declares::kNothing>(env, 0, [&]() -> int {
    const HostStatistics s = Host::Get().statistics();
    const uint64_t values[] = {
        s.cache_capacity_bytes,
        s.cache_used_bytes,
        s.cache_pinned_bytes,
        s.cache_hits,
        s.cache_misses,
        s.memtable_bytes,
        s.table_reader_bytes,
        s.file_buffer_bytes,
        s.charged_bytes,
        s.instances_open,
        s.threads,
        s.leases_open,
        s.background_cpu_us,
        s.background_paced_us,
        s.queued_urgent_jobs,
        s.queued_flushes,
        s.queued_l0_compactions,
        s.queued_compactions,
        s.queued_collections,
        s.budget_bytes,
        s.metadata_bytes,
        s.scan_bytes,
        s.flush_job_bytes,
        s.compaction_job_bytes,
        s.collection_job_bytes,
        s.jobs_put_off,
        s.memory_overdrafts,
        s.over_budget_bytes,
        s.binding_bytes,
        s.cache_index.used_bytes,
        s.cache_index.hits,
        s.cache_index.misses,
        s.cache_index.evictions,
        s.cache_data.used_bytes,
        s.cache_data.hits,
        s.cache_data.misses,
        s.cache_data.evictions,
        s.cache_index_bytes_max,
        s.space_used_bytes,
        s.space_live_bytes,
        s.space_limit_bytes,
        s.page_refusals,
    };
    const std::vector<jlong> numbers(std::begin(values), std::end(values));
    CopyNumbers(env, numbers, out);
    return 0;
  }));
}

void SetBackgroundThreads(JNIEnv* env, jclass, jint count) {
  static_cast<void>(Entry<Declares::kNothing>(env, 0, [&]() -> int {
    if (count < 1) ThrowOutOfBounds("background threads: " + std::to_string(count));
    Host::Get().SetBackgroundThreads(static_cast<uint32_t>(count));
    return 0;
  }));
}

void SetBackgroundCpu(JNIEnv* env, jclass, jdouble cores) {
  static_cast<void>(Entry<Declares::kNothing>(env, 0, [&]() -> int {
    Host::Get().SetBackgroundCpu(cores);
    return 0;
  }));
}

void SetSpaceLimit(JNIEnv* env, jclass, jlong bytes) {
  static_cast<void>(Entry<Declares::kNothing>(env, 0, [&]() -> int {
    Host::Get().SetSpaceLimit(static_cast<uint64_t>(std::max<jlong>(bytes, 0)));
    return 0;
  }));
}

jlong OpenNativeObjects(JNIEnv*, jclass) { return static_cast<jlong>(Handle::open_count()); }

// ---------------------------------------------------------------- MetadataInfo

jbyteArray ReadMetadataInfo(JNIEnv* env, jclass, jbyteArray metadata) {
  return Entry(env, jbyteArray{}, [&]() -> jbyteArray {
    const std::string bytes = CopyWhole(env, metadata, "metadata");
    Result<MetadataInfo> info = ReadMetadata(bytes);
    Check(info.status());
    Packer out;
    out.Int32(info->format_version);
    out.Int32(info->partition_bytes);
    out.Tables(info->tables);
    out.Files(info->files);
    return NewArray(env, out.bytes());
  });
}

// ---------------------------------------------------------------- LavaLibrary

jbyteArray DbOptions(JNIEnv* env, jclass) {
  return Entry<Declares::kNothing>(env, jbyteArray{}, [&]() -> jbyteArray {
    Packer out;
    PackDbOptions(&out);
    return NewArray(env, out.bytes());
  });
}

jbyteArray EventTables(JNIEnv* env, jclass) {
  return Entry<Declares::kNothing>(env, jbyteArray{}, [&]() -> jbyteArray {
    Packer out;
    PackEventTables(&out);
    return NewArray(env, out.bytes());
  });
}

void SetFault(JNIEnv*, jclass, jint fault) { injected_fault.store(static_cast<Fault>(fault)); }

}  // namespace

NativeClass ObjectMethods() {
  static const JNINativeMethod methods[] = {
      Native("close0", "(J)Z", reinterpret_cast<void*>(Close)),
      Native("isOpen0", "(J)Z", reinterpret_cast<void*>(IsOpen)),
      Native("release0", "(J)Z", reinterpret_cast<void*>(Release)),
  };
  return {"org/lavakv/NativeObject", methods};
}

NativeClass SnapshotMethods() {
  static const JNINativeMethod methods[] = {
      Native("waitFlushed0", "(J)I", reinterpret_cast<void*>(WaitFlushed)),
      Native("files0", "(J)[B", reinterpret_cast<void*>(Files)),
  };
  return {"org/lavakv/Snapshot", methods};
}

NativeClass LeaseMethods() {
  static const JNINativeMethod methods[] = {
      Native("number0", "(JI)J", reinterpret_cast<void*>(LeaseNumber)),
  };
  return {"org/lavakv/Lease", methods};
}

NativeClass HostMethods() {
  static const JNINativeMethod methods[] = {
      Native("acquire0", "(JD)J", reinterpret_cast<void*>(Acquire)),
      Native("statistics0", "([J)V", reinterpret_cast<void*>(HostNumbers)),
      Native("setBackgroundThreads0", "(I)V", reinterpret_cast<void*>(SetBackgroundThreads)),
      Native("setBackgroundCpu0", "(D)V", reinterpret_cast<void*>(SetBackgroundCpu)),
      Native("setSpaceLimit0", "(J)V", reinterpret_cast<void*>(SetSpaceLimit)),
      Native("openNativeObjects0", "()J", reinterpret_cast<void*>(OpenNativeObjects)),
  };
  return {"org/lavakv/Host", methods};
}

NativeClass MetadataMethods() {
  static const JNINativeMethod methods[] = {
      Native("read0", "([B)[B", reinterpret_cast<void*>(ReadMetadataInfo)),
  };
  return {"org/lavakv/MetadataInfo", methods};
}

NativeClass LibraryMethods() {
  static const JNINativeMethod methods[] = {
      Native("setFault0", "(I)V", reinterpret_cast<void*>(SetFault)),
      Native("dbOptions0", "()[B", reinterpret_cast<void*>(DbOptions)),
      Native("eventTables0", "()[B", reinterpret_cast<void*>(EventTables)),
  };
  return {"org/lavakv/LavaLibrary", methods};
}

}  // namespace lava::jni

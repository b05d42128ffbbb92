// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include <jni.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "db_options.h"
#include "event_ring.h"
#include "handles.h"
#include "jni_util.h"
#include "lava/db.h"
#include "lava/options.h"
#include "lava/status.h"
#include "lava/ttl_time.h"
#include "lava/volume.h"
#include "natives.h"
#include "packer.h"

namespace lava::jni {
namespace {

constexpr jint kBusy = static_cast<jint>(Status::Code::kBusy);

/// The volume of a handle, or null for 0.
std::shared_ptr<SharedVolume> ToVolume(jlong number) {
  if (number == 0) return nullptr;
  Use<VolumeHandle> use(number);
  return use->volume();
}

DBOptions ToOptions(JNIEnv* env, jlongArray numbers, jlong lease, jlong volume,
                    jbyteArray wal_directory) {
  DBOptions o = ToDbOptions(env, numbers);
  {
    Use<LeaseHandle> use(lease);
    o.lease = use->lease();
  }
  o.volume = ToVolume(volume);
  o.wal_directory = CopyWhole(env, wal_directory, "walDir");
  if (o.wal_directory.find('\0') != std::string::npos) {
    Check(Status::InvalidArgument("walDir holds a NUL character"));
  }
  return o;
}

/// Null for 0 bytes.
std::shared_ptr<EventRing> ToEventRing(jint bytes) {
  const uint32_t size = Unsigned(bytes, "eventBufferBytes");
  if (size > EventRing::kBytesMax) {
    Check(Status::InvalidArgument("eventBufferBytes is above " +
                                  std::to_string(EventRing::kBytesMax) + ": " +
                                  std::to_string(size)));
  }
  return size == 0 ? nullptr : std::make_shared<EventRing>(size);
}

jlong Open(JNIEnv* env, jclass, jlongArray options, jbyteArray path, jlong lease, jlong volume,
           jbyteArray wal_directory, jint event_buffer_bytes, jbyteArray imports) {
  return Entry(env, jlong{0}, [&]() -> jlong {
    DBOptions o = ToOptions(env, options, lease, volume, wal_directory);
    std::shared_ptr<EventRing> events = ToEventRing(event_buffer_bytes);
    if (events != nullptr) o.listeners.push_back(events);
    std::string directory = CopyPath(env, path);
    std::vector<ImportSource> sources;
    {
      const std::string packed = CopyWhole(env, imports, "imports");
      sources = Unpacker(packed).Imports();
    }
    Result<std::unique_ptr<DB>> db = DB::Open(o, directory, sources);
    Check(db.status());
    return ToJava(std::make_unique<DatabaseHandle>(std::move(db).value(), std::move(directory),
                                                   std::move(events)));
  });
}

jint Destroy(JNIEnv* env, jclass, jlongArray options, jbyteArray path, jlong lease, jlong volume,
             jbyteArray wal_directory) {
  return Entry(env, jint{0}, [&]() -> jint {
    Check(DB::Destroy(ToOptions(env, options, lease, volume, wal_directory), CopyPath(env, path)));
    return 0;
  });
}

jlong CreateTable(JNIEnv* env, jobject, jlong handle, jbyteArray name, jint kind, jint ttl_layout,
                  jlong ttl_ms, jlong separation_bytes) {
  return Entry(env, jlong{0}, [&]() -> jlong {
    Use<DatabaseHandle> use(handle);
    Result<Table*> table = use->db()->CreateTable(
        CopyWhole(env, name, "name"), ToTableOptions(kind, ttl_layout, ttl_ms, separation_bytes));
    Check(table.status());
    return reinterpret_cast<jlong>(*table);
  });
}

jlong TableId(JNIEnv* env, jobject, jlong handle, jlong table) {
  return Entry<Declares::kNothing>(env, jlong{0}, [&]() -> jlong {
    Use<DatabaseHandle> use(handle);
    return static_cast<jlong>(ToTable(table)->id());
  });
}

jint SetTableOptions(JNIEnv* env, jobject, jlong handle, jlong table, jint kind, jint ttl_layout,
                     jlong ttl_ms, jlong separation_bytes) {
  return Entry(env, jint{0}, [&]() -> jint {
    Use<DatabaseHandle> use(handle);
    if (BusyInjected()) return kBusy;
    return DoneOrBusy(use->db()->SetTableOptions(
        ToTable(table), ToTableOptions(kind, ttl_layout, ttl_ms, separation_bytes)));
  });
}

jint DropTable(JNIEnv* env, jobject, jlong handle, jlong table) {
  return Entry(env, jint{0}, [&]() -> jint {
    Use<DatabaseHandle> use(handle);
    if (BusyInjected()) return kBusy;
    return DoneOrBusy(use->db()->DropTable(ToTable(table)));
  });
}

jbyteArray ListTables(JNIEnv* env, jobject, jlong handle) {
  return Entry(env, jbyteArray{}, [&]() -> jbyteArray {
    Use<DatabaseHandle> use(handle);
    Packer out;
    out.Tables(use->db()->ListTables());
    return NewArray(env, out.bytes());
  });
}

jbyteArray MissingFiles(JNIEnv* env, jobject, jlong handle) {
  return Entry(env, jbyteArray{}, [&]() -> jbyteArray {
    Use<DatabaseHandle> use(handle);
    Packer out;
    out.Files(use->db()->MissingFiles());
    return NewArray(env, out.bytes());
  });
}

jboolean FileArrived(JNIEnv* env, jobject, jlong handle, jbyteArray name) {
  return Entry(env, jboolean{JNI_FALSE}, [&]() -> jboolean {
    Use<DatabaseHandle> use(handle);
    const Status status = use->db()->FileArrived(CopyWhole(env, name, "name"));
    if (status.IsNotFound()) return JNI_FALSE;
    Check(status);
    return JNI_TRUE;
  });
}

jlong TakeSnapshot(JNIEnv* env, jobject, jlong handle) {
  return Entry(env, jlong{0}, [&]() -> jlong {
    Use<DatabaseHandle> use(handle);
    if (BusyInjected()) return 0;
    Result<std::shared_ptr<Snapshot>> snapshot = use->db()->TakeSnapshot();
    if (snapshot.status().IsBusy()) return 0;
    Check(snapshot.status());
    return ToJava(std::make_unique<SnapshotHandle>(use->state(), std::move(snapshot).value()));
  });
}

// numbers: the ticket's. They are changed for the next call.
jint Flush(JNIEnv* env, jobject, jlong handle, jint wait_ms, jlongArray numbers) {
  return Entry(env, jint{0}, [&]() -> jint {
    Use<DatabaseHandle> use(handle);
    if (BusyInjected()) return kBusy;
    OptionNumbers in(env, numbers);
    FlushTicket ticket{.seal = in.Next(), .failures_seen = in.Next()};
    in.End();
    const Status status = use->db()->Flush(Unsigned(wait_ms, "waitMs"), &ticket);
    const jlong out[] = {static_cast<jlong>(ticket.seal), static_cast<jlong>(ticket.failures_seen)};
    CopyNumbers(env, out, numbers);
    return DoneOrBusy(status);
  });
}

// Returns zero when done, otherwise the ticket for the next call.
jlong CompactAll(JNIEnv* env, jobject, jlong handle, jint wait_ms, jlong ticket) {
  return Entry(env, jlong{0}, [&]() -> jlong {
    Use<DatabaseHandle> use(handle);
    uint64_t number = BusyInjected() ? 0 : static_cast<uint64_t>(ticket);
    const Status status = use->db()->CompactAll(Unsigned(wait_ms, "waitMs"), &number);
    if (status.IsBusy() || BusyInjected()) return static_cast<jlong>(number);
    Check(status);
    return 0;
  });
}

void SetTime(JNIEnv* env, jobject, jlong handle, jlong now_ms) {
  static_cast<void>(Entry<Declares::kNothing>(env, 0, [&]() -> int {
    Use<DatabaseHandle> use(handle);
    use->db()->SetTime(now_ms);
    return 0;
  }));
}

void AcceptTime(JNIEnv* env, jobject, jlong handle, jlong now_ms) {
  static_cast<void>(Entry<Declares::kNothing>(env, 0, [&]() -> int {
    Use<DatabaseHandle> use(handle);
    use->db()->AcceptTime(now_ms);
    return 0;
  }));
}

void ContinueTime(JNIEnv* env, jobject, jlong handle, jlong time_ms, jlong lead_ms,
                  jlong stood_ms) {
  static_cast<void>(Entry<Declares::kNothing>(env, 0, [&]() -> int {
    Use<DatabaseHandle> use(handle);
    use->db()->ContinueTime({time_ms, lead_ms, stood_ms});
    return 0;
  }));
}

void Time(JNIEnv* env, jobject, jlong handle, jlongArray out) {
  static_cast<void>(Entry<Declares::kNothing>(env, 0, [&]() -> int {
    Use<DatabaseHandle> use(handle);
    const TtlTime time = use->db()->time();
    const jlong numbers[] = {time.time_ms, time.lead_ms, time.stood_ms};
    CopyNumbers(env, numbers, out);
    return 0;
  }));
}

void SetValuePolicy(JNIEnv* env, jobject, jlong handle, jint policy) {
  static_cast<void>(Entry<Declares::kNothing>(env, 0, [&]() -> int {
    const ValuePolicy to = ToValuePolicy(policy);
    Use<DatabaseHandle> use(handle);
    use->db()->SetValuePolicy(to);
    return 0;
  }));
}

jbyteArray ValueDecisions(JNIEnv* env, jobject, jlong handle) {
  return Entry(env, jbyteArray{}, [&]() -> jbyteArray {
    Use<DatabaseHandle> use(handle);
    Packer out;
    out.Strings(use->db()->TakeValueDecisions());
    return NewArray(env, out.bytes());
  });
}

// The order of DBStatistics.java.
void Statistics(JNIEnv* env, jobject, jlong handle, jlongArray out) {
  static_cast<void>(Entry<Declares::kNothing>(env, 0, [&]() -> int {
    Use<DatabaseHandle> use(handle);
    const DBStatistics s = use->db()->statistics();
    const uint64_t scalars[] = {
        s.memtable_active_bytes,
        s.memtable_sealed_bytes,
        s.sealed_runs,
        s.live_file_bytes,
        s.live_files,
        s.pinned_file_bytes,
        s.pending_compaction_bytes,
        s.running_flushes,
        s.running_compactions,
        s.flushes,
        s.compactions,
        s.trivial_moves,
        s.flush_bytes_written,
        s.compaction_bytes_read,
        s.compaction_bytes_written,
        s.user_bytes_written,
        s.reads,
        s.writes,
        s.scans,
        s.filter_useful,
        s.block_reads,
        s.stall_us,
        s.background_errors,
        s.records_expired,
        s.snapshots_open,
        s.estimated_records,
        s.value_files,
        s.value_file_bytes,
        s.value_raw_bytes,
        s.garbage_bytes_min,
        s.garbage_bytes_max,
        s.value_bytes_written,
        s.value_reads,
        s.value_bytes_read,
        s.collections,
        s.running_collections,
        s.collection_bytes_read,
        s.collection_bytes_written,
        s.collection_values_dead,
        s.estimated_live_bytes,
        s.estimated_hidden_bytes,
        s.space_pressure_percent,
        s.space_stall_us,
        s.memtable_killed_bytes,
        s.merged_value_bytes,
        s.value_files_expired,
        s.collection_input_bytes,
        s.flush_cpu_us,
        s.compaction_cpu_us,
        s.collection_cpu_us,
        s.files_refused_direct,
        s.snapshots_given_up,
        s.flush_stall_us,
        s.compaction_stall_us,
        s.merged_for_garbage_bytes,
        s.merged_for_order_bytes,
        s.merged_down_bytes,
        s.external_values,
        s.entry_bytes,
        s.damaged_files,
        s.records_stepped_over,
        s.events_dropped,
    };
    std::vector<jlong> numbers(std::begin(scalars), std::end(scalars));
    for (const auto& by_level :
         {std::span(s.files_at_level), std::span(s.bytes_at_level),
          std::span(s.value_groups_at_level), std::span(s.value_overlap_at_level)})
      numbers.insert(numbers.end(), by_level.begin(), by_level.end());
    CopyNumbers(env, numbers, out);
    return 0;
  }));
}

void TableNumbers(JNIEnv* env, jobject, jlong handle, jlong table, jlongArray out) {
  static_cast<void>(Entry<Declares::kNothing>(env, 0, [&]() -> int {
    Use<DatabaseHandle> use(handle);
    const TableStatistics s = use->db()->table_statistics(ToTable(table));
    const uint64_t scalars[] = {s.live_bytes,    s.records,     s.value_raw_bytes,
                                s.garbage_bytes, s.value_files, s.separation_bytes,
                                s.large_bytes};
    const std::vector<jlong> numbers(std::begin(scalars), std::end(scalars));
    CopyNumbers(env, numbers, out);
    return 0;
  }));
}

jint VerifyOneFile(JNIEnv* env, jclass, jbyteArray path, jbyteArray tables, jlong volume) {
  return Entry(env, jint{0}, [&]() -> jint {
    const std::string packed = CopyWhole(env, tables, "tables");
    const std::shared_ptr<SharedVolume> in = ToVolume(volume);
    Check(VerifyFile(CopyPath(env, path), Unpacker(packed).Tables(), in.get()));
    return 0;
  });
}

// Does not use Use<DatabaseHandle>, because the database is closed.
jbyteArray LeftOpen(JNIEnv* env, jclass, jlong number) {
  return Entry<Declares::kNothing>(env, jbyteArray{}, [&]() -> jbyteArray {
    auto* handle = reinterpret_cast<Handle*>(number);
    if (handle == nullptr || handle->kind() != DatabaseHandle::kKind) ThrowBadHandle();
    return NewArray(env, static_cast<DatabaseHandle*>(handle)->left_open());
  });
}

}  // namespace

NativeClass DatabaseAdministration() {
  static const JNINativeMethod methods[] = {
      Native("open0", "([J[BJJ[BI[B)J", reinterpret_cast<void*>(Open)),
      Native("destroy0", "([J[BJJ[B)I", reinterpret_cast<void*>(Destroy)),
      Native("createTable0", "(J[BIIJJ)J", reinterpret_cast<void*>(CreateTable)),
      Native("tableId0", "(JJ)J", reinterpret_cast<void*>(TableId)),
      Native("setTableOptions0", "(JJIIJJ)I", reinterpret_cast<void*>(SetTableOptions)),
      Native("dropTable0", "(JJ)I", reinterpret_cast<void*>(DropTable)),
      Native("listTables0", "(J)[B", reinterpret_cast<void*>(ListTables)),
      Native("missingFiles0", "(J)[B", reinterpret_cast<void*>(MissingFiles)),
      Native("fileArrived0", "(J[B)Z", reinterpret_cast<void*>(FileArrived)),
      Native("snapshot0", "(J)J", reinterpret_cast<void*>(TakeSnapshot)),
      Native("flush0", "(JI[J)I", reinterpret_cast<void*>(Flush)),
      Native("compactAll0", "(JIJ)J", reinterpret_cast<void*>(CompactAll)),
      Native("setTime0", "(JJ)V", reinterpret_cast<void*>(SetTime)),
      Native("acceptTime0", "(JJ)V", reinterpret_cast<void*>(AcceptTime)),
      Native("continueTime0", "(JJJJ)V", reinterpret_cast<void*>(ContinueTime)),
      Native("time0", "(J[J)V", reinterpret_cast<void*>(Time)),
      Native("setValuePolicy0", "(JI)V", reinterpret_cast<void*>(SetValuePolicy)),
      Native("valueDecisions0", "(J)[B", reinterpret_cast<void*>(ValueDecisions)),
      Native("statistics0", "(J[J)V", reinterpret_cast<void*>(Statistics)),
      Native("tableStatistics0", "(JJ[J)V", reinterpret_cast<void*>(TableNumbers)),
      Native("leftOpen0", "(J)[B", reinterpret_cast<void*>(LeftOpen)),
      Native("verifyFile0", "([B[BJ)I", reinterpret_cast<void*>(VerifyOneFile)),
  };
  return {"org/lavakv/LavaDB", methods};
}

}  // namespace lava::jni

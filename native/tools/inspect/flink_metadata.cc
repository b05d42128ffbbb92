// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/flink_metadata.h"

#include "base/coding.h"
#include "inspect/file_kind.h"
#include "inspect/text.h"

namespace lava::inspect {
namespace {

constexpr uint32_t kFlinkMagic = 0x4960672d, kMasterStateMagic = 0xc96b1696;
constexpr uint32_t kFirstVersion = 3, kLastVersion = 6;
// A changelog's handle contains others; Flink nests them once.
constexpr int kHandleDepthMax = 4;

// The kinds of handles, with Flink's numbers.
struct Handle {
  enum : uint64_t {
    kNull = 0,
    kByteStream = 1,
    kFile = 2,
    kKeyGroups = 3,
    kOperatorState = 4,
    kIncremental = 5,
    kRelativeFile = 6,
    kSavepointKeyGroups = 7,
    kChangelog = 8,
    kChangeBytes = 9,
    kChangeFiles = 10,
    kIncrementalV2 = 11,
    kKeyGroupsV2 = 12,
    kChangeFilesV2 = 13,
    kChangelogV2 = 14,
    kSegment = 15,
    kEmptySegment = 16,
    kSegmentOperatorState = 17,
  };
};

/// Reads the bytes once. A failed method leaves the reason in status().
class FlinkMetadataParser {
 public:
  FlinkMetadataParser(Slice bytes, const std::string& path, FlinkMetadata* out)
      : whole_(bytes), in_(bytes), path_(path), out_(*out) {}

  Status Parse() {
    if (Int() != kFlinkMagic) Damaged("the file does not begin as Flink's metadata does");
    out_.version = static_cast<uint32_t>(Int());
    if (!status_.ok()) return status_;
    if (out_.version < kFirstVersion || out_.version > kLastVersion)
      return Status::NotSupported(path_ + ": version " + std::to_string(out_.version) +
                                  " of Flink's metadata; this tool reads versions 3 to 6");
    Long();  // the checkpoint's number
    const uint64_t masters = Count();
    for (uint64_t i = 0; i < masters && status_.ok(); ++i) MasterState();
    const uint64_t operators = Count();
    for (uint64_t i = 0; i < operators && status_.ok(); ++i) Operator();
    return status_;
  }

 private:
  uint64_t at() const { return whole_.size() - in_.size(); }
  void Damaged(const std::string& what) {
    if (status_.ok())
      status_ = Status::Corruption(path_ + ": " + what + " at offset " + std::to_string(at()));
  }
  uint64_t Number(size_t bytes) {
    uint64_t value = 0;
    if (status_.ok() && !GetBigEndian(&in_, bytes, &value)) Damaged("the file ends early");
    return value;
  }
  uint64_t Byte() { return Number(1); }
  uint64_t Int() { return Number(4); }
  uint64_t Long() { return Number(8); }
  // The number of items of at least one byte each; no count may exceed the rest of the file.
  uint64_t Count() {
    const uint64_t count = Int();
    if (status_.ok() && count > in_.size())
      Damaged("a count of " + std::to_string(count) + " is larger than the rest of the file");
    return status_.ok() ? count : 0;
  }
  Slice Bytes(uint64_t length) {
    Slice bytes;
    if (status_.ok() && !GetBytes(&in_, length, &bytes)) Damaged("the file ends early");
    return bytes;
  }
  std::string Utf() { return std::string(Bytes(Number(2))); }
  void Unknown(const char* what, uint64_t type) {
    if (status_.ok())
      status_ = Status::NotSupported(path_ + ": " + what + " of the unknown kind " +
                                     std::to_string(type) + " at offset " + std::to_string(at()));
  }

  void MasterState() {
    if (Int() != kMasterStateMagic) Damaged("a master state does not begin as one");
    Bytes(Int());
    ++out_.other_states;
  }

  void Operator() {
    std::string name, uid;
    if (out_.version >= 5) {
      name = Utf();
      uid = Utf();
    }
    const uint64_t lower = Long(), upper = Long();
    Int();  // parallelism
    Int();  // maximum parallelism
    operator_ = !uid.empty()    ? uid
                : !name.empty() ? name
                                : HexNumber(lower, 16) + HexNumber(upper, 16).substr(2);
    HandleFile coordinator;
    if (Stream(&coordinator)) ++out_.other_states;
    const uint32_t subtasks = static_cast<uint32_t>(Int());
    if (static_cast<int32_t>(subtasks) < 0) return;  // all have finished
    for (uint32_t i = 0; i < subtasks && status_.ok(); ++i) {
      const auto index = static_cast<int32_t>(Int());
      if (index >= 0) Subtask(static_cast<uint64_t>(index));  // otherwise the subtask has finished
    }
  }

  void Subtask(uint64_t subtask) {
    subtask_ = subtask;
    for (int i = 0; i < 2 && status_.ok(); ++i)  // managed, raw
      if (Int() != 0) OperatorState();
    for (int i = 0; i < 2 && status_.ok(); ++i) Keyed(0);
    for (int i = 0; i < 2 && status_.ok(); ++i) {  // for input channels, for output partitions
      const uint64_t states = Count();
      for (uint64_t j = 0; j < states && status_.ok(); ++j) ChannelState();
    }
  }

  void OperatorState() {
    const uint64_t type = Byte();
    if (type == Handle::kNull) return;
    if (type != Handle::kOperatorState && type != Handle::kSegmentOperatorState)
      return Unknown("an operator state", type);
    const uint64_t states = Count();
    for (uint64_t i = 0; i < states && status_.ok(); ++i) {
      Utf();
      Byte();  // distribution mode
      Longs(Count());
    }
    if (type == Handle::kSegmentOperatorState) {
      Utf();  // the directory of the subtask's merged files
      Utf();  // that of the shared ones
      Byte();
    }
    HandleFile file;
    Stream(&file);
    ++out_.other_states;
  }

  void ChannelState() {
    const uint64_t type = out_.version >= 6 ? Byte() : 1;
    if (type != 1 && type != 2 && type != 3 && type != 4) return Unknown("a channel's state", type);
    HandleFile file;
    Int();  // the subtask
    if (type <= 2) {
      Int();  // gate or partition
      Int();  // channel or subpartition
      Longs(Count());
      Long();
      Stream(&file);
    } else {
      Long();
      Stream(&file);
      Bytes(Int());
    }
    ++out_.other_states;
  }

  void Longs(uint64_t count) { Bytes(count * 8); }

  // Returns false if there is no handle.
  bool Stream(HandleFile* file) {
    const uint64_t type = Byte();
    switch (type) {
      case Handle::kNull:
        return false;
      case Handle::kByteStream:
        Utf();
        file->bytes = Int();
        file->offset = at();
        Bytes(file->bytes);
        return true;
      case Handle::kFile:
        file->bytes = Long();
        file->base = BaseOf(Utf());
        return true;
      case Handle::kRelativeFile:
        file->base = BaseOf(Utf());
        file->bytes = Long();
        return true;
      case Handle::kSegment:
      case Handle::kEmptySegment:
        file->offset = Long();
        file->bytes = Long();
        Int();  // its scope
        file->base = BaseOf(Utf());
        Utf();  // its logical identifier
        return true;
      case Handle::kKeyGroups:
        Int();
        Longs(Count());
        return Stream(file);
      default:
        Unknown("a stream", type);
        return false;
    }
  }

  void Streams(std::vector<HandleFile>* files) {
    const uint64_t count = Count();
    for (uint64_t i = 0; i < count && status_.ok(); ++i) {
      HandleFile file;
      file.name = Utf();
      if (Stream(&file)) files->push_back(std::move(file));
    }
  }

  void Keyed(int depth) {
    const uint64_t type = Byte();
    if (type == Handle::kNull) return;
    if (depth > kHandleDepthMax) {
      Damaged("handles of keyed state are nested too deep");
      return;
    }
    KeyedState state;
    state.operator_name = operator_;
    state.subtask = subtask_;
    const bool incremental = type == Handle::kIncremental || type == Handle::kIncrementalV2;
    if (incremental) {
      Long();  // the checkpoint's number
      Utf();   // the backend's identifier
    }
    Int();  // the first key group
    const uint64_t key_groups = Int();
    if (incremental) {
      if (type == Handle::kIncrementalV2) Long();  // bytes that were uploaded
      Stream(&state.state_meta);
      Streams(&state.files);
      Streams(&state.files);
      if (type == Handle::kIncrementalV2) Utf();
    } else if (type == Handle::kKeyGroups || type == Handle::kKeyGroupsV2 ||
               type == Handle::kSavepointKeyGroups) {
      state.form = type == Handle::kSavepointKeyGroups ? KeyedForm::kCanonical : KeyedForm::kFull;
      Longs(key_groups);
      HandleFile file;
      if (Stream(&file)) state.files.push_back(std::move(file));
      if (type == Handle::kKeyGroupsV2) Utf();
    } else if (type == Handle::kChangelog || type == Handle::kChangelogV2) {
      return Changelog(type, depth);
    } else if (type == Handle::kChangeBytes) {
      state.form = KeyedForm::kChanges;
      ChangeBytes();
    } else if (type == Handle::kChangeFiles || type == Handle::kChangeFilesV2) {
      state.form = KeyedForm::kChanges;
      ChangeFiles(type, &state.files);
    } else {
      return Unknown("a keyed state", type);
    }
    if (status_.ok()) out_.keyed.push_back(std::move(state));
  }

  void Changelog(uint64_t type, int depth) {
    Long();                                        // bytes that were uploaded
    for (int i = 0; i < 2 && status_.ok(); ++i) {  // materialized, and changes since
      const uint64_t handles = Count();
      for (uint64_t j = 0; j < handles && status_.ok(); ++j) Keyed(depth + 1);
    }
    Long();                                    // the materialization's number
    if (type == Handle::kChangelogV2) Long();  // the checkpoint's
    Utf();
  }

  void ChangeBytes() {
    Long();
    Long();
    const uint64_t changes = Count();
    for (uint64_t i = 0; i < changes && status_.ok(); ++i) {
      Int();  // the key group
      Bytes(Int());
    }
    Utf();
  }

  void ChangeFiles(uint64_t type, std::vector<HandleFile>* files) {
    const uint64_t count = Count();
    for (uint64_t i = 0; i < count && status_.ok(); ++i) {
      HandleFile file;
      Long();  // where its changes begin
      if (Stream(&file)) files->push_back(std::move(file));
    }
    Long();
    Long();
    Utf();
    if (type == Handle::kChangeFilesV2) Utf();
  }

  const Slice whole_;
  Slice in_;
  const std::string& path_;
  FlinkMetadata& out_;
  Status status_;
  std::string operator_;
  uint64_t subtask_ = 0;
};

}  // namespace

const HandleFile* KeyedState::Find(std::string_view name) const {
  for (const HandleFile& file : files)
    if (file.name == name) return &file;
  return nullptr;
}

Status ParseFlinkMetadata(Slice bytes, const std::string& path, FlinkMetadata* out) {
  return FlinkMetadataParser(bytes, path, out).Parse();
}

}  // namespace lava::inspect

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "base/coding.h"
#include "lava/slice.h"

namespace lava::inspect {

/// Writes _metadata in Flink's format, with one operator that has a subtask for each keyed state.
class FlinkMetadataBuilder {
 public:
  explicit FlinkMetadataBuilder(uint32_t version = 6) : version_(version) {}

  /// Files of a handle, each preceded by its name, in the form of Uploaded() and Within().
  void AddIncremental(const std::string& state_meta, const std::vector<std::string>& files) {
    std::string handle = "\x0b";
    PutBigEndian(&handle, 1, 8);  // the checkpoint
    PutText(&handle, "4ff19ad0-3bd6-4b5e-9a40-5c7ff2b7f7d1");
    PutRange(&handle);
    PutBigEndian(&handle, 4711, 8);
    handle += state_meta;
    PutBigEndian(&handle, files.size(), 4);
    for (const std::string& file : files) handle += file;
    PutBigEndian(&handle, 0, 4);  // private files
    PutText(&handle, "an identifier");
    AddSubtask(handle);
  }
  /// type: 3 or 12 for a full checkpoint, 7 for a canonical savepoint.
  void AddKeyGroups(char type, const std::string& stream) {
    std::string handle(1, type);
    PutRange(&handle);
    PutBigEndian(&handle, 100, 8);
    PutBigEndian(&handle, 200, 8);
    handle += stream;
    if (type == 12) PutText(&handle, "an identifier");
    AddSubtask(handle);
  }
  /// A materialization, and subsequent changes in two forms.
  void AddChangelog(const std::string& stream) {
    std::string handle = "\x0e";
    PutRange(&handle);
    PutBigEndian(&handle, 10, 8);
    PutBigEndian(&handle, 1, 4);
    handle += '\7';
    PutRange(&handle);
    handle += std::string(16, '\0') + stream;
    PutBigEndian(&handle, 2, 4);
    handle += '\x09';
    PutRange(&handle);
    handle += std::string(16, '\0');
    PutBigEndian(&handle, 1, 4);
    PutBigEndian(&handle, 0, 4);
    PutBigEndian(&handle, 3, 4);
    handle += "abc";
    PutText(&handle, "changes");
    handle += '\x0d';
    PutRange(&handle);
    PutBigEndian(&handle, 1, 4);
    PutBigEndian(&handle, 0, 8);
    handle += stream + std::string(16, '\0');
    PutText(&handle, "changes");
    PutText(&handle, "lava");
    handle += std::string(16, '\0');
    PutText(&handle, "an identifier");
    AddSubtask(handle);
  }
  /// A subtask with operator state and channel state, and no keyed state.
  void AddFlinksOwn(const std::string& stream) {
    std::string state;
    PutBigEndian(&state, subtasks_.size(), 4);
    PutBigEndian(&state, 1, 4);
    state += '\4';
    PutBigEndian(&state, 1, 4);
    PutText(&state, "offsets");
    state += '\1';
    PutBigEndian(&state, 1, 4);
    PutBigEndian(&state, 0, 8);
    state += stream;
    PutBigEndian(&state, 0, 4);
    state += std::string(2, '\0');
    PutBigEndian(&state, 1, 4);
    if (version_ >= 6) state += '\1';
    state += std::string(12, '\0');
    PutBigEndian(&state, 1, 4);
    state += std::string(16, '\0') + stream;
    PutBigEndian(&state, version_ >= 6 ? 1 : 0, 4);
    if (version_ >= 6) {
      state += '\4' + std::string(12, '\0') + stream;
      PutBigEndian(&state, 2, 4);
      state += "xy";
    }
    subtasks_.push_back(state);
  }

  std::string Build() const {
    std::string out;
    PutBigEndian(&out, 0x4960672d, 4);
    PutBigEndian(&out, version_, 4);
    PutBigEndian(&out, 1, 8);  // the checkpoint
    PutBigEndian(&out, 1, 4);
    PutBigEndian(&out, 0xc96b1696, 4);
    PutBigEndian(&out, 5, 4);
    out += "hook!";
    PutBigEndian(&out, 1, 4);
    if (version_ >= 5) {
      PutText(&out, "Window aggregate");
      PutText(&out, "");
    }
    PutBigEndian(&out, 7, 8);
    PutBigEndian(&out, 9, 8);
    PutBigEndian(&out, 4, 4);
    PutBigEndian(&out, 128, 4);
    out += '\0';  // no coordinator
    PutBigEndian(&out, subtasks_.size() + 1, 4);
    for (const std::string& subtask : subtasks_) out += subtask;
    PutBigEndian(&out, ~uint64_t{0} & 0xffffffff, 4);  // the first subtask has finished
    return out + "properties";
  }

  static void PutText(std::string* out, Slice text) {
    PutBigEndian(out, text.size(), 2);
    *out += text;
  }

 private:
  static void PutRange(std::string* out) {
    PutBigEndian(out, 0, 4);
    PutBigEndian(out, 2, 4);
  }
  void AddSubtask(const std::string& keyed) {
    std::string state;
    PutBigEndian(&state, subtasks_.size(), 4);
    PutBigEndian(&state, 0, 4);
    PutBigEndian(&state, 0, 4);
    state += keyed + std::string(1 + 4 + 4, '\0');
    subtasks_.push_back(state);
  }

  const uint32_t version_;
  std::vector<std::string> subtasks_;
};

}  // namespace lava::inspect

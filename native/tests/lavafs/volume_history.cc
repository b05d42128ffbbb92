// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/lavafs/volume_history.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "testing/random.h"

namespace lava::lavafs {

std::string VolumeState::Differs(Volume* volume, bool nothing_is_open) const {
  std::vector<std::string> expected;
  for (const auto& [directory, files_in] : names) expected.push_back(directory);
  if (volume->ListDirectories() != expected) return "the directories";
  std::set<uint64_t> seen;
  uint64_t extents_bytes = 0;
  for (const auto& [directory, files_in] : names) {
    auto listed = volume->List(directory);
    if (!listed.ok()) return listed.status().ToString();
    std::sort(listed->begin(), listed->end());
    std::vector<std::string> wanted;
    for (const auto& [name, id] : files_in) wanted.push_back(name);
    if (*listed != wanted) {
      std::string names_there = "the names in " + directory + " are";
      for (const std::string& name : *listed) names_there += " " + name;
      return names_there;
    }
    for (const auto& [name, id] : files_in) {
      const File& file = files.at(id);
      const std::string path = directory + "/" + name;
      const auto stat = volume->Stat(directory, name);
      if (!stat.ok()) return stat.status().ToString();
      if (stat->open_ended != file.open_ended) return path + " is open-ended or not";
      if (!file.open_ended && stat->size != file.size) {
        return path + " has " + std::to_string(stat->size) + " bytes, not " +
               std::to_string(file.size);
      }
      if (seen.insert(id).second) extents_bytes += stat->extents_bytes;
      auto opened = volume->Open(directory, name);
      if (!opened.ok()) return opened.status().ToString();
      const uint64_t bytes = file.open_ended ? file.data_synced : file.size;
      std::string read(bytes, '\0');
      const Status done = (*opened)->Read(0, bytes, read.data());
      if (!done.ok()) return done.ToString();
      if (read != BytesOf(id, 0, bytes)) return path + " has other contents";
    }
  }
  const VolumeStatistics all = volume->Statistics();
  if (nothing_is_open &&
      all.used_bytes - all.to_be_freed_bytes - all.journal_bytes - kTestExtentBytes !=
          extents_bytes) {
    return "used " + std::to_string(all.used_bytes) + ", to be freed " +
           std::to_string(all.to_be_freed_bytes) + ", journal " +
           std::to_string(all.journal_bytes) + ", but files have " + std::to_string(extents_bytes);
  }
  return "";
}

struct VolumeHistory::Handle {
  uint64_t id;
  uint64_t appended = 0;
  std::unique_ptr<VolumeFile> file;
};
struct VolumeHistory::Draw : testing::Random {
  using Random::Random;
};

VolumeHistory::VolumeHistory(testing::MemDisk* disk, const Options& options)
    : disk_(disk), options_(options), draw_(std::make_unique<Draw>(options.seed)), states_(1) {}
VolumeHistory::~VolumeHistory() { handles_.clear(); }

VolumeState& VolumeHistory::Next() {
  states_.push_back(states_.back());
  return states_.back();
}

void VolumeHistory::Reached(bool durable) {
  written_floor_ = states_.size() - 1;
  if (durable) durable_floor_ = written_floor_;
}

std::string VolumeHistory::Check(const Status& status, const char* what) {
  return status.ok() ? "" : std::string(what) + ": " + status.ToString();
}

std::string VolumeHistory::AnyDirectory() {
  const auto& names = states_.back().names;
  if (names.empty()) return "";
  return std::next(names.begin(), static_cast<long>(draw_->Uniform(names.size())))->first;
}

bool VolumeHistory::AnyFile(std::string* directory, std::string* name) {
  *directory = AnyDirectory();
  if (directory->empty()) return false;
  const auto& files = states_.back().names.at(*directory);
  if (files.empty()) return false;
  *name = std::next(files.begin(), static_cast<long>(draw_->Uniform(files.size())))->first;
  return true;
}

// Removes a name from a state; a file without one is not part of it.
static void Drop(VolumeState* state, const std::string& directory, const std::string& name) {
  auto& files = state->names.at(directory);
  const auto found = files.find(name);
  if (found == files.end()) return;
  const uint64_t id = found->second;
  files.erase(found);
  for (const auto& [other, names] : state->names) {
    for (const auto& [n, i] : names) {
      if (i == id) return;
    }
  }
  state->files.erase(id);
}

std::string VolumeHistory::Create() {
  const std::string directory = AnyDirectory();
  if (directory.empty() || handles_.size() >= 5) return "";
  const std::string name(1 + draw_->Uniform(3) * 20, static_cast<char>('a' + draw_->Uniform(6)));
  const uint64_t id = next_id_++;
  VolumeState& state = Next();
  Drop(&state, directory, name);
  state.names[directory][name] = id;
  state.files[id] = {.id = id};
  auto file = volume_->Create(directory, name, draw_->OneIn(2) ? 4096 : 40'000);
  if (!file.ok()) return "create: " + file.status().ToString();
  handles_.push_back({.id = id, .file = std::move(*file)});
  return "";
}

std::string VolumeHistory::UseHandle() {
  if (handles_.empty()) return Create();
  const size_t at = draw_->Uniform(handles_.size());
  Handle& handle = handles_[at];
  const uint64_t action = draw_->Uniform(10);
  if (action < 5) {
    const uint64_t bytes = draw_->Uniform(draw_->OneIn(3) ? 40'000 : 3'000);
    const Status done = handle.file->Append(BytesOf(handle.id, handle.appended, bytes));
    handle.appended += bytes;
    return Check(done, "append");
  }
  VolumeState& state = Next();
  const auto found = state.files.find(handle.id);
  const bool first_sync = action == 8 && found != state.files.end() && !found->second.open_ended;
  if (found != state.files.end()) {
    found->second.size = handle.appended;
    found->second.open_ended = action == 8;
    found->second.data_synced = action == 8 ? handle.appended : 0;
  }
  Status done;
  if (action < 7) done = handle.file->Flush();
  if (action == 7) done = handle.file->Sync();
  if (action == 8) done = handle.file->SyncData();
  if (action == 9) done = handle.file->Close();
  if (!done.ok()) return "use a file: " + done.ToString();
  if (action == 8) {
    // Every state to which a crash may go back has this content.
    for (size_t n = durable_floor_; n < states_.size(); n++) {
      const auto file = states_[n].files.find(handle.id);
      if (file != states_[n].files.end() && file->second.open_ended) {
        file->second.data_synced = handle.appended;
      }
    }
    if (first_sync) Reached(true);
  } else {
    Reached(action == 7);
  }
  if (action == 9) handles_.erase(handles_.begin() + static_cast<long>(at));
  return "";
}

std::string VolumeHistory::UseName() {
  std::string directory, name;
  const uint64_t action = draw_->Uniform(8);
  if (action == 0) {
    const std::string made = "d" + std::to_string(draw_->Uniform(4)) + "/x";
    if (states_.back().names.contains(made)) {
      return Check(volume_->MakeDirectory(made), "make directory again");
    }
    Next().names[made];
    const Status done = volume_->MakeDirectory(made);
    Reached(false);
    return Check(done, "make directory");
  }
  if (action == 1) {
    const std::string gone = AnyDirectory();
    if (gone.empty()) return "";
    if (!states_.back().names.at(gone).empty()) {
      return volume_->RemoveDirectory(gone).IsBusy() ? "" : "removed a directory with files";
    }
    Next().names.erase(gone);
    const Status done = volume_->RemoveDirectory(gone);
    Reached(false);
    return Check(done, "remove directory");
  }
  if (!AnyFile(&directory, &name)) return "";
  if (action < 4) {
    Drop(&Next(), directory, name);
    const Status done = volume_->Remove(directory, name);
    Reached(false);
    return Check(done, "remove");
  }
  const std::string to = AnyDirectory();
  const std::string to_name(1 + draw_->Uniform(2), static_cast<char>('a' + draw_->Uniform(6)));
  const uint64_t id = states_.back().names.at(directory).at(name);
  const auto& there = states_.back().names.at(to);
  const bool taken = there.contains(to_name);
  if (action < 6) {
    const bool same = taken && there.at(to_name) == id;
    VolumeState& state = Next();
    if (!same) {
      const VolumeState::File file = state.files.at(id);
      Drop(&state, to, to_name);
      Drop(&state, directory, name);
      state.files[id] = file;
      state.names[to][to_name] = id;
    }
    const Status done = volume_->Rename(directory, name, to, to_name);
    Reached(false);
    return Check(done, "rename");
  }
  if (taken) return volume_->Link(directory, name, to, to_name).IsIOError() ? "" : "linked";
  Next().names[to][to_name] = id;
  const Status done = volume_->Link(directory, name, to, to_name);
  Reached(false);
  return Check(done, "link");
}

std::string VolumeHistory::Remount() {
  handles_.clear();
  if (draw_->OneIn(2)) {
    const Status done = volume_->Close();
    if (!done.ok()) return "close: " + done.ToString();
    Reached(true);
  }
  volume_.reset();
  MountOptions options = options_.mount;
  options.mount = ++mounts_;
  auto mounted = Volume::Mount(disk_->Open(), options);
  if (!mounted.ok()) return "mount: " + mounted.status().ToString();
  volume_ = std::move(*mounted);
  // Empty new files may be missing.
  std::string differs;
  for (size_t at = states_.size(); at-- > written_floor_;) {
    const std::string difference = states_[at].Differs(volume_.get(), true);
    if (difference.empty()) {
      const VolumeState state = states_[at];
      states_.push_back(state);
      Reached(true);
      return "";
    }
    if (differs.empty()) differs = difference;
  }
  return "mounted: " + differs;
}

std::string VolumeHistory::Step() {
  const uint64_t action = draw_->Uniform(20);
  if (action < 3) return Create();
  if (action < 12) return UseHandle();
  if (action < 17) return UseName();
  if (action == 17) {
    const Status done = volume_->SyncMetadata();
    Reached(true);
    return Check(done, "sync metadata");
  }
  if (action == 18) {
    if (!draw_->OneIn(4)) return "";
    const Status done = volume_->CompactJournal();
    Reached(true);
    return Check(done, "compact");
  }
  return draw_->OneIn(8) ? Remount() : "";
}

std::string VolumeHistory::Run() {
  MountOptions options = options_.mount;
  options.mount = mounts_;
  auto mounted = Volume::Mount(disk_->Open(), options);
  if (!mounted.ok()) return "mount: " + mounted.status().ToString();
  volume_ = std::move(*mounted);
  for (uint32_t n = 0; n < options_.operations; n++) {
    const std::string wrong = Step();
    if (!wrong.empty()) return "operation " + std::to_string(n) + ": " + wrong;
    if (!draw_->OneIn(8)) continue;
    const std::string differs = states_.back().Differs(volume_.get(), false);
    if (!differs.empty()) return "operation " + std::to_string(n) + ": " + differs;
  }
  return "";
}

}  // namespace lava::lavafs

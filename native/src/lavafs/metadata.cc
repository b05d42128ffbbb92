// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "lavafs/metadata.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "lava/status.h"
#include "lavafs/change.h"

namespace lava::lavafs {
namespace {

Status Wrong(const Change& change, const std::string& what) {
  return Status::Corruption("a change \"" + std::string(NameOf(change.type)) + "\" " + what);
}

}  // namespace

Status Metadata::NeedsInode(const Change& change, bool used) const {
  const bool is_used = change.inode < inodes_.size() && inodes_[change.inode].used;
  if (is_used == used && (used || change.inode < numbers_max_)) return Status::OK();
  return Wrong(change, "of file " + std::to_string(change.inode) +
                           (used      ? ", which does not exist"
                            : is_used ? ", which exists"
                                      : ", of more than there may be"));
}

Status Metadata::NeedsDirectory(uint32_t number) const {
  if (number < directories_.size() && directories_[number].used) return Status::OK();
  return Status::Corruption("directory " + std::to_string(number) + " does not exist");
}

Status Metadata::Apply(const Change& change, std::vector<ExtentRange>* freed) {
  using Type = Change::Type;
  switch (change.type) {
    case Type::kMakeDirectory: {
      const bool taken =
          change.directory < directories_.size() && directories_[change.directory].used;
      if (taken || change.directory >= numbers_max_ || FindDirectory(change.name).has_value()) {
        return Wrong(change, "of one that is there, or of more than there may be");
      }
      if (change.directory >= directories_.size()) directories_.resize(change.directory + 1);
      Directory& directory = directories_[change.directory];
      directory.name = change.name;
      directory.used = true;
      directory_numbers_.emplace(change.name, change.directory);
      return Status::OK();
    }
    case Type::kRemoveDirectory: {
      LAVA_RETURN_IF_ERROR(NeedsDirectory(change.directory));
      Directory& directory = directories_[change.directory];
      if (directory.names > 0) return Wrong(change, "of one that has files");
      directory_numbers_.erase(directory.name);
      directory = Directory();
      return Status::OK();
    }
    case Type::kCreate:
    case Type::kLink:
    case Type::kUnlink:
    case Type::kRename:
      return ApplyName(change, freed);
    case Type::kExtents:
      LAVA_RETURN_IF_ERROR(NeedsInode(change, true));
      AddRanges(change.ranges, &inodes_[change.inode]);
      return Status::OK();
    case Type::kSize:
      LAVA_RETURN_IF_ERROR(NeedsInode(change, true));
      inodes_[change.inode].size = change.size;
      inodes_[change.inode].open_ended = change.open_ended;
      return Status::OK();
    case Type::kRestore: {
      LAVA_RETURN_IF_ERROR(NeedsInode(change, false));
      TakeInode(change.inode);
      Inode& inode = inodes_[change.inode];
      AddRanges(change.ranges, &inode);
      inode.size = change.size;
      inode.open_ended = change.open_ended;
      return Status::OK();
    }
    case Type::kJump:
    case Type::kResume:
      break;
  }
  return Wrong(change, "amid others");
}

Status Metadata::ApplyName(const Change& change, std::vector<ExtentRange>* freed) {
  using Type = Change::Type;
  LAVA_RETURN_IF_ERROR(NeedsDirectory(change.directory));
  if (change.type == Type::kRename) return Rename(change, freed);
  const uint32_t entry = names_.Find(change.directory, change.name);
  if (change.type == Type::kUnlink) {
    if (entry == Names::kNone) return Wrong(change, "of a name that is not there");
    RemoveName(entry, freed);
    return Status::OK();
  }
  LAVA_RETURN_IF_ERROR(NeedsInode(change, change.type == Type::kLink));
  if (change.type == Type::kLink && entry != Names::kNone) {
    return Wrong(change, "to a name that is there");
  }
  if (change.type == Type::kCreate) TakeInode(change.inode);
  if (entry != Names::kNone) RemoveName(entry, freed);
  AddName(change.directory, change.name, change.inode);
  return Status::OK();
}

Status Metadata::Rename(const Change& change, std::vector<ExtentRange>* freed) {
  LAVA_RETURN_IF_ERROR(NeedsDirectory(change.to_directory));
  const uint32_t from = names_.Find(change.directory, change.name);
  if (from == Names::kNone) return Wrong(change, "of a name that is not there");
  const uint32_t inode = names_.inode(from);
  const uint32_t to = names_.Find(change.to_directory, change.to_name);
  // As in POSIX, a rename between two names of one file keeps both.
  if (to != Names::kNone && names_.inode(to) == inode) return Status::OK();
  if (to != Names::kNone) RemoveName(to, freed);
  AddName(change.to_directory, change.to_name, inode);
  RemoveName(from, freed);
  return Status::OK();
}

void Metadata::AddName(uint32_t directory, Slice name, uint32_t inode) {
  names_.Add(directory, name, inode, &directories_[directory].first);
  directories_[directory].names++;
  inodes_[inode].links++;
}

void Metadata::RemoveName(uint32_t entry, std::vector<ExtentRange>* freed) {
  Directory& directory = directories_[names_.directory(entry)];
  const uint32_t inode = names_.inode(entry);
  names_.Remove(entry, &directory.first);
  directory.names--;
  LAVA_CHECK(inodes_[inode].links > 0);
  inodes_[inode].links--;
  FreeIfGone(inode, freed);
}

void Metadata::TakeInode(uint32_t number) {
  while (inodes_.size() <= number) {
    if (inodes_.size() < number) free_inodes_.push_back(static_cast<uint32_t>(inodes_.size()));
    inodes_.emplace_back();
  }
  if (!free_inodes_.empty() && free_inodes_.back() == number) free_inodes_.pop_back();
  inodes_[number].used = 1;
  files_++;
}

void Metadata::AddRanges(const std::vector<ExtentRange>& ranges, Inode* inode) {
  for (const ExtentRange& range : ranges) {
    ExtentRange* const last = inode->more != nullptr ? &inode->more->back() : &inode->first;
    if (last->count == 0) {
      *last = range;
    } else if (last->first + last->count == range.first) {
      last->count += range.count;
    } else {
      if (inode->more == nullptr) inode->more = std::make_unique<std::vector<ExtentRange>>();
      more_bytes_ -= inode->more->capacity() * sizeof(ExtentRange);
      inode->more->push_back(range);
      more_bytes_ += inode->more->capacity() * sizeof(ExtentRange);
    }
  }
}

void Metadata::FreeIfGone(uint32_t number, std::vector<ExtentRange>* freed) {
  Inode& inode = inodes_[number];
  if (inode.links > 0 || inode.opens > 0) return;
  const std::vector<ExtentRange> ranges = RangesOf(number);
  freed->insert(freed->end(), ranges.begin(), ranges.end());
  if (inode.more != nullptr) more_bytes_ -= inode.more->capacity() * sizeof(ExtentRange);
  inode = Inode();
  free_inodes_.push_back(number);
  files_--;
}

void Metadata::Close(uint32_t number, std::vector<ExtentRange>* freed) {
  LAVA_CHECK(inodes_[number].opens > 0);
  inodes_[number].opens--;
  FreeIfGone(number, freed);
}

std::vector<ExtentRange> Metadata::RangesOf(uint32_t number) const {
  const Inode& inode = inodes_[number];
  std::vector<ExtentRange> ranges;
  if (inode.first.count > 0) ranges.push_back(inode.first);
  if (inode.more != nullptr) ranges.insert(ranges.end(), inode.more->begin(), inode.more->end());
  return ranges;
}

uint64_t Metadata::ExtentsOf(uint32_t number) const {
  const Inode& inode = inodes_[number];
  uint64_t extents = inode.first.count;
  if (inode.more != nullptr) {
    for (const ExtentRange& range : *inode.more) extents += range.count;
  }
  return extents;
}

std::optional<uint32_t> Metadata::FindDirectory(Slice name) const {
  const auto found = directory_numbers_.find(name);
  if (found == directory_numbers_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Metadata::DirectoryNames() const {
  std::vector<std::string> names;
  names.reserve(directory_numbers_.size());
  for (const auto& [name, number] : directory_numbers_) names.push_back(name);
  return names;
}

std::vector<std::string> Metadata::List(uint32_t directory) const {
  std::vector<std::string> names;
  names.reserve(directories_[directory].names);
  for (uint32_t entry = directories_[directory].first; entry != Names::kNone;
       entry = names_.next(entry)) {
    names.push_back(names_.name(entry));
  }
  return names;
}

std::optional<uint32_t> Metadata::Find(uint32_t directory, Slice name) const {
  const uint32_t entry = names_.Find(directory, name);
  if (entry == Names::kNone) return std::nullopt;
  return names_.inode(entry);
}

std::optional<uint32_t> Metadata::FreeInode() const {
  while (!free_inodes_.empty() && inodes_[free_inodes_.back()].used) free_inodes_.pop_back();
  if (!free_inodes_.empty()) return free_inodes_.back();
  if (inodes_.size() >= numbers_max_) return std::nullopt;
  return static_cast<uint32_t>(inodes_.size());
}

std::optional<uint32_t> Metadata::FreeDirectory() const {
  for (uint32_t number = 0; number < directories_.size(); number++) {
    if (!directories_[number].used) return number;
  }
  if (directories_.size() >= numbers_max_) return std::nullopt;
  return static_cast<uint32_t>(directories_.size());
}

void Metadata::ForEachChange(const std::function<void(const Change&)>& visit) const {
  using Type = Change::Type;
  for (uint32_t number = 0; number < inodes_.size(); number++) {
    const Inode& inode = inodes_[number];
    if (!inode.used || inode.links == 0) continue;
    const std::vector<ExtentRange> ranges = RangesOf(number);
    const auto piece = [&](size_t from) {
      return std::vector<ExtentRange>(ranges.begin() + from,
                                      ranges.begin() + std::min(ranges.size(), from + kRangesMax));
    };
    visit({.type = Type::kRestore,
           .inode = number,
           .size = inode.size,
           .open_ended = inode.open_ended != 0,
           .ranges = piece(0)});
    for (size_t from = kRangesMax; from < ranges.size(); from += kRangesMax) {
      visit({.type = Type::kExtents, .inode = number, .ranges = piece(from)});
    }
  }
  for (uint32_t number = 0; number < directories_.size(); number++) {
    const Directory& directory = directories_[number];
    if (!directory.used) continue;
    visit({.type = Type::kMakeDirectory, .directory = number, .name = directory.name});
    for (uint32_t entry = directory.first; entry != Names::kNone; entry = names_.next(entry)) {
      const std::string name = names_.name(entry);
      visit({.type = Type::kLink, .inode = names_.inode(entry), .directory = number, .name = name});
    }
  }
}

Status Metadata::CheckFiles(uint32_t extent_bytes) const {
  for (uint32_t number = 0; number < inodes_.size(); number++) {
    const Inode& inode = inodes_[number];
    if (!inode.used) continue;
    if (inode.links == 0) {
      return Status::Corruption("file " + std::to_string(number) + " has no name");
    }
    const uint64_t allocated_bytes = ExtentsOf(number) * extent_bytes;
    if (inode.size > allocated_bytes) {
      return Status::Corruption("file " + std::to_string(number) + " of " +
                                std::to_string(inode.size) + " bytes has extents for " +
                                std::to_string(allocated_bytes));
    }
  }
  return Status::OK();
}

uint64_t Metadata::bytes() const {
  return inodes_.size() * sizeof(Inode) + more_bytes_ + names_.bytes();
}

}  // namespace lava::lavafs

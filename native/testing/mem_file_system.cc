// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "testing/mem_file_system.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "testing/random.h"

namespace lava::testing {
namespace {

constexpr size_t kSectorBytes = 512;

std::string DirectoryPart(const std::string& path) {
  const size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status Missing(const char* operation, const std::string& path) {
  return Status::NotFound(std::string(operation) + " " + path + ": no such file or directory");
}

}  // namespace

struct MemFileSystem::Node {
  std::string data;
  size_t durable_bytes = 0;  // of data
  // Content that a crash may restore: the durable bytes before the file was created anew.
  std::string before_truncation;
  bool truncated = false;
  uint32_t names = 0;
};

class MemAppendFile : public fs::AppendFile {
 public:
  MemAppendFile(MemFileSystem* owner, MemFileSystem::NodePtr node, std::string path,
                size_t buffer_bytes)
      : owner_(owner), node_(std::move(node)), path_(std::move(path)), buffer_max_(buffer_bytes) {}

  Status Append(Slice data) override {
    if (closed_) return Status::Closed("append to " + path_ + ": it was closed");
    size_ += data.size();
    buffer_.append(data);
    return buffer_.size() > buffer_max_ ? Flush() : Status::OK();
  }
  Status Flush() override {
    if (closed_) return Status::Closed("flush of " + path_ + ": it was closed");
    if (buffer_.empty()) return Status::OK();
    Status status = owner_->AppendTo(node_, buffer_);
    buffer_.clear();
    return status;
  }
  Status Sync() override {
    LAVA_RETURN_IF_ERROR(Flush());
    return owner_->SyncNode(node_);
  }
  Status Close() override {
    if (closed_) return Status::OK();
    Status status = Flush();
    closed_ = true;
    return status;
  }
  uint64_t size() const override { return size_; }

 private:
  MemFileSystem* const owner_;
  const MemFileSystem::NodePtr node_;
  const std::string path_;
  const size_t buffer_max_;
  std::string buffer_;
  uint64_t size_ = 0;
  bool closed_ = false;
};

class MemRandomFile : public fs::RandomFile {
 public:
  MemRandomFile(const MemFileSystem* owner, MemFileSystem::NodePtr node, std::string path,
                uint64_t size)
      : owner_(owner), node_(std::move(node)), path_(std::move(path)), size_(size) {}

  Status Read(uint64_t offset, size_t length, char* scratch) const override {
    return owner_->ReadFrom(node_, path_, offset, length, scratch);
  }
  uint64_t size() const override { return size_; }
  const std::string& path() const override { return path_; }

 private:
  const MemFileSystem* const owner_;
  const MemFileSystem::NodePtr node_;
  const std::string path_;
  const uint64_t size_;
};

class MemDirectoryLock : public fs::DirectoryLock {
 public:
  MemDirectoryLock(MemFileSystem* owner, std::string directory)
      : owner_(owner), directory_(std::move(directory)) {}
  ~MemDirectoryLock() override {
    if (taken_) owner_->Unlock(directory_);
  }
  void SetTaken() { taken_ = true; }

 private:
  MemFileSystem* const owner_;
  const std::string directory_;
  bool taken_ = false;
};

MemFileSystem::MemFileSystem() {
  names_.directories = {"/", "."};
  durable_names_ = names_;
}
MemFileSystem::~MemFileSystem() = default;

Result<std::unique_ptr<fs::AppendFile>> MemFileSystem::Create(const std::string& path,
                                                              size_t buffer_bytes) {
  std::unique_lock<std::mutex> lock(mutex_);
  LAVA_RETURN_IF_ERROR(NeedsDirectory(path, "create"));
  NodePtr node;
  auto it = names_.files.find(path);
  if (it != names_.files.end()) {
    node = it->second;
    if (!node->truncated) node->before_truncation = node->data.substr(0, node->durable_bytes);
    node->truncated = true;
    node->data.clear();
    node->durable_bytes = 0;
  } else {
    node = std::make_shared<Node>();
    Change({"", path, node});
  }
  Mutated(std::move(lock));
  return std::unique_ptr<fs::AppendFile>(
      std::make_unique<MemAppendFile>(this, std::move(node), path, buffer_bytes));
}

Result<std::unique_ptr<fs::RandomFile>> MemFileSystem::OpenRandom(const std::string& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  LAVA_ASSIGN_OR_RETURN(NodePtr node, Find(path, "open"));
  const uint64_t size = node->data.size();
  return std::unique_ptr<fs::RandomFile>(
      std::make_unique<MemRandomFile>(this, std::move(node), path, size));
}

Result<std::string> MemFileSystem::ReadWhole(const std::string& path, uint64_t bytes_max) {
  std::lock_guard<std::mutex> lock(mutex_);
  LAVA_ASSIGN_OR_RETURN(NodePtr node, Find(path, "open"));
  if (node->data.size() > bytes_max) {
    return Status::Corruption("read " + path + ": " + std::to_string(node->data.size()) +
                              " bytes, at most " + std::to_string(bytes_max) + " expected");
  }
  return node->data;
}

Result<uint64_t> MemFileSystem::FileSize(const std::string& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  LAVA_ASSIGN_OR_RETURN(NodePtr node, Find(path, "look at"));
  return static_cast<uint64_t>(node->data.size());
}

Result<bool> MemFileSystem::Exists(const std::string& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  return names_.files.count(path) != 0 || names_.directories.count(path) != 0;
}

Status MemFileSystem::Rename(const std::string& from, const std::string& to) {
  std::unique_lock<std::mutex> lock(mutex_);
  LAVA_ASSIGN_OR_RETURN(NodePtr node, Find(from, "rename"));
  LAVA_RETURN_IF_ERROR(NeedsDirectory(to, "rename to"));
  if (from == to) return Status::OK();
  Change({from, to, std::move(node)});
  Mutated(std::move(lock));
  return Status::OK();
}

Status MemFileSystem::Remove(const std::string& path) {
  std::unique_lock<std::mutex> lock(mutex_);
  LAVA_ASSIGN_OR_RETURN(NodePtr node, Find(path, "remove"));
  Change({path, "", std::move(node)});
  Mutated(std::move(lock));
  return Status::OK();
}

Status MemFileSystem::Link(const std::string& from, const std::string& to) {
  std::unique_lock<std::mutex> lock(mutex_);
  LAVA_ASSIGN_OR_RETURN(NodePtr node, Find(from, "link"));
  LAVA_RETURN_IF_ERROR(NeedsDirectory(to, "link to"));
  if (names_.files.count(to) != 0) return Status::IOError("link to " + to + ": it exists");
  Change({"", to, std::move(node)});
  Mutated(std::move(lock));
  return Status::OK();
}

Result<std::vector<std::string>> MemFileSystem::List(const std::string& directory) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (names_.directories.count(directory) == 0) return Missing("list", directory);
  std::vector<std::string> names;
  for (const auto& [path, node] : names_.files) {
    if (DirectoryPart(path) == directory) names.push_back(path.substr(path.find_last_of('/') + 1));
  }
  return names;
}

Status MemFileSystem::CreateDirectory(const std::string& path) {
  std::unique_lock<std::mutex> lock(mutex_);
  std::vector<std::string> missing;
  for (std::string p = path; names_.directories.count(p) == 0; p = DirectoryPart(p)) {
    if (names_.files.count(p) != 0) {
      return Status::IOError("create directory " + path + ": a file has the name " + p);
    }
    missing.push_back(p);
  }
  if (missing.empty()) return Status::OK();
  while (!missing.empty()) {
    Change({"", std::move(missing.back()), nullptr});
    missing.pop_back();
  }
  Mutated(std::move(lock));
  return Status::OK();
}

Status MemFileSystem::SyncDirectory(const std::string& path) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (names_.directories.count(path) == 0) return Missing("sync directory", path);
  auto touches = [&path](const std::string& name) {
    return !name.empty() && DirectoryPart(name) == path;
  };
  std::vector<NameChange> kept;
  for (NameChange& change : pending_) {
    if (touches(change.from) || touches(change.to)) {
      Apply(change, &durable_names_);
    } else {
      kept.push_back(std::move(change));
    }
  }
  pending_ = std::move(kept);
  Mutated(std::move(lock));
  return Status::OK();
}

Status MemFileSystem::SyncFile(const std::string& path, bool* asked) {
  NodePtr node;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    LAVA_ASSIGN_OR_RETURN(node, Find(path, "sync file"));
  }
  *asked = true;
  return SyncNode(node);
}

Result<std::unique_ptr<fs::DirectoryLock>> MemFileSystem::Lock(const std::string& directory) {
  auto made = std::make_unique<MemDirectoryLock>(this, directory);
  std::unique_lock<std::mutex> lock(mutex_);
  if (names_.directories.count(directory) == 0) return Missing("lock", directory);
  if (!locked_.insert(directory).second) {
    return Status::Busy("lock " + directory + ": in use by this process");
  }
  made->SetTaken();
  const std::string name = directory + "/LOCK";
  if (names_.files.count(name) == 0) {
    Change({"", name, std::make_shared<Node>()});
    Mutated(std::move(lock));
  }
  return std::unique_ptr<fs::DirectoryLock>(std::move(made));
}

std::unique_ptr<CrashableFileSystem> MemFileSystem::CrashClone(CrashMode mode,
                                                               uint64_t seed) const {
  std::lock_guard<std::mutex> lock(mutex_);
  Random random(seed);
  Names survivors = mode == CrashMode::kAll ? names_ : durable_names_;
  if (mode == CrashMode::kRandom || mode == CrashMode::kTorn) {
    // Half of the crashes keep the order of changes, as journals do; the others do not.
    const bool ordered = random.OneIn(2);
    const size_t prefix = random.Uniform(pending_.size() + 1);
    for (size_t i = 0; i < pending_.size(); ++i) {
      if (ordered ? i < prefix : random.OneIn(2)) Apply(pending_[i], &survivors);
    }
  }
  const uint64_t boot = mode == CrashMode::kAll ? boot_ : boot_ + 1;
  return Image(survivors, boot, [&](const Node& node) { return Survivor(node, mode, &random); });
}

// The caller holds the mutex.
std::unique_ptr<MemFileSystem> MemFileSystem::Image(const Names& survivors, uint64_t boot,
                                                    const SurvivorOf& content) const {
  auto clone = std::make_unique<MemFileSystem>();
  for (const std::string& directory : survivors.directories) {
    if (survivors.Reaches(directory)) clone->names_.directories.insert(directory);
  }
  clone->removed_readable_ = removed_readable_;
  clone->boot_ = boot;
  std::map<const Node*, NodePtr> copies;  // shared by all names of a file
  for (const auto& [path, node] : survivors.files) {
    if (!survivors.Reaches(path)) continue;
    NodePtr& copy = copies[node.get()];
    if (copy == nullptr) {
      copy = std::make_shared<Node>();
      copy->data = content(*node);
      copy->durable_bytes = copy->data.size();
    }
    ++copy->names;
    clone->names_.files[path] = copy;
  }
  clone->durable_names_ = clone->names_;
  return clone;
}

// In the order of their names. The caller holds the mutex.
std::vector<const MemFileSystem::Node*> MemFileSystem::UnsyncedNodes() const {
  std::vector<const Node*> nodes;
  for (const Names* names : {&names_, &durable_names_}) {
    for (const auto& [path, node] : names->files) {
      const bool unsynced = node->truncated || node->durable_bytes < node->data.size();
      if (unsynced && std::find(nodes.begin(), nodes.end(), node.get()) == nodes.end())
        nodes.push_back(node.get());
    }
  }
  return nodes;
}

uint64_t MemFileSystem::CrashStates() const {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t states = 1;
  bool many = false;
  for (size_t i = 0; i < pending_.size(); ++i) many |= __builtin_mul_overflow(states, 2, &states);
  for (size_t i = UnsyncedNodes().size(); i > 0; --i)
    many |= __builtin_mul_overflow(states, 3, &states);
  return many ? UINT64_MAX : states;
}

std::unique_ptr<CrashableFileSystem> MemFileSystem::CrashCloneAt(uint64_t state,
                                                                 uint64_t seed) const {
  std::lock_guard<std::mutex> lock(mutex_);
  Random random(seed);
  Names survivors = durable_names_;
  for (const NameChange& change : pending_) {
    if (state % 2 == 1) Apply(change, &survivors);
    state /= 2;
  }
  std::map<const Node*, uint64_t> fates;
  for (const Node* node : UnsyncedNodes()) {
    fates[node] = state % 3;
    state /= 3;
  }
  return Image(survivors, boot_ + 1, [&](const Node& node) {
    const auto fate = fates.find(&node);
    if (fate == fates.end() || fate->second == 1) return node.data;
    return Survivor(node, fate->second == 0 ? CrashMode::kSyncedOnly : CrashMode::kTorn, &random);
  });
}

std::string MemFileSystem::Survivor(const Node& node, CrashMode mode, Random* random) {
  if (mode == CrashMode::kAll) return node.data;
  const bool revert = node.truncated && (mode == CrashMode::kSyncedOnly || random->OneIn(2));
  if (revert) return node.before_truncation;
  if (mode == CrashMode::kSyncedOnly) return node.data.substr(0, node.durable_bytes);
  const size_t unsynced = node.data.size() - node.durable_bytes;
  // Prefers none and all: there are many states in between, but these two matter most.
  const uint64_t draw = random->Uniform(4);
  const size_t kept = draw == 0 ? 0 : draw == 1 ? unsynced : random->Uniform(unsynced + 1);
  std::string data = node.data.substr(0, node.durable_bytes + kept);
  if (mode != CrashMode::kTorn) return data;
  for (size_t sector = node.durable_bytes / kSectorBytes * kSectorBytes; sector < data.size();
       sector += kSectorBytes) {
    const size_t begin = std::max(sector, node.durable_bytes);
    const size_t length = std::min(sector + kSectorBytes, data.size()) - begin;
    const uint64_t fate = random->Uniform(4);
    if (fate == 0) data.replace(begin, length, length, '\0');
    if (fate == 1) data.replace(begin, length, random->Bytes(length));
  }
  return data;
}

uint64_t MemFileSystem::mutating_calls() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return mutating_calls_;
}

void MemFileSystem::SetMutationHook(std::function<void(uint64_t)> hook) {
  std::lock_guard<std::mutex> lock(mutex_);
  hook_ = std::move(hook);
}

void MemFileSystem::SetRemovedFilesReadable(bool readable) {
  std::lock_guard<std::mutex> lock(mutex_);
  removed_readable_ = readable;
}

Result<std::string> MemFileSystem::Content(const std::string& path) const {
  std::lock_guard<std::mutex> lock(mutex_);
  LAVA_ASSIGN_OR_RETURN(NodePtr node, Find(path, "look at"));
  return node->data;
}

Status MemFileSystem::SetContent(const std::string& path, std::string content) {
  std::lock_guard<std::mutex> lock(mutex_);
  LAVA_RETURN_IF_ERROR(NeedsDirectory(path, "set content of"));
  NodePtr& node = names_.files[path];
  if (node == nullptr) {
    node = std::make_shared<Node>();
    node->names = 1;
  }
  durable_names_.files[path] = node;
  for (std::string p = DirectoryPart(path); durable_names_.directories.insert(p).second;)
    p = DirectoryPart(p);
  node->data = std::move(content);
  node->durable_bytes = node->data.size();
  node->truncated = false;
  return Status::OK();
}

std::vector<std::string> MemFileSystem::Paths() const {
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> paths;
  for (const auto& [path, node] : names_.files) paths.push_back(path);
  return paths;
}

Status MemFileSystem::AppendTo(const NodePtr& node, Slice bytes) {
  std::unique_lock<std::mutex> lock(mutex_);
  node->data.append(bytes);
  Mutated(std::move(lock));
  return Status::OK();
}

Status MemFileSystem::SyncNode(const NodePtr& node) {
  std::unique_lock<std::mutex> lock(mutex_);
  node->durable_bytes = node->data.size();
  node->truncated = false;
  node->before_truncation.clear();
  Mutated(std::move(lock));
  return Status::OK();
}

Status MemFileSystem::ReadFrom(const NodePtr& node, const std::string& path, uint64_t offset,
                               size_t length, char* to) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (node->names == 0 && !removed_readable_) return Missing("read (it was removed)", path);
  if (length > node->data.size() || offset > node->data.size() - length) {
    return Status::Corruption("read " + std::to_string(length) + " bytes at offset " +
                              std::to_string(offset) + " of " + path + ": the file ends at " +
                              std::to_string(node->data.size()));
  }
  std::copy_n(node->data.data() + offset, length, to);
  return Status::OK();
}

void MemFileSystem::Unlock(const std::string& directory) {
  std::lock_guard<std::mutex> lock(mutex_);
  LAVA_CHECK(locked_.erase(directory) == 1);
}

void MemFileSystem::Change(NameChange change) {
  if (!change.to.empty() && change.node != nullptr) {
    auto replaced = names_.files.find(change.to);
    if (replaced != names_.files.end()) --replaced->second->names;
    ++change.node->names;
  }
  if (!change.from.empty()) --change.node->names;
  Apply(change, &names_);
  pending_.push_back(std::move(change));
}

void MemFileSystem::Apply(const NameChange& change, Names* names) {
  if (change.node == nullptr) {
    names->directories.insert(change.to);
    return;
  }
  if (!change.from.empty()) {
    auto it = names->files.find(change.from);
    // A change may be applied without earlier ones; it must not remove another file's name.
    if (it != names->files.end() && it->second == change.node) names->files.erase(it);
  }
  if (!change.to.empty()) names->files[change.to] = change.node;
}

bool MemFileSystem::Names::Reaches(const std::string& path) const {
  const std::string parent = DirectoryPart(path);
  return parent == path || (directories.count(parent) != 0 && Reaches(parent));
}

Result<MemFileSystem::NodePtr> MemFileSystem::Find(const std::string& path,
                                                   const char* operation) const {
  auto it = names_.files.find(path);
  if (it == names_.files.end()) return Missing(operation, path);
  return it->second;
}

Status MemFileSystem::NeedsDirectory(const std::string& path, const char* operation) const {
  if (names_.directories.count(path) != 0) {
    return Status::IOError(std::string(operation) + " " + path + ": it is a directory");
  }
  return names_.directories.count(DirectoryPart(path)) != 0 ? Status::OK()
                                                            : Missing(operation, path);
}

void MemFileSystem::Mutated(std::unique_lock<std::mutex> lock) {
  const uint64_t call = ++mutating_calls_;
  const std::function<void(uint64_t)> hook = hook_;
  lock.unlock();
  if (hook != nullptr) hook(call);
}

}  // namespace lava::testing

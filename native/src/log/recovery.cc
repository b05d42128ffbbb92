#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/coding.h"
#include "log/lava_log_impl.h"

namespace lava::log {
namespace {

// A file of changes of names is never that long: a checkpoint comes first.
constexpr uint64_t kMetaBytesMax = 1ull << 30;

struct Listed {
  std::vector<uint32_t> of[4];  // by kind, ascending
  std::vector<std::string> unfinished;
};

Result<Listed> ListFiles(fs::FileSystem* file_system, const std::string& directory) {
  LAVA_ASSIGN_OR_RETURN(const std::vector<std::string> names, file_system->List(directory));
  Listed listed;
  for (const std::string& name : names) {
    FileKind kind{};
    uint32_t number = 0;
    const Slice ending(kUnfinished);
    if (name.size() > ending.size() && Slice(name).substr(name.size() - ending.size()) == ending) {
      listed.unfinished.push_back(name);
    } else if (ParseFileName(name, &kind, &number)) {
      listed.of[static_cast<size_t>(kind)].push_back(number);
    }
  }
  for (std::vector<uint32_t>& numbers : listed.of) std::sort(numbers.begin(), numbers.end());
  return listed;
}

// An end that is taken for torn takes away what stands behind it, so it is looked at twice.
Status SameTwice(Slice once, Slice again, const std::string& path) {
  if (once == again) return Status::OK();
  return Status::IOError(path + ": two reads of its end gave different bytes; try again");
}

}  // namespace

Status LavaLogImpl::Recover() {
  fs::FileSystem* const file_system = options_.file_system;
  const std::string& directory = options_.directory;
  LAVA_RETURN_IF_ERROR(file_system->CreateDirectory(directory));
  LAVA_ASSIGN_OR_RETURN(directory_lock_, file_system->Lock(directory));
  job_->log = this;
  LAVA_ASSIGN_OR_RETURN(const Listed listed, ListFiles(file_system, directory));
  for (const std::string& name : listed.unfinished) {
    LAVA_RETURN_IF_ERROR(file_system->Remove(directory + "/" + name));
  }
  const auto& checkpoints = listed.of[static_cast<size_t>(FileKind::kCheckpoint)];
  const auto& metas = listed.of[static_cast<size_t>(FileKind::kMeta)];
  const auto& datas = listed.of[static_cast<size_t>(FileKind::kData)];
  for (const uint32_t number : listed.of[static_cast<size_t>(FileKind::kIndex)]) {
    if (std::binary_search(datas.begin(), datas.end(), number)) continue;
    LAVA_RETURN_IF_ERROR(file_system->Remove(PathOf(FileKind::kIndex, number)));
  }
  // Numbers that were ever tried are not used again.
  if (!metas.empty()) last_meta_ = metas.back();
  if (!datas.empty()) next_data_ = datas.back() + 1;
  if (checkpoints.empty()) {
    // The first checkpoint comes before the first record.
    if (datas.empty()) return Checkpoint();
    return Status::Corruption(directory + ": there are data files, the first " +
                              FileName(FileKind::kData, datas.front()) + ", but no checkpoint");
  }
  CheckpointContent content;
  LAVA_RETURN_IF_ERROR(ReadCheckpoint(file_system, directory, checkpoints.back(), &content));
  if (content.start.meta != checkpoints.back()) {
    return Status::Corruption(PathOf(FileKind::kCheckpoint, checkpoints.back()) +
                              ": the checkpoint names metadata file " +
                              std::to_string(content.start.meta));
  }
  next_data_ = std::max(next_data_, content.start.next_data);
  if (content.start.next_id > 0) index_.SeeId(content.start.next_id - 1);
  std::vector<MetaOp> ops;
  LAVA_RETURN_IF_ERROR(ReadMeta(content.start.meta, metas, &ops));
  // The file that was written last is not gone on with; what it says is durable before anything is
  // left out because of it.
  LAVA_RETURN_IF_ERROR(RollMeta());
  LAVA_RETURN_IF_ERROR(LoadData(content, ops));
  return RemoveBefore(content.start.meta);
}

Result<bool> LavaLogImpl::IsOnlyMade(FileKind kind, uint32_t number) {
  LAVA_ASSIGN_OR_RETURN(const uint64_t bytes, options_.file_system->FileSize(PathOf(kind, number)));
  if (bytes > kFileHeaderBytes) return false;
  FileHeader header;
  const Status status =
      ReadFileHeader(options_.file_system, options_.directory, kind, number, &header);
  if (!status.ok() && !status.IsCorruption()) return status;
  return !status.ok();
}

Status LavaLogImpl::ReadMeta(uint32_t first, std::vector<uint32_t> numbers,
                             std::vector<MetaOp>* ops) {
  while (!numbers.empty() && numbers.back() > first) {
    LAVA_ASSIGN_OR_RETURN(const bool only_made, IsOnlyMade(FileKind::kMeta, numbers.back()));
    if (!only_made) break;
    numbers.pop_back();
  }
  // From the last one back: each says how much of the one before counts.
  std::vector<std::pair<uint32_t, uint64_t>> chain;
  uint64_t limit = UINT64_MAX;
  for (uint32_t number = numbers.empty() ? 0 : numbers.back(); number >= first && number > 0;) {
    FileHeader header;
    LAVA_RETURN_IF_ERROR(
        ReadFileHeader(options_.file_system, options_.directory, FileKind::kMeta, number, &header));
    if (header.previous >= number) {
      return Status::Corruption(PathOf(FileKind::kMeta, number) + ": it follows number " +
                                std::to_string(header.previous));
    }
    chain.emplace_back(number, limit);
    if (number == first) break;
    number = header.previous;
    limit = header.previous_bytes;
  }
  if (chain.empty() || chain.back().first != first) {
    return Status::Corruption(PathOf(FileKind::kMeta, first) +
                              ": the checkpoint needs it, and no later file leads to it");
  }
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    LAVA_RETURN_IF_ERROR(ReadMetaFile(at->first, at->second, ops));
  }
  last_sound_meta_ = chain.front().first;
  return Status::OK();
}

Status LavaLogImpl::ReadMetaFile(uint32_t number, uint64_t limit, std::vector<MetaOp>* ops) {
  const std::string path = PathOf(FileKind::kMeta, number);
  LAVA_ASSIGN_OR_RETURN(const std::string bytes,
                        options_.file_system->ReadWhole(path, kMetaBytesMax));
  const bool whole = limit != UINT64_MAX;
  if (whole && bytes.size() < limit) {
    return Status::Corruption(path + ": it has " + std::to_string(bytes.size()) +
                              " bytes, but the next one says " + std::to_string(limit));
  }
  FileHeader header;
  LAVA_RETURN_IF_ERROR(DecodeFileHeader(bytes, FileKind::kMeta, number, &header).WithContext(path));
  const Slice frames = Slice(bytes).substr(0, whole ? limit : bytes.size());
  FrameReader reader(frames.substr(std::min(frames.size(), kFileHeaderBytes)),
                     {.name = path,
                      .file_id = header.file_id,
                      .durable_bytes = whole ? limit : 0,
                      .tail_rule = TailRule::kUnsynced,
                      .base_offset = kFileHeaderBytes,
                      .durable_of = [](const Frame& frame) { return DurableOf(frame.payload); }});
  Frame frame;
  FrameReader::Outcome outcome = reader.Next(&frame);
  for (; outcome == FrameReader::Outcome::kFrame; outcome = reader.Next(&frame)) {
    const std::string where = path + ": offset " + std::to_string(frame.offset);
    Slice in = frame.payload;
    uint64_t durable = 0;
    if (frame.type != static_cast<uint8_t>(FrameType::kMeta) || !GetVarint64(&in, &durable)) {
      return Status::Corruption(where + ": a frame of type " + std::to_string(frame.type));
    }
    while (!in.empty()) {
      MetaOp op;
      LAVA_RETURN_IF_ERROR(GetMetaOp(&in, &op).WithContext(where));
      ops->push_back(std::move(op));
    }
  }
  if (outcome == FrameReader::Outcome::kCorruption) return reader.status();
  if (outcome == FrameReader::Outcome::kTornTail) {
    LAVA_ASSIGN_OR_RETURN(const std::string again,
                          options_.file_system->ReadWhole(path, kMetaBytesMax));
    LAVA_RETURN_IF_ERROR(SameTwice(bytes, again, path));
  }
  LAVA_ASSIGN_OR_RETURN(const uint64_t size, options_.file_system->FileSize(path));
  if (size > bytes.size()) {
    return Status::IOError(path + ": " + std::to_string(bytes.size()) + " of its " +
                           std::to_string(size) + " bytes were read; try again");
  }
  meta_size_ = reader.offset();
  statistics_.recovered_bytes_read += bytes.size();
  return Status::OK();
}

Status LavaLogImpl::LoadData(const CheckpointContent& content, const std::vector<MetaOp>& ops) {
  const uint32_t at = content.start.data;
  std::set<uint32_t> removed;
  for (const MetaOp& op : ops) {
    if (op.kind == MetaOp::Kind::kRemoveFile) removed.insert(static_cast<uint32_t>(op.log));
  }
  LAVA_ASSIGN_OR_RETURN(const Listed listed, ListFiles(options_.file_system, options_.directory));
  const auto& datas = listed.of[static_cast<size_t>(FileKind::kData)];
  bool sealed = true;
  std::vector<uint32_t> only_made;
  for (const uint32_t number : datas) {
    if (removed.count(number) != 0) {
      for (const FileKind kind : {FileKind::kData, FileKind::kIndex}) {
        const Status status = options_.file_system->Remove(PathOf(kind, number));
        if (!status.ok() && !status.IsNotFound()) return status;
      }
      continue;
    }
    LAVA_ASSIGN_OR_RETURN(const uint64_t bytes,
                          options_.file_system->FileSize(PathOf(FileKind::kData, number)));
    if (bytes <= kFileHeaderBytes) {
      only_made.push_back(number);  // no record was ever in it
      continue;
    }
    FileHeader header;
    LAVA_RETURN_IF_ERROR(
        ReadFileHeader(options_.file_system, options_.directory, FileKind::kData, number, &header));
    auto file = std::make_shared<DataFile>(options_.file_system, options_.directory, header);
    LAVA_ASSIGN_OR_RETURN(sealed, file->IsSealed());
    DataFileInfo* const info = index_.AddFile(file);
    info->sealed = sealed;
    info->bytes = bytes;
    if (!sealed) {
      if (number != datas.back() || number < at) {
        return Status::Corruption(file->path() + ": it has no directory at its end");
      }
      index_.SetActive(number);
    }
  }
  for (const auto& [number, bytes] : content.start.sealed) {
    if (DataFileInfo* const info = index_.FindFile(number)) info->record_bytes = bytes;
  }
  // Names first, so that records of logs that are gone are passed by.
  const bool own = index_.FindFile(at) != nullptr && !index_.FindFile(at)->sealed;
  for (const CheckpointContent::OfLog& of_log : content.logs) {
    LogicalLog* const log = index_.Create(of_log.id, of_log.name);
    if (log == nullptr) {
      return Status::Corruption(PathOf(FileKind::kCheckpoint, content.start.meta) +
                                ": logical log " + of_log.name + " is there twice");
    }
    log->SeeLsn(of_log.last_lsn);
    log->Trim(of_log.trimmed_to, [](uint32_t, uint64_t) {});
  }
  ReplayNames(ops);
  for (const CheckpointContent::OfLog& of_log : content.logs) {
    LogicalLog* const log = index_.Find(of_log.id);
    if (log == nullptr) continue;
    for (const Pack& pack : of_log.packs) {
      if (pack.last < log->trimmed_to() || removed.count(pack.file) != 0) continue;
      if (pack.file > at || (pack.file == at && !own)) continue;
      if (index_.FindFile(pack.file) == nullptr) return FileIsGone(pack.file, of_log.name);
      log->AddPack(pack);
    }
    for (const Entry& entry : of_log.direct) {
      if (entry.lsn < log->trimmed_to() || removed.count(at) != 0) continue;
      if (index_.FindFile(at) == nullptr) return FileIsGone(at, of_log.name);
      if (own) log->AddDirect(entry);
    }
  }
  for (const auto& [number, info] : index_.files()) {
    if (number < at) continue;
    if (info.sealed) {
      LAVA_RETURN_IF_ERROR(LoadSealed(info.file));
    } else {
      const bool from_start = number == at && content.start.data_offset != 0;
      LAVA_RETURN_IF_ERROR(ScanUnsealed(info.file,
                                        from_start ? content.start.data_offset : kFileHeaderBytes,
                                        from_start ? content.start.data_sequence : 0));
    }
  }
  index_.Recount();
  for (const uint32_t number : only_made) {
    LAVA_RETURN_IF_ERROR(options_.file_system->Remove(PathOf(FileKind::kData, number)));
  }
  if (index_.active() == 0) return Status::OK();
  DataFileInfo* const info = index_.FindFile(index_.active());
  info->record_bytes = info->live_bytes;
  // It cannot be gone on with; what is in it is durable before its index says so.
  const uint32_t active = index_.active();
  LAVA_RETURN_IF_ERROR(options_.file_system->SyncFile(PathOf(FileKind::kData, active)));
  return WriteIndexFile(active);
}

Status LavaLogImpl::FileIsGone(uint32_t number, const std::string& log) const {
  return Status::Corruption(PathOf(FileKind::kData, number) +
                            ": the file is gone, but records of logical log " + log + " are in it");
}

void LavaLogImpl::ReplayNames(const std::vector<MetaOp>& ops) {
  for (const MetaOp& op : ops) {
    switch (op.kind) {
      case MetaOp::Kind::kCreate: {
        index_.SeeId(op.log);
        if (index_.Find(op.log) != nullptr) break;  // the checkpoint has it
        // A log that was not acknowledged, since what was written with it failed.
        if (const LogicalLog* const other = index_.FindByName(op.name)) index_.Delete(other->id());
        LAVA_CHECK(index_.Create(op.log, op.name) != nullptr);
        break;
      }
      case MetaOp::Kind::kDelete:
        index_.Delete(op.log);
        break;
      case MetaOp::Kind::kTrim:
        if (LogicalLog* const log = index_.Find(op.log)) {
          log->Trim(op.lsn, [](uint32_t, uint64_t) {});
        }
        break;
      case MetaOp::Kind::kRemoveFile:
        break;
    }
  }
}

Status LavaLogImpl::LoadSealed(const std::shared_ptr<DataFile>& file) {
  Directory directory;
  LAVA_RETURN_IF_ERROR(file->ReadDirectory(&directory));
  uint64_t* const record_bytes = &index_.FindFile(file->number())->record_bytes;
  *record_bytes = 0;
  for (const Directory::OfLog& of_log : directory.logs) {
    for (const Pack& pack : of_log.packs) *record_bytes += pack.data_bytes;
    index_.SeeId(of_log.log);
    LogicalLog* const log = index_.Find(of_log.log);
    if (log == nullptr) continue;
    for (const Pack& pack : of_log.packs) {
      log->SeeLsn(pack.last);
      if (pack.last >= log->trimmed_to()) log->AddPack(pack);
    }
  }
  return Status::OK();
}

Status LavaLogImpl::ScanUnsealed(const std::shared_ptr<DataFile>& file, uint64_t from,
                                 uint64_t sequence) {
  // It may reach beyond what its size says (AppendFile::SyncData).
  LAVA_ASSIGN_OR_RETURN(const std::unique_ptr<fs::RandomFile> opened,
                        options_.file_system->OpenRandom(file->path()));
  const uint64_t size = opened->size();
  if (size < from) {
    return Status::Corruption(file->path() + ": it ends at " + std::to_string(size) +
                              ", but the checkpoint has what stands up to " + std::to_string(from));
  }
  std::string bytes(size - from, '\0');
  if (!bytes.empty()) LAVA_RETURN_IF_ERROR(opened->Read(from, bytes.size(), bytes.data()));
  statistics_.recovered_bytes_read += bytes.size();
  FrameReader reader(bytes,
                     {.name = file->path(),
                      .file_id = file->header().file_id,
                      .first_sequence = sequence,
                      .tail_rule = TailRule::kUnsynced,
                      .base_offset = from,
                      .durable_of = [](const Frame& frame) { return DurableOf(frame.payload); }});
  Frame frame;
  FrameReader::Outcome outcome = reader.Next(&frame);
  for (; outcome == FrameReader::Outcome::kFrame; outcome = reader.Next(&frame)) {
    LAVA_RETURN_IF_ERROR(
        ScanFrame(frame, file->number())
            .WithContext(file->path() + ": offset " + std::to_string(frame.offset)));
  }
  if (outcome == FrameReader::Outcome::kCorruption) return reader.status();
  if (outcome == FrameReader::Outcome::kTornTail) {
    std::string again(bytes.size(), '\0');
    LAVA_RETURN_IF_ERROR(opened->Read(from, again.size(), again.data()));
    LAVA_RETURN_IF_ERROR(SameTwice(bytes, again, file->path()));
  }
  data_size_ = reader.offset();
  data_since_checkpoint_ += data_size_ - from;
  return Status::OK();
}

Status LavaLogImpl::ScanFrame(const Frame& frame, uint32_t number) {
  Slice in = frame.payload;
  uint64_t durable = 0;
  if (!GetVarint64(&in, &durable)) return Status::Corruption("a frame without its first number");
  switch (static_cast<FrameType>(frame.type)) {
    case FrameType::kBatch:
      while (!in.empty()) {
        const uint64_t offset = frame.offset + kFrameHeaderBytes + frame.payload.size() - in.size();
        Record record;
        LAVA_RETURN_IF_ERROR(GetRecord(&in, &record));
        index_.SeeId(record.log);
        LogicalLog* const log = index_.Find(record.log);
        if (log == nullptr) continue;
        log->SeeLsn(record.lsn);
        if (record.lsn < log->trimmed_to()) continue;
        log->AddDirect(
            {record.lsn, static_cast<uint32_t>(offset), static_cast<uint32_t>(record.data.size())});
      }
      return Status::OK();
    case FrameType::kPack: {
      LogId id = 0;
      std::vector<Entry> entries;
      LAVA_RETURN_IF_ERROR(GetPack(frame.payload, &id, &entries));
      LogicalLog* const log = index_.Find(id);
      if (log == nullptr) return Status::OK();
      Pack pack{.first = entries.front().lsn,
                .last = entries.back().lsn,
                .count = static_cast<uint32_t>(entries.size()),
                .file = number,
                .offset = static_cast<uint32_t>(frame.offset),
                .bytes = static_cast<uint32_t>(frame.payload.size() + kFrameHeaderBytes)};
      for (const Entry& entry : entries) {
        pack.data_bytes += RecordBytes(id, entry);
        log->RemoveDirect(entry);
      }
      if (pack.last >= log->trimmed_to() && !log->HasPack(pack)) log->AddPack(pack);
      return Status::OK();
    }
    case FrameType::kDirectory:
      return Status::OK();  // the file was not sealed to its end
    case FrameType::kMeta:
    case FrameType::kCheckpoint:
      break;
  }
  return Status::Corruption("a frame of type " + std::to_string(frame.type));
}

}  // namespace lava::log

#include "wal/wal.h"

#include <algorithm>
#include <utility>

#include "base/coding.h"

namespace lava {

void WalRecord::Add(Kind kind, Slice internal_key, uint32_t prefix_bytes, Slice value) {
  bytes_.push_back(static_cast<char>(kind));
  PutVarint32(&bytes_, prefix_bytes);
  PutLengthPrefixed(&bytes_, internal_key);
  PutLengthPrefixed(&bytes_, value);
}

void WalRecord::AddLogged(Slice internal_key, uint32_t prefix_bytes, uint64_t boot,
                          Slice reference) {
  std::string value;
  PutFixed64(&value, boot);
  value.append(reference);
  Add(Kind::kPutLogged, internal_key, prefix_bytes, value);
}

Status WalRecord::Take(Slice* in, Change* change) {
  Slice kind;
  if (!GetBytes(in, 1, &kind) || !GetVarint32(in, &change->prefix_bytes) ||
      !GetLengthPrefixed(in, &change->key) || !GetLengthPrefixed(in, &change->value)) {
    return Status::Corruption("a change is not whole");
  }
  const auto number = static_cast<unsigned char>(kind[0]);
  if (number < static_cast<uint8_t>(Kind::kPut) ||
      number > static_cast<uint8_t>(Kind::kCreateTable)) {
    return Status::Corruption("a change of an unknown kind, " + std::to_string(number));
  }
  change->kind = static_cast<Kind>(number);
  if (change->prefix_bytes > change->key.size()) {
    return Status::Corruption("a prefix of " + std::to_string(change->prefix_bytes) +
                              " bytes of a key of " + std::to_string(change->key.size()));
  }
  return Status::OK();
}

Result<std::unique_ptr<Wal>> Wal::Open(std::shared_ptr<log::LavaLog> log, const std::string& name,
                                       const std::string& directory, bool synced,
                                       std::optional<uint64_t> flushed) {
  Result<log::LogId> id = log->Find(name);
  if (!id.ok() && !id.status().IsNotFound()) return std::move(id).status();
  if (!id.ok() && flushed) {
    return Status::Corruption("write-ahead log " + directory + " has no log of " + name +
                              ", whose last writes may be in it alone; name the directory where it "
                              "is (options.wal_directory), and the instance by the path that it "
                              "was made under");
  }
  if (!flushed) {
    if (id.ok()) LAVA_RETURN_IF_ERROR(log->Delete(*id));
    id = log->Create(name);
    if (!id.ok()) return std::move(id).status();
  }
  std::unique_ptr<Wal> wal(new Wal(std::move(log), *id, name, synced));
  uint64_t trimmed_to = 0, last = 0;
  LAVA_RETURN_IF_ERROR(wal->log_->Bounds(*id, &trimmed_to, &last));
  wal->flushed_ = flushed.value_or(0);
  // No number is used twice. The last one may be known only from the manifest, or from the position
  // up to which the log was trimmed.
  wal->last_ = std::max({wal->flushed_, last, trimmed_to > 0 ? trimmed_to - 1 : 0});
  return wal;
}

Status Wal::Replay(const std::function<Status(Slice)>& apply) {
  const auto cursor = log_->NewCursor(id_);
  cursor->Seek(flushed_ + 1);
  const uint64_t end = last_;
  last_ = flushed_;  // a memtable that is sealed during the replay holds the records up to last()
  uint64_t lsn = 0;
  Slice record;
  Status status = cursor->Next(&lsn, &record);
  for (; status.ok(); status = cursor->Next(&lsn, &record)) {
    const std::string where =
        "replay of write-ahead log " + name_ + ", record " + std::to_string(lsn);
    if (lsn != last_ + 1) {
      return Status::Corruption(where + ": record " + std::to_string(last_ + 1) + " is missing");
    }
    LAVA_RETURN_IF_ERROR(apply(record).WithContext(where));
    last_ = lsn;
  }
  last_ = end;
  return status.IsNotFound() ? Status::OK() : status.WithContext("replay of " + name_);
}

Status Wal::Append(const WalRecord& record) {
  const Status status =
      log_->Append(id_, last_ + 1, record.bytes(),
                   synced_ ? log::Durability::kSynced : log::Durability::kWritten);
  if (!status.ok()) [[unlikely]]
    return status.WithContext("write-ahead log of " + name_);
  ++last_;
  return Status::OK();
}

Status Wal::Flushed(uint64_t lsn) {
  if (lsn <= flushed_) return Status::OK();
  flushed_ = lsn;
  // Not synced, because the next trim makes up for one that is lost.
  return log_->Trim(id_, lsn + 1, log::Durability::kWritten);
}

}  // namespace lava

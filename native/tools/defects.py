"""The defects that planted_defects.py plants: what each breaks, as text to replace in one file.

Each must be found once in its file; when the engine changes there, the defect has to follow.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Defect:
    """flavour: the sanitizer that its check needs, or none. tests: which may catch it."""
    name: str
    file: str
    old: str
    new: str
    tests: tuple = ("metamorphic", "crash", "fault", "stress")
    flavour: str = ""


SYNC = ("crash",)
ANSWERS = ("metamorphic",)

DEFECTS = [
    # Durability.
    Defect("a data file is not synced", "src/table/table_writer.cc",
           "options_.sync ? file_->Sync() : file_->Flush()", "file_->Flush()", SYNC),
    Defect("new files' names are not synced before the edit that names them", "src/db/flush.cc",
           "if (options_.sync && any_new) status = fs_->SyncDirectory(path_);",
           "static_cast<void>(any_new);", SYNC),
    Defect("a value file is not synced", "src/value/value_writer.cc",
           "options_.sync ? file_->Sync() : file_->Flush()", "file_->Flush()", SYNC),
    Defect("a collection's names are not synced before the edit that names them",
           "src/db/flush.cc", "!edit.added.empty() || !edit.values_added.empty()",
           "!edit.added.empty()", SYNC),
    Defect("an edit of the manifest is not synced", "src/manifest/manifest.cc",
           "const Status status = log_->Sync();", "const Status status;", SYNC),
    Defect("a new manifest is not synced", "src/manifest/manifest.cc",
           "options_.sync ? log->Sync() : log->Flush()", "log->Flush()", SYNC),
    Defect("CURRENT is not synced before it is renamed", "src/manifest/manifest.cc",
           "options_.sync ? file->Sync() : file->Flush()", "file->Flush()", SYNC),
    Defect("the renaming of CURRENT is not synced", "src/manifest/manifest.cc",
           "return options_.sync ? fs->SyncDirectory(options_.directory) : Status::OK();",
           "return Status::OK();", SYNC),
    Defect("a batch straddles a seal", "src/db/write.cc",
           "for (const WriteBatch::Operation& operation : batch.operations()) "
           "Apply(batch, operation);",
           "for (const WriteBatch::Operation& operation : batch.operations()) {\n"
           "    Apply(batch, operation);\n"
           "    if (&operation == &batch.operations()[batch.count() / 2]) SealLocked();\n  }",
           ("crash", "stress")),
    # Errors.
    Defect("a flush that failed counts as done", "src/db/flush.cc",
           "if (!flushed && status.ok()) {", "if (!flushed) {\n      status = Status::OK();",
           ("fault",)),
    Defect("an edit that did not reach the manifest counts as logged", "src/manifest/manifest.cc",
           "LAVA_RETURN_IF_ERROR(log_->Flush());", "static_cast<void>(log_->Flush());",
           ("fault",)),
    Defect("a manifest that was read in part passes for one with a torn end",
           "src/manifest/manifest.cc", "if (bytes.size() < size)", "if (bytes.size() > size)",
           ("manifest",)),
    Defect("a read that the system cut short passes for whole", "src/fs/posix_descriptor.cc",
           "done += static_cast<size_t>(got);", "done = length;", ("interrupted",)),
    Defect("a write that the system cut short passes for whole", "src/fs/posix_append_file.cc",
           "data.remove_prefix(static_cast<size_t>(written));", "data = Slice();",
           ("interrupted",)),
    Defect("a direct write that was broken off is an error", "src/fs/posix_direct_append_file.cc",
           "} else if (errno != EINTR) {", "} else {", ("interrupted",)),
    Defect("a read of io_uring that came short passes for whole", "src/fs/read_batch.cc",
           "if (reads[i].result < 0 || static_cast<uint64_t>(reads[i].result) < before + piece->length)",
           "if (reads[i].result < 0)", ("interrupted",)),
    Defect("a block's checksum is not looked at", "src/base/block.cc",
           "if (expected != computed) {", "if (expected != computed && handle.bytes == 0) {",
           ("fault",)),
    Defect("a log record's checksum is not looked at", "src/base/framing.cc",
           "if (Crc32c(frame->payload) != DecodeFixed32(header + kPayloadCrcAt)) {",
           "if (length == UINT32_MAX) {", ("corruption",)),
    Defect("a value record's checksum is not looked at", "src/value/format.cc",
           "BlockChecksum(source.unique_id, offset, bytes.substr(0, record->bytes - 8))) {",
           "BlockChecksum(source.unique_id, offset, bytes.substr(0, record->bytes - 8)) &&\n"
           "      bytes.empty()) {", ("fault",)),
    # Values apart.
    Defect("the collector takes copies for what other files hold now", "src/job/gc_job.cc",
           "if (at->places.Shows(key, birth)) {", "if (!key.empty()) {", ("metamorphic", "job")),
    Defect("a key whose older value was dropped counts as dead", "src/job/gc_job.cc",
           "if (reference == nullptr) {\n      ++output_.values_dead;",
           "if (reference == nullptr || temperatures_.IsHot(key, birth, *at->file)) {\n"
           "      ++output_.values_dead;", ("scenario",)),
    Defect("a file goes because all in it has expired, and nothing says so", "src/db/gc.cc",
           "edit->births_expired.push_back({birth.birth, table, share.newest_ms});",
           "static_cast<void>(edit), static_cast<void>(birth), static_cast<void>(share);", ANSWERS),
    Defect("a value that a compaction takes along, but from another file, counts as gone",
           "src/job/value_merge.cc", "if (!found) return Status::OK();",
           "if (!found) {\n    record->kind = RecordKind::kDelete;\n    record->value = Slice();\n"
           "    return Status::OK();\n  }", ANSWERS),
    Defect("births are forgotten while one file still names them", "src/manifest/births.cc",
           "it->second->named_by > 0 ||", "it->second->named_by > 1 ||", ANSWERS),
    Defect("value files that nothing names stay", "src/db/flush.cc",
           "obsolete_[id.ValueFileName()] = entry.file;", "", ANSWERS),
    Defect("an import shows a value file's places beyond its own keys", "src/db/import.cc",
           "if (!ClipBounds(clip, &place)) continue;", "static_cast<void>(clip);", ANSWERS),
    Defect("the value of another birth is handed out", "src/value/value_reader.cc",
           "if (head_->births[record->birth] == birth)",
           "if (head_->births[record->birth] == birth || record->bytes > 0)", ("value",)),
    Defect("what a scan wants is taken from where its piece begins", "src/fs/gathered_reads.cc",
           "ranges[i].offset - first.offset, ranges[i].bytes", "0, ranges[i].bytes", ANSWERS),
    Defect("a new file's index goes to the cache in another place", "src/table/table_reader.cc",
           "i, partitions[i], head_", "i, partitions[0], head_", ANSWERS),
    Defect("a TTL is forgotten when a value moves out", "src/job/value_output.cc",
           "TimestampOf(*options, record->value);", "TimestampOf(*options, {});",
           ("metamorphic", "ttl")),
    Defect("a collection is installed without the values that it copied", "src/db/gc.cc",
           "edit.values_added.push_back(std::move(added));", "obsolete_.size();", ANSWERS),
    Defect("the collector copies values that only their own file's dictionary reads",
           "src/job/gc_job.cc", "if (codec == kZstdDictionary)", "if (stored.empty())", ANSWERS),
    Defect("values that were held back are forgotten at a value file's end",
           "src/value/value_writer.cc",
           "if (status_.ok() && holding_) status_ = EndHolding();", "holding_ = false;", ANSWERS),
    # Answers.
    Defect("a compaction drops tombstones that still hide something", "src/job/merging_iterator.cc",
           "return options_.compaction && group_hide_ == kNoAge && "
           "options_.older->MayHoldKey(newest.key);",
           "return false;", ANSWERS),
    Defect("decoupled records are not looked at on seek", "src/table/table_iterator.cc",
           "decoupled_.Seek(partition_->decoupled.block(), target);",
           "decoupled_.Invalidate();", ANSWERS),
    Defect("filters are not asked for decoupled records",
           "src/table/table_reader.cc", "only_decoupled ? decoupled_hash : hash, decoupled_hash,",
           "hash, hash,", ANSWERS),
    Defect("older files in deep levels are forgotten", "src/job/older_files.cc",
           "level < kLevelCountMax; ++level) {\n    std::vector", "level < 3; ++level) {\n    std::vector",
           ANSWERS),
    Defect("an expired record leaves no tombstone", "src/job/compaction_job.cc",
           "if (!older.MayHoldKey(record->key)) return false;",
           "static_cast<void>(older);\n  return false;", ANSWERS),
    Defect("records expire a little too early", "src/job/ttl_filter.cc",
           "return expiry_ms <= now_ms;", "return expiry_ms <= now_ms + 1'000'000'000;",
           ANSWERS),
    Defect("a file's lower bound is off by one", "src/job/version_lookup.h",
           "it != level.end() && it->lower <= key ?", "it != level.end() && it->lower < key ?",
           ANSWERS),
    Defect("an import shows one partition too few", "src/db/import.cc",
           "PutBigEndian(&clip.upper, highest + 1, options_.partition_bytes);",
           "PutBigEndian(&clip.upper, highest, options_.partition_bytes);", ANSWERS),
    Defect("a clipped file is read from its own beginning", "src/job/merge_run.cc",
           "base_->Seek(entry_.lower);", "base_->SeekToFirst();", ANSWERS),
    Defect("range tombstones are not clipped", "src/job/merge_run.cc",
           "return entry.clipped() ? all.Clip(entry.lower, entry.upper) : all;", "return all;",
           ANSWERS),
    Defect("L0 is not newest first", "src/manifest/version_edit.cc",
           "level.insert(level.begin() + static_cast<ptrdiff_t>(l0_position++), added.entry);",
           "level.push_back(added.entry);\n      static_cast<void>(l0_position);", ANSWERS),
    Defect("the operands of a list are folded in the wrong order", "src/base/lookup.cc",
           "for (size_t i = operands_.size(); i > 0; --i) "
           "storage_->append(operands_[i - 1].bytes());",
           "for (size_t i = 0; i < operands_.size(); ++i) storage_->append(operands_[i].bytes());",
           ANSWERS),
    Defect("clearing a map forgets what is in files", "src/db/write.cc",
           "return found;\n}", "return false;\n}", ANSWERS),
    Defect("sealed runs do not count as older data", "src/db/flush.cc",
           "has_older_ = flushing_ || HasFiles(*version_);", "has_older_ = HasFiles(*version_);",
           ANSWERS),
    Defect("the next page begins with the last one's end", "src/db/scan.cc",
           "range->exclusive = request.lower_exclusive && !request.lower.empty();",
           "range->exclusive = false;", ANSWERS),
    Defect("only the first operation of a batch is checked", "src/db/write.cc",
           "LAVA_RETURN_IF_ERROR(CheckOperation(batch, operation, &table));",
           "if (&operation == &batch.operations().front())\n"
           "      LAVA_RETURN_IF_ERROR(CheckOperation(batch, operation, &table));", ANSWERS),
    Defect("a snapshot's runs share a file with newer ones", "src/db/snapshot.cc",
           "if (!sealed_.empty()) sealed_.front()->ends_snapshot = true;", "",
           ("metamorphic", "stress")),
    # Space.
    Defect("a birth is parted by temperature again and again", "src/job/gc_job.cc",
           "if (!inputs_.contains(place.file.get())) return;", "static_cast<void>(place);",
           ("job",)),
    Defect("garbage that upper levels hide is not exposed", "src/db/compaction.cc",
           "plan = PickExposing(view, MakePickerOptions());", "return;", ("space",)),
    Defect("a write is let past a full instance", "src/db/space.cc",
           "if (space_.stop) return MakeSpace(go_on);", "", ("space",)),
    Defect("what a slow checkpoint keeps fails the job", "src/db/space.cc",
           "if (snapshots_->GiveUpOldest()) {", "if (space_use_.file_bytes == 0) {", ("space",)),
    Defect("two collections take one file", "src/db/gc.cc",
           "file.busy = is_busy || expired;", "file.busy = expired;", ("space",)),
    # Lifetimes.
    Defect("files are removed though a snapshot names them", "src/db/files.cc",
           "if (expired) dead.push_back(candidate.first);", "dead.push_back(candidate.first);",
           ("metamorphic", "stress")),
    # The gap between the two questions made wide enough to be hit within seconds.
    Defect("a file that a reader closes while obsolete ones are looked for is forgotten",
           "src/db/files.cc",
           "if (expired) dead.push_back(candidate.first);\n      return expired;",
           "if (expired) dead.push_back(candidate.first);\n"
           "      const auto until = std::chrono::steady_clock::now() + "
           "std::chrono::microseconds(20);\n"
           "      while (std::chrono::steady_clock::now() < until) {\n      }\n"
           "      return candidate.second.expired();", ("stress",)),
    Defect("moved files are still watched when a close has let go of all versions",
           "src/db/open.cc", "    obsolete_.clear();\n", "", ("concurrency",)),
    Defect("files that nothing names stay", "src/db/files.cc",
           "const Status status = fs_->Remove(path_ + \"/\" + name);",
           "const Status status = name.empty() ? fs_->Remove(path_) : Status::OK();", ANSWERS),
    Defect("memory is not given back to the counter", "src/memtable/arena.cc",
           "counter_->Release(charged_bytes_);\n}", "}", ("metamorphic", "stress")),
    Defect("a value is handed out without its block's pin", "src/db/read.cc",
           "value->Pin(lookup.value(), lookup.pin());", "value->Pin(lookup.value(), nullptr);",
           ANSWERS, "address"),
    Defect("close does not wait for jobs", "src/db/gate.h",
           "return empty_.wait_for(lock, wait_max, [this] { return inside_ == 0; });",
           "return wait_max.count() >= 0;", ("stress",), "address"),
    Defect("a compaction forgets older files that begin within its range",
           "src/job/compaction_scope.cc", "entry.lower < range.upper);",
           "entry.lower < range.lower);", ANSWERS),
    Defect("the current view is read without its lock", "src/db/read_view.h",
           "while (locked_.exchange(true, std::memory_order_acquire)) {",
           "while (locked_.load(std::memory_order_relaxed)) {", ("stress",), "thread"),
]

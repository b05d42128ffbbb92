// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/coding.h"
#include "base/compression.h"
#include "base/dictionary.h"
#include "base/value_reference.h"
#include "fuzz/fuzz_input.h"
#include "table/blob_file_table.h"
#include "value/crit_bit.h"
#include "value/format.h"
#include "value/key_block.h"
#include "value/log_index.h"
#include "value/top_index.h"

namespace lava::fuzzing {

/// The decoders of a value SST's parts, without the file and its checksums around them, and of the
/// data that leads to its values: dictionaries and references. An input's first byte modulo 11
/// selects the decoder for the rest. Data that a decoder accepts must be completely usable. If
/// there is an encoder, re-encoding must decode to the same.
inline constexpr char kVblocksName[] = "/a.vsst";

inline void RunValueProperties(Slice in) {
  ValueFileProperties properties, again;
  std::vector<FileId> blob_files, blob_files_again;
  if (vsst::DecodeProperties(in, &properties, &blob_files) != nullptr) return;
  if (blob_files.size() != properties.blob_files.size())
    FuzzFailed("vblocks", "blob files are missing");
  std::string encoded, twice;
  vsst::EncodeProperties(properties, properties.blob_files, &encoded);
  if (vsst::DecodeProperties(encoded, &again, &blob_files_again) != nullptr)
    FuzzFailed("vblocks", "the encoded properties cannot be decoded");
  vsst::EncodeProperties(again, again.blob_files, &twice);
  if (twice != encoded) FuzzFailed("vblocks", "the properties change by being encoded");
}

inline void CheckTopIndex(const vsst::TopIndex& top, uint64_t end) {
  uint64_t records = 0, at = top.records_end();
  for (const vsst::TopIndex::IndexPartition& index_partition : top.index_partitions()) {
    if (index_partition.records_begin != records || index_partition.records_end <= records)
      FuzzFailed("vblocks", "a top index's records have gaps");
    records = index_partition.records_end;
    const std::string behind = std::string(index_partition.separator) + '\0';
    if (&top.Find(index_partition.separator) != &index_partition ||
        (&top.Find(behind) < &index_partition))
      FuzzFailed("vblocks", "a top index does not find its own key");
  }
  if (records != top.records_end()) FuzzFailed("vblocks", "records end elsewhere");
  const auto place = [&](const BlockHandle& block) {
    if (block.offset != at || block.end() <= at || block.end() > end)
      FuzzFailed("vblocks", "a top index's blocks have gaps");
    at = block.end();
  };
  for (const BlockHandle& block : top.key_blocks()) place(block);
  if (at != top.key_blocks_end())
    FuzzFailed("vblocks", "the key blocks do not end at the expected offset");
  for (const vsst::TopIndex::IndexPartition& index_partition : top.index_partitions())
    place(index_partition.block);
  if (at != end)
    FuzzFailed("vblocks", "the blocks of a top index do not end at the expected offset");
}

/// Format: the end of its blocks u16, then the payload.
inline void RunTopIndex(Slice in) {
  InputReader reader(in);
  const uint64_t end = reader.Short();
  vsst::TopIndex top, again;
  if (top.Load(std::string(reader.rest()), end) != nullptr) return;
  CheckTopIndex(top, end);
  vsst::TopIndexBuilder builder;
  for (const vsst::TopIndex::IndexPartition& index_partition : top.index_partitions())
    builder.AddIndexPartition(index_partition.separator,
                              index_partition.records_end - index_partition.records_begin,
                              index_partition.block.bytes);
  for (const BlockHandle& block : top.key_blocks()) builder.AddKeyBlock(block.bytes);
  std::string encoded;
  builder.Finish(&encoded);
  if (again.Load(encoded, end) != nullptr)
    FuzzFailed("vblocks", "an encoded top index cannot be loaded");
  CheckTopIndex(again, end);
  if (again.index_partitions().size() != top.index_partitions().size() ||
      again.key_blocks().size() != top.key_blocks().size())
    FuzzFailed("vblocks", "a top index changes by being encoded");
}

/// Format: the bytes of its records u16, then the payload, whose bytes are also used as lookup
/// keys.
inline void RunTree(Slice in) {
  InputReader reader(in);
  const uint64_t extent = reader.Short();
  const ExactCopy copy(reader.rest());
  vsst::IndexPartitionView view;
  if (view.Load(copy.get(), extent) != nullptr) return;
  uint64_t at = 0;
  for (uint32_t i = 0; i < view.count(); ++i) {
    const vsst::IndexPartitionView::Group group = view.group(i);
    if (group.begin != at || group.end < at + vsst::kRecordBytesMin)
      FuzzFailed("vblocks", "a tree's positions have gaps");
    at = group.end;
    static_cast<void>(view.fingerprint(i));
    if (i + 1 < view.count()) static_cast<void>(view.bit(i));
  }
  if (at != extent)
    FuzzFailed("vblocks", "the positions of a tree do not end at the expected offset");
  for (size_t length = 0; length <= copy.get().size(); length += 1 + length / 4)
    if (view.Candidate(copy.get().substr(length / 2, length)) >= view.count())
      FuzzFailed("vblocks", "a tree returned a key that it does not have");
}

/// Format: keys, each preceded by its length modulo 16. A tree built from them must find them all.
inline void RunTreeOf(Slice in) {
  InputReader reader(in);
  std::set<std::string> keys;
  while (!reader.done()) keys.insert(std::string(reader.Take(reader.Byte() % 16)));
  if (keys.empty()) return;
  vsst::IndexPartitionBuilder builder;
  uint64_t offset = 500;
  for (const std::string& key : keys) {
    builder.Add(key, offset);
    offset += vsst::kRecordBytesMin + key.size();
  }
  std::string payload;
  const uint64_t tree_bytes = builder.Finish(offset, &payload);
  const ExactCopy copy(payload);
  vsst::IndexPartitionView view;
  if (view.Load(copy.get(), offset - 500) != nullptr)
    FuzzFailed("vblocks", "an encoded tree cannot be loaded");
  if (view.tree_bytes() != tree_bytes)
    FuzzFailed("vblocks", "a tree has the wrong number of bytes");
  uint32_t i = 0;
  const std::string* before = nullptr;
  for (const std::string& key : keys) {
    if (view.Candidate(key) != i || view.fingerprint(i) != vsst::FingerprintOf(vsst::KeyHash(key)))
      FuzzFailed("vblocks", "a tree does not find its own key");
    if (before != nullptr) {
      if (view.bit(i - 1) != vsst::FirstDifferingBit(*before, key))
        FuzzFailed("vblocks", "a tree compares the wrong bit");
      const Slice separator = vsst::ShortSeparator(*before, key);
      if (separator <= *before || separator > key)
        FuzzFailed("vblocks", "a separator is not between its two keys");
    }
    before = &key;
    ++i;
  }
}

struct DecodedKey {
  std::string key;
  vsst::KeyBlockEntry entry;
};

/// Decodes the entries of a block that follows another one; false when it is malformed.
inline bool DecodeKeyBlock(Slice payload, vsst::KeyBlockCursor* cursor, uint64_t* first_offset,
                           std::vector<DecodedKey>* entries) {
  const ExactCopy copy(payload);
  if (cursor->Load(copy.get(), first_offset) != nullptr) return false;
  while (!cursor->done()) {
    const std::string before(cursor->key());
    int order = 0;
    if (cursor->Next(&order) != nullptr) return false;
    if (cursor->key().size() > vsst::kRecordKeyBytesMax)
      FuzzFailed("vblocks", "a key of a key block is too long");
    const int expected = Slice(before).compare(cursor->key());
    if ((order < 0) != (expected < 0) || (order > 0) != (expected > 0))
      FuzzFailed("vblocks", "a key block reports a wrong order of keys");
    entries->push_back({std::string(cursor->key()), cursor->entry()});
  }
  return true;
}

/// Format: the bytes of the first of two blocks u16, then both, which one cursor reads.
inline void RunKeyBlocks(Slice in) {
  InputReader reader(in);
  const Slice first = reader.Take(reader.Short());
  vsst::KeyBlockCursor cursor;
  for (const Slice payload : {first, reader.rest()}) {
    uint64_t offset = 0, offset_again = 0;
    std::vector<DecodedKey> entries, again;
    if (!DecodeKeyBlock(payload, &cursor, &offset, &entries)) return;
    vsst::KeyBlockBuilder builder;
    for (const DecodedKey& entry : entries) builder.Add(entry.key, entry.entry, offset);
    vsst::KeyBlockCursor other;
    if (!DecodeKeyBlock(builder.payload(), &other, &offset_again, &again) ||
        offset_again != offset || again.size() != entries.size())
      FuzzFailed("vblocks", "an encoded key block cannot be decoded");
    for (size_t i = 0; i < entries.size(); ++i)
      if (again[i].key != entries[i].key ||
          again[i].entry.blob_file_index != entries[i].entry.blob_file_index ||
          again[i].entry.record_bytes != entries[i].entry.record_bytes ||
          again[i].entry.raw_bytes != entries[i].entry.raw_bytes)
        FuzzFailed("vblocks", "a key block changes by being encoded");
  }
}

/// Corrects a footer's tail: its length, its checksum, the magic number.
inline void SealValueFooter(uint64_t file_bytes, size_t footer_bytes, std::string* tail) {
  if (tail->size() < footer_bytes) return;
  char* end = tail->data() + tail->size();
  EncodeFixed32(end - 24, static_cast<uint32_t>(footer_bytes));
  EncodeFixed64(end - 16,
                Hash64(Slice(end - footer_bytes, footer_bytes - 16), file_bytes - footer_bytes));
  EncodeFixed64(end - 8, vsst::kMagic);
}

/// Format: the file's length u16, how to correct the footer u8, then the file's tail.
inline void RunValueFooter(Slice in) {
  InputReader reader(in);
  const uint64_t file_bytes = reader.Short();
  const uint8_t seal = reader.Byte() % 3;
  std::string tail(reader.rest());
  if (tail.size() != std::min<uint64_t>(file_bytes, vsst::kFooterBytes)) return;
  if (seal == 1) SealValueFooter(file_bytes, vsst::kPlainFooterBytes, &tail);
  if (seal == 2) SealValueFooter(file_bytes, vsst::kFooterBytes, &tail);
  const ExactCopy copy(tail);
  vsst::Footer footer;
  const Status status = vsst::DecodeFooter(kVblocksName, file_bytes, copy.get(), &footer);
  if (!status.ok()) {
    CheckError("vblocks", status, kVblocksName);
    return;
  }
  const uint64_t offset = file_bytes - footer.bytes();
  if (footer.top_index.end() != offset || footer.properties.end() != footer.top_index.offset ||
      (footer.has_dictionary() && footer.dictionary.end() != footer.properties.offset))
    FuzzFailed("vblocks", "a footer's blocks have gaps");
  std::string encoded;
  vsst::EncodeFooter(footer, offset, &encoded);
  if (encoded != Slice(tail).substr(tail.size() - footer.bytes()))
    FuzzFailed("vblocks", "a footer changes by being encoded");
}

/// Uses an accepted value; its decompression must end with a Status, too.
inline void UseValue(const StoredValue& value) {
  constexpr uint32_t kRawBytesMax = 1 << 16;
  if (value.codec == kZstdDictionary || value.raw_bytes > kRawBytesMax) return;
  const std::unique_ptr<char[]> raw(new char[value.raw_bytes]);
  if (!Decompress(value.codec, value.bytes, raw.get(), value.raw_bytes)) return;
  if (value.codec == Compression::kNone && Slice(raw.get(), value.raw_bytes) != value.bytes)
    FuzzFailed("vblocks", "a value changes although it is not compressed");
}

/// Format: corrections u8 (bit 0: the checksum, bit 1: the file has a dictionary), codec u8, raw
/// length u16, then the record's lengths, key and value; or, with bit 2, the whole record.
inline void RunRecord(Slice in) {
  InputReader reader(in);
  const uint8_t shape = reader.Byte();
  constexpr uint64_t kUniqueId = 77, kOffset = 1000, kBlobFiles = 3;
  const auto codec = static_cast<Compression>(reader.Byte() % 5);
  const uint32_t raw_bytes = reader.Short();
  std::string bytes(reader.rest());
  if ((shape & 4) == 0) SealBlock(kUniqueId, kOffset, codec, raw_bytes, &bytes);
  if ((shape & 4) == 0 && (shape & 1) == 0) bytes.back() = static_cast<char>(bytes.back() ^ 1);
  const ExactCopy copy(bytes);
  const std::string path = kVblocksName;
  const vsst::RecordSource source{path, kUniqueId, kBlobFiles, (shape & 2) != 0};
  vsst::RecordView view, again;
  const Status status = vsst::DecodeRecord(source, kOffset, copy.get(), &view);
  if (!status.ok()) {
    CheckError("vblocks", status, path);
    return;
  }
  if (view.bytes > bytes.size() || view.blob_file_index >= kBlobFiles)
    FuzzFailed("vblocks", "a record has more bytes than the input, or an unknown blob file");
  UseValue(view.value);
  std::string encoded;
  vsst::EncodeRecord(kUniqueId, kOffset, view.blob_file_index, view.key, view.value, &encoded);
  if (!vsst::DecodeRecord(source, kOffset, encoded, &again).ok() || again.key != view.key ||
      again.value.bytes != view.value.bytes || again.value.raw_bytes != view.value.raw_bytes ||
      again.value.codec != view.value.codec || again.blob_file_index != view.blob_file_index)
    FuzzFailed("vblocks", "a record changes by being encoded");
}

/// Format: the dictionary's bytes u16, the value's raw bytes u16, the dictionary, the value.
inline void RunDictionary(Slice in) {
  InputReader reader(in);
  const uint32_t dictionary_bytes = reader.Short(), raw_bytes = reader.Short();
  const ExactCopy bytes(reader.Take(dictionary_bytes));
  const ExactCopy payload(reader.rest());
  const std::unique_ptr<const Dictionary> dictionary = Dictionary::Load(bytes.get());
  const std::unique_ptr<const Dictionary> same = Dictionary::Load(bytes.get());
  if ((dictionary == nullptr) != (same == nullptr))
    FuzzFailed("vblocks", "a dictionary loads only sometimes");
  if (dictionary == nullptr) return;
  if (dictionary->memory_bytes() < bytes.get().size())
    FuzzFailed("vblocks", "a dictionary takes less memory than its bytes");
  if (!RawBytesPossible(kZstdDictionary, payload.get(), raw_bytes)) return;
  // Repeating the same call would not be sufficient: for bytes that no compressor wrote, the result
  // of zstd may depend on whether the previous call used the dictionary.
  const std::unique_ptr<char[]> raw(new char[raw_bytes]), again(new char[raw_bytes]);
  const bool good = dictionary->Decompress(payload.get(), raw.get(), raw_bytes);
  if (same->Decompress(payload.get(), again.get(), raw_bytes) != good ||
      (good && Slice(raw.get(), raw_bytes) != Slice(again.get(), raw_bytes)))
    FuzzFailed("vblocks", "a value decompresses to different bytes");
}

inline void RunReference(Slice in) {
  const ExactCopy copy(in);
  ValueReference reference, again;
  if (!DecodeReference(copy.get(), &reference)) return;
  std::string encoded;
  EncodeReference(reference, &encoded);
  if (!DecodeReference(encoded, &again) || again != reference)
    FuzzFailed("vblocks", "a reference changes by being encoded");
}

/// Format: the number of blob files of the file u8, then the reference as stored in a key SST.
inline void RunFileReference(Slice in) {
  InputReader reader(in);
  std::vector<TableProperties::NamedBlobFile> blob_files(reader.Byte() % 4);
  for (size_t i = 0; i < blob_files.size(); ++i) blob_files[i].blob_file = {{5, i}, 100 + i};
  const ExactCopy copy(reader.rest());
  ValueReference reference, again;
  if (!ksst::DecodeFileReference(copy.get(), blob_files, &reference)) return;
  const auto named = std::find_if(blob_files.begin(), blob_files.end(), [&](const auto& blob_file) {
    return blob_file.blob_file == reference.blob_file;
  });
  if (named == blob_files.end())
    FuzzFailed("vblocks", "a reference names a blob file that is not in the file's table");
  // A builder returns the blob files before their indexes.
  std::vector<TableProperties::NamedBlobFile> built;
  ksst::BlobFileTableBuilder builder(&built);
  std::string unused, encoded;
  for (auto blob_file = blob_files.begin(); blob_file != named; ++blob_file)
    builder.Add(0, {blob_file->blob_file, 1, {}}, &unused);
  builder.Add(0, reference, &encoded);
  if (!ksst::DecodeFileReference(encoded, built, &again) || again != reference)
    FuzzFailed("vblocks", "a reference of a file changes by being encoded");
}

inline void RunLogIndexOf(Slice payload, uint64_t end, size_t blob_files) {
  vsst::LogIndex index, again;
  if (index.Load(payload, end, blob_files) != nullptr) return;
  vsst::LogIndexBuilder builder(blob_files > 1);
  uint64_t key_bytes = 0;
  for (size_t i = 0; i < index.size(); ++i) {
    const vsst::LoggedRecord& record = index.record(i);
    if (record.end() > end) FuzzFailed("vblocks", "a logged record ends after the last record");
    if (record.blob_file_index >= blob_files)
      FuzzFailed("vblocks", "a logged record has no blob file");
    if (index.Find(index.key(i), record.blob_file_index) != &record ||
        index.Find(index.key(i), record.blob_file_index + 1) == &record ||
        index.Find(std::string(index.key(i)) + '\0', record.blob_file_index) == &record)
      FuzzFailed("vblocks", "a log index does not find its own key");
    key_bytes += index.key(i).size();
    builder.Add(index.key(i), record);
  }
  if (key_bytes > end)
    FuzzFailed("vblocks", "a log index takes more memory than the file has bytes");
  if (again.Load(builder.payload(), end, blob_files) != nullptr || again.size() != index.size())
    FuzzFailed("vblocks", "an encoded log index cannot be loaded");
}

/// Format: the end of the records u16, then the payload, with one blob file and with several.
inline void RunLogIndex(Slice in) {
  InputReader reader(in);
  const uint64_t end = reader.Short();
  const ExactCopy copy(reader.rest());
  RunLogIndexOf(copy.get(), end, 1);
  RunLogIndexOf(copy.get(), end, 4);
}

/// Aborts when a rule is violated; otherwise returns 0.
inline int RunVblocksInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  void (*const runs[])(Slice) = {RunValueProperties, RunTopIndex,      RunTree,    RunTreeOf,
                                 RunKeyBlocks,       RunValueFooter,   RunRecord,  RunDictionary,
                                 RunReference,       RunFileReference, RunLogIndex};
  const ExactCopy rest(InputSlice(data + 1, size - 1));
  runs[data[0] % std::size(runs)](rest.get());
  return 0;
}

inline std::string ShortOf(size_t number) {
  return {static_cast<char>(number & 255), static_cast<char>(number >> 8)};
}

inline std::string PropertiesSeed() {
  ValueFileProperties p;
  p.records = 7, p.raw_bytes = 70, p.stored_bytes = 60, p.tree_bytes = 14, p.index_partitions = 2;
  p.lower = "a", p.upper = "b";
  p.blob_files = {{{{2, 2}, 3}, 3, 70}, {{{1, 9}, 9}, 4, 0}};
  std::string out(1, '\0');
  vsst::EncodeProperties(p, p.blob_files, &out);
  return out;
}

inline std::string TopIndexSeed() {
  vsst::TopIndexBuilder builder;
  builder.AddIndexPartition("", 300, 40);
  builder.AddIndexPartition("key", 200, 50);
  builder.AddKeyBlock(60);
  builder.AddKeyBlock(20);
  const size_t end = 500 + 170 + 4 * kBlockTrailerBytes;
  std::string out = '\1' + ShortOf(end);
  builder.Finish(&out);
  return out;
}

/// far: the keys differ in bits whose numbers need two bytes.
inline std::string TreeSeed(bool far) {
  vsst::IndexPartitionBuilder builder;
  for (uint64_t i = 0; i < 12; ++i)
    builder.Add(std::string(far && i > 5 ? 60 : 1, 'k') + std::to_string(100 + i), 20 * i);
  std::string out = '\2' + ShortOf(240);
  builder.Finish(240, &out);
  return out;
}

inline std::string KeyBlocksSeed() {
  vsst::KeyBlockBuilder builder;
  std::string blocks[2];
  for (int i = 0; i < 12; ++i) {
    builder.Add("key-" + std::to_string(100 + i / 2), {uint32_t(i % 3), 40, 300}, 40 * i);
    if (i % 6 != 5) continue;
    blocks[i / 6] = builder.payload();
    builder.Reset();
  }
  return '\4' + ShortOf(blocks[0].size()) + blocks[0] + blocks[1];
}

inline std::string ValueFooterSeed(bool with_dictionary, uint8_t seal) {
  vsst::Footer footer{{180, 57}, {150, 17}, 0xabcdef};
  if (with_dictionary) footer.dictionary = {100, 37};
  std::string tail(with_dictionary ? 0 : vsst::kFooterBytes - vsst::kPlainFooterBytes, 'x');
  vsst::EncodeFooter(footer, 250, &tail);
  return '\5' + ShortOf(250 + footer.bytes()) + static_cast<char>(seal) + tail;
}

inline std::string RecordSeed(Compression codec) {
  const std::string plain(200, 'p');
  std::string stored = plain;
  if (codec != Compression::kNone) Compressor(codec).Compress(plain, &stored);
  std::string record;
  vsst::EncodeRecord(77, 1000, 2, "some key", {codec, 200, stored}, &record);
  record.resize(record.size() - kBlockTrailerBytes);
  return std::string("\6\1") + static_cast<char>(codec) + ShortOf(200) + record;
}

/// No bytes: zstd cannot train a dictionary with so few samples.
inline std::string DictionarySeed() {
  std::string samples;
  std::vector<size_t> sizes;
  for (int i = 0; i < 300; ++i) {
    const std::string sample = "{\"name\": \"value-" + std::to_string(i * 7919 % 1000) +
                               "\", \"place\": " + std::to_string(i) + ", \"what\": \"thing\"}";
    samples += sample;
    sizes.push_back(sample.size());
  }
  const std::string dictionary = TrainDictionary(samples, sizes, 512);
  const std::string value = "{\"name\": \"value-1000\", \"place\": 5, \"what\": \"thing\"}";
  std::string stored;
  if (dictionary.empty() ||
      DictionaryCompressor(dictionary).Compress(value, &stored) != kZstdDictionary)
    FuzzFailed("vblocks", "no dictionary could be trained for the seed");
  return '\7' + ShortOf(dictionary.size()) + ShortOf(value.size()) + dictionary + stored;
}

inline std::vector<std::string> VblocksSeeds() {
  std::vector<std::string> seeds = {PropertiesSeed(),
                                    TopIndexSeed(),
                                    TreeSeed(false),
                                    TreeSeed(true),
                                    KeyBlocksSeed(),
                                    ValueFooterSeed(false, 0),
                                    ValueFooterSeed(false, 1),
                                    ValueFooterSeed(true, 2),
                                    RecordSeed(Compression::kNone),
                                    RecordSeed(Compression::kLz4),
                                    RecordSeed(Compression::kZstd),
                                    DictionarySeed()};
  seeds.push_back("\3\4abcd\4abce\1a\3abc\17abcdefghijklmno");
  std::string whole("\6\4\0\0\0", 5), record;
  vsst::EncodeRecord(77, 1000, 1, "key", {Compression::kNone, 5, "value"}, &record);
  seeds.push_back(whole + record + "more");
  for (const bool stamped : {false, true}) {
    ValueReference reference{{{7, 9}, 100}, 5000, {}};
    if (stamped) reference.timestamp = 1234567;
    std::string bytes(1, '\10');
    EncodeReference(reference, &bytes);
    seeds.push_back(bytes);
    std::vector<TableProperties::NamedBlobFile> blob_files;
    std::string form("\11\3", 2);
    ksst::BlobFileTableBuilder(&blob_files).Add(1, reference, &form);
    seeds.push_back(form);
  }
  return seeds;
}

}  // namespace lava::fuzzing

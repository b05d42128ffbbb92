// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/render.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "inspect/columns.h"
#include "inspect/key_names.h"
#include "inspect/render_host.h"
#include "inspect/render_log.h"
#include "inspect/text.h"
#include "lava/ttl_time.h"

namespace lava::inspect {
namespace {

std::string Decimal(const Json& json, const char* field) {
  char buffer[48];
  std::snprintf(buffer, sizeof(buffer), "%.2f", json.value(field, 0.0));
  return buffer;
}

// Short names for tables: the begin of the origin and the number distinguish files.
std::string Short(const std::string& name) {
  const size_t dash = name.find('-');
  return dash == std::string::npos || dash < 8 ? name : name.substr(0, 8) + name.substr(dash);
}

std::string OriginLines(const Json& of) {
  std::string text = "  checkpoint " + Count(of, "number") + " of job " + Text(of, "job") +
                     ", key groups " + Count(of, "first_key_group") + " to " +
                     Count(of, "last_key_group") + ", written as " + Text(of, "unique_name") + "\n";
  if (of["ttl_time_ms"].get<int64_t>() == TtlTime::kUnknown)
    return text + "  the time that its records expire by is not known\n";
  text += "  its records expire by the time " + std::to_string(of["ttl_time_ms"].get<int64_t>()) +
          " ms";
  if (Number(of, "ttl_lead_ms") != 0)
    text += "; its clock was ahead of that by " + std::to_string(of["ttl_lead_ms"].get<int64_t>()) +
            " ms, for " + std::to_string(of["ttl_lead_stood_ms"].get<int64_t>()) + " ms";
  return text + "\n";
}

std::string HeadText(const Json& one) {
  std::string text = Text(one, "source") + "\n";
  if (one.contains("manifest")) {
    const Json& manifest = one["manifest"];
    text += "  MANIFEST-" + Count(manifest, "number") + ": " + Size(manifest, "bytes") + ", " +
            Count(manifest, "edits") + " edits";
    if (Number(manifest, "torn_tail_bytes") != 0)
      text += ", then " + Count(manifest, "torn_tail_bytes") +
              " bytes of an edit that is not whole (yet)";
    text += "; opened " + Count(one, "opens") + " times, last origin " + Text(one, "origin") + "\n";
    if (one.contains("wal_flushed"))
      text += "  its write-ahead log is in files up to record " + Count(one, "wal_flushed") + "\n";
  } else {
    text += "  checkpoint metadata";
    if (Number(one, "heap_timer_bytes") != 0)
      text +=
          "; timers of the heap, " + Size(one, "heap_timer_bytes") + ", are in a file of Flink's";
    text += "\n";
    if (one.contains("checkpoint")) text += OriginLines(one["checkpoint"]);
  }
  return text;
}

void RenderUnnamed(const Json& one, std::string* out) {
  if (one["unnamed"].empty()) return;
  *out += "not named by the manifest (pinned by a snapshot, being written, or left over)\n";
  for (const Json& name : one["unnamed"]) *out += "  " + name.get<std::string>() + "\n";
}

void RenderTables(const Json& one, std::string* out) {
  *out += "tables\n";
  Columns columns({"id", "name", "kind", "ttl", "ttl ms>", "records>", "raw>", "key files>"});
  for (const Json& table : one["tables"])
    columns.Add({Text(table, "id"), table["name"].is_null() ? "?" : Text(table, "name"),
                 Text(table, "kind"), Text(table, "ttl"), Count(table, "ttl_ms"),
                 Count(table, "records"), Size(table, "raw_bytes"), Count(table, "key_files")});
  columns.Write(out);
}

void RenderLevels(const Json& one, std::string* out) {
  *out += "levels\n";
  Columns columns({"level", "files>", "entries>", "clipped>", "bytes>", "records>", "deletes>",
                   "prefix deletes>", "range tombstones>"});
  for (const Json& level : one["levels"])
    columns.Add({"L" + Count(level, "level"), Count(level, "files"), Count(level, "entries"),
                 Count(level, "clipped_entries"), Size(level, "bytes"), Count(level, "records"),
                 Count(level, "deletes"), Count(level, "prefix_deletes"),
                 Count(level, "range_tombstones")});
  columns.Write(out);
}

void RenderValueFiles(const Json& one, std::string* out) {
  if (one["value_files"].empty()) return;
  *out += "value files\n";
  Columns columns({"file", "level>", "group>", "bytes>", "records>", "raw>", "live about>",
                   "garbage about>", "at least>", "at most>", "blob files>"});
  for (const Json& file : one["value_files"])
    columns.Add({Short(Text(file, "file")), "L" + Count(file, "level"),
                 Number(file, "group") == 0 ? "-" : Count(file, "group"), Size(file, "bytes"),
                 Count(file, "records"), Size(file, "raw_bytes"), Size(file, "live_estimate"),
                 Size(file, "garbage_estimate"), Size(file, "garbage_min"),
                 Size(file, "garbage_max"), Count(file, "blob_files")});
  columns.Write(out);
}

void RenderValueOrder(const Json& one, std::string* out) {
  if (one["value_order"].empty()) return;
  *out += "order of values\n";
  Columns columns({"level", "sorted groups>", "files over one key, at most>"});
  for (const Json& level : one["value_order"])
    columns.Add({"L" + Count(level, "level"), Count(level, "groups"), Count(level, "overlap")});
  columns.Write(out);
}

void RenderBlobFiles(const Json& one, std::string* out) {
  if (one["blob_files"].empty()) return;
  *out += "blob files, and where their values are now\n";
  Columns columns({"first written in", "named by>", "references>", "raw>", "is now in"});
  for (const Json& blob_file : one["blob_files"]) {
    const std::string records =
        std::to_string(Number(blob_file, "records")) +
        (Number(blob_file, "clipped_records") == 0
             ? ""
             : " to " + std::to_string(Number(blob_file, "records") +
                                       Number(blob_file, "clipped_records")));
    std::string where = blob_file["locations"].empty() ? "nowhere: what names it is hidden" : "";
    for (const Json& place : blob_file["locations"])
      where += (where.empty() ? "" : ", ") + Short(Text(place, "file")) + " " +
               BoundsText(place["bounds"]);
    columns.Add({Short(Text(blob_file, "blob_file")), Count(blob_file, "named_by"), records,
                 Size(blob_file, "raw_bytes"), where});
  }
  columns.Write(out);
}

void RenderSummary(const Json& report, std::string* out) {
  for (const Json& one : report["instances"]) {
    *out += HeadText(one);
    RenderTables(one, out);
    RenderLevels(one, out);
    RenderValueFiles(one, out);
    RenderValueOrder(one, out);
    RenderBlobFiles(one, out);
    RenderUnnamed(one, out);
    const Json& totals = one["totals"];
    *out += "total: " + Count(totals, "key_files") + " key SSTs, " +
            Size(totals, "key_file_bytes") + "; " + Count(totals, "value_files") + " value SSTs, " +
            Size(totals, "value_file_bytes") + "\n\n";
  }
  for (const Json& file : report["loose"])
    *out += Text(file, "path") + ": " + Text(file, "kind") + "; see `files` and `verify`\n";
}

std::string BlobFilesText(const Json& blob_files) {
  std::string text;
  for (const Json& blob_file : blob_files)
    text += (text.empty() ? "" : ", ") + Short(Text(blob_file, "blob_file")) + " (" +
            Count(blob_file, "records") + ", " + Size(blob_file, "raw_bytes") + ")";
  return text;
}

void RenderKeyFile(const Json& file, std::string* out) {
  *out += (file.contains("level") ? "L" + Count(file, "level") + "." + Count(file, "position") + " "
                                  : std::string("key SST ")) +
          (file.contains("file") ? Text(file, "file") : Text(file, "path")) + "  " +
          Size(file, "bytes") + ", " + Count(file, "records") + " records";
  for (const char* kind : {"deletes", "appends", "prefix_deletes", "range_tombstones"})
    if (Number(file, kind) != 0) *out += ", " + Count(file, kind) + " " + kind;
  *out += "\n";
  if (file.contains("state")) *out += "    " + Text(file, "state") + "\n";
  if (file.contains("bounds")) *out += "    bounds " + BoundsText(file["bounds"]) + "\n";
  if (file.contains("shown") && !file["shown"].is_null())
    *out += "    clipped to " + BoundsText(file["shown"]) + "\n";
  if (file.contains("index"))
    *out += "    raw " + ByteSize(Number(file, "raw_key_bytes") + Number(file, "raw_value_bytes")) +
            "; " + Count(file, "data_blocks") + " data blocks; index and filters " +
            Decimal(file["index"], "bytes_per_key") + " B/key (top " +
            Size(file["index"], "top_index_bytes") + ", " + Count(file["index"], "partitions") +
            " partitions " + Size(file["index"], "partition_bytes") + ")\n";
  if (file.contains("blob_files") && !file["blob_files"].empty())
    *out += "    names values first written in " + BlobFilesText(file["blob_files"]) + "\n";
}

void RenderValueFile(const Json& file, std::string* out) {
  *out += "value SST " + (file.contains("file") ? Text(file, "file") : Text(file, "path")) + "  " +
          Size(file, "bytes") + ", " + Count(file, "records") + " records\n";
  if (file.contains("state")) *out += "    " + Text(file, "state") + "\n";
  if (file.contains("bounds")) *out += "    bounds " + BoundsText(file["bounds"]) + "\n";
  *out += "    raw " + Size(file, "raw_bytes");
  if (file.contains("dictionary_bytes")) *out += "; dictionary " + Size(file, "dictionary_bytes");
  if (file.contains("garbage_estimate"))
    *out += "; garbage about " + Size(file, "garbage_estimate") + " (" + Size(file, "garbage_min") +
            " to " + Size(file, "garbage_max") + ")";
  *out += "\n";
  if (file.contains("log"))
    *out += "    a segment of a value log: records " + Size(file["log"], "records_bytes") +
            ", index " + Size(file["log"], "index_bytes") + "\n";
  if (file.contains("index"))
    *out += "    crit-bit " + Decimal(file["index"], "crit_bit_bytes_per_key") +
            " B/key, with positions " + Decimal(file["index"], "bytes_per_key") + " B/key in " +
            Count(file["index"], "partitions") + " partitions; dense index " +
            Size(file["index"], "dense_bytes") + ", " +
            Decimal(file["index"], "dense_bytes_per_key") + " B/key\n";
  if (file.contains("blob_files")) *out += "    holds " + BlobFilesText(file["blob_files"]) + "\n";
}

void RenderIdentity(const Json& file, std::string* out) {
  if (file.contains("crc32c"))
    *out += "    CRC32C " + Text(file, "crc32c");
  else if (file.contains("unique_id"))
    *out += file.value("own_name", false) ? "    has the name it was written under"
                                          : "    was written under another name";
  if (file.contains("unique_id"))
    *out += ", format " + Count(file, "format_version") + ", unique id " + Text(file, "unique_id");
  if (file.contains("file") && !Text(file, "path").ends_with(Text(file, "file")))
    *out += ", here as " + Text(file, "path");
  *out += "\n";
}

void RenderFiles(const Json& report, std::string* out) {
  for (const Json& one : report["instances"]) {
    *out += HeadText(one);
    for (const Json& file : one["key_files"]) {
      RenderKeyFile(file, out);
      RenderIdentity(file, out);
    }
    for (const Json& file : one["value_files"]) {
      RenderValueFile(file, out);
      RenderIdentity(file, out);
    }
    RenderUnnamed(one, out);
    *out += "\n";
  }
  for (const Json& file : report["loose"]) {
    if (Text(file, "kind") == "key")
      RenderKeyFile(file, out);
    else
      RenderValueFile(file, out);
    RenderIdentity(file, out);
  }
}

void RenderVerify(const Json& report, std::string* out) {
  *out += Count(report, "checked_files") + " files, " + Size(report, "checked_bytes") + " read";
  if (!report["instances"].empty())
    *out += ", and what describes " + std::to_string(report["instances"].size()) + " instances";
  if (Number(report, "gone_files") != 0)
    *out += "; " + Count(report, "gone_files") + " were removed meanwhile by the running process";
  *out += "\n";
}

std::string ValueText(const Json& value) {
  std::string text = Count(value, "bytes") + " bytes #" + Text(value, "hash").substr(2, 8);
  if (value.contains("value")) text += " \"" + Text(value, "value") + "\"";
  return text;
}

std::string RunText(const Json& run) {
  std::string text = Text(run, "says");
  if (run.contains("blob_file"))
    text += ": " + Count(run, "raw_bytes") + " bytes, first written in " +
            Short(Text(run, "blob_file"));
  if (run.contains("parts")) {
    text += ":";
    for (const Json& part : run["parts"])
      text += part.contains("blob_file")
                  ? " [" + Count(part, "raw_bytes") + " bytes, first written in " +
                        Short(Text(part, "blob_file")) + "]"
                  : " " + Count(part, "inline_bytes") + " bytes";
  }
  if (run.contains("timestamp_ms")) text += ", timestamp " + Count(run, "timestamp_ms");
  if (run.contains("value")) text += ": " + ValueText(run["value"]);
  if (run.contains("prefix_delete")) text += ", and a prefix delete over the key";
  if (run.contains("range_tombstone")) text += ", and a range tombstone over the key";
  return run["asked"] == true ? text : text + " (not asked: hidden by what is newer)";
}

void RenderValue(const std::string& what, const Json& value, std::string* out) {
  *out += what + " first written in " + Text(value, "blob_file") + "\n";
  for (const Json& place : value["locations"]) {
    *out += "  now in " + Text(place, "path") + ": ";
    if (place.contains("record_offset"))
      *out += "record at offset " + Count(place, "record_offset") + ", " +
              Count(place, "record_bytes") + " bytes, value stored in " +
              Count(place, "stored_bytes") + " (" + Text(place, "codec") + ")";
    else
      *out += place["found"] == true ? "found" : "it has no such record";
    if (place.contains("value")) *out += ", " + ValueText(place["value"]);
    *out += "\n";
  }
}

void RenderKey(const Json& report, std::string* out) {
  for (const Json& one : report["instances"]) {
    *out += HeadText(one);
    if (one.contains("key")) *out += "key " + KeyText(one["key"]) + "\n";
    Columns columns({"run", "file", "says"});
    columns.Add({"memtable", "-", Text(one, "memtable")});
    if (one.contains("runs"))
      for (const Json& run : one["runs"])
        columns.Add({"L" + Count(run, "level"), Short(Text(run, "file")), RunText(run)});
    columns.Write(out);
    if (one.contains("value")) RenderValue("value", one["value"], out);
    if (one.contains("parts"))
      for (const Json& part : one["parts"]) RenderValue("part of a list", part, out);
    *out += "answer: " + Text(one, "answer");
    if (Number(one, "appends") != 0) *out += ", with " + Count(one, "appends") + " appends";
    *out += "\n\n";
  }
}

}  // namespace

std::string Render(const Json& report) {
  std::string out;
  const std::string command = Text(report, "command");
  if (command == "summary") RenderSummary(report, &out);
  if (command == "files") RenderFiles(report, &out);
  if (command == "verify") RenderVerify(report, &out);
  if (command == "key") RenderKey(report, &out);
  if (command == "host") RenderHost(report, &out);
  if (command == "log") RenderLog(report, &out);
  for (const Json& fault : report["faults"]) {
    const std::string path = Text(fault, "path");
    std::string what = Text(fault, "what");
    if (what.starts_with(path + ": ")) what.erase(0, path.size() + 2);
    if (!fault["offset"].is_null() && what.find("offset") == std::string::npos)
      what += " (offset " + Count(fault, "offset") + ")";
    out += "FAULT " + path + ": " + Text(fault, "code") + ": " + what + "\n";
  }
  const Json notes = report.value("notes", Json::array());
  for (const Json& note : notes) out += "note: " + note.get<std::string>() + "\n";
  if (command != "verify") return out;
  const Json& not_verified = report["not_verified"];
  for (const Json& one : not_verified)
    out += "NOT VERIFIED " + Text(one, "path") + ": " + Text(one, "what") + "\n";
  if (!report["faults"].empty()) {
    out += std::to_string(report["faults"].size()) + " faults\n";
  } else if (not_verified.empty()) {
    out += "no faults\n";
  } else {
    out += "no faults in what was read; not everything was verified\n";
  }
  return out;
}

}  // namespace lava::inspect

// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "inspect/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "inspect/commands.h"
#include "inspect/host.h"
#include "inspect/log.h"
#include "inspect/render.h"
#include "inspect/text.h"

namespace lava::inspect {
namespace {

struct Arguments {
  bool json = false;
  Show show;
  std::vector<std::string> paths;
  std::string path, table, key;  // arguments of `key`
  std::optional<uint32_t> prefix_bytes;
  LogRequest log;
};

constexpr const char* kPathHelp =
    "an instance's directory, a Flink checkpoint's (chk-N or a native savepoint), a directory of "
    "its files, or single files";

/// The subcommands have the names of the reports.
void Define(CLI::App* app, Arguments* arguments) {
  app->require_subcommand(1);
  app->footer(
      "Exit codes: 0 fine, 1 faults found, 2 wrong call or nothing there. Nothing is ever "
      "written, and no lock is taken.");
  const auto command = [&](const char* name, const char* help) {
    CLI::App* sub = app->add_subcommand(name, help);
    sub->add_flag("--json", arguments->json, "Print JSON");
    return sub;
  };
  const auto paths = [&](CLI::App* sub) {
    sub->add_option("PATH", arguments->paths, kPathHelp)->required();
  };
  const auto show_keys = [&](CLI::App* sub) {
    sub->add_flag("--show-keys", arguments->show.keys,
                  "Print keys; otherwise only partition, table, length and hash");
  };
  CLI::App* sub = command("summary", "Tables, levels, value files, garbage, blob files, totals");
  paths(sub);
  show_keys(sub);
  sub = command("files", "Every file: bounds, sizes, checksum, indexes, garbage, blob files");
  paths(sub);
  show_keys(sub);
  sub = command("verify", "Read every byte and check every checksum");
  paths(sub);
  sub = command("host", "A process on one page: memory, cache, jobs, instances, stalls");
  sub->add_option("PATH", arguments->path, "a lava-host-*.json file, or a directory that has such")
      ->required();
  sub = command("log", "A LavaLog: logical logs, LSNs, data files, garbage, index memory");
  sub->add_option("PATH", arguments->path, "the log's directory")->required();
  sub->add_flag("--verify", arguments->log.verify, "Read every record and check every checksum");
  sub->add_option("--dump", arguments->log.dump, "Where this logical log's records are");
  sub->add_option("--from", arguments->log.from, "The first LSN of the dump");
  sub->add_option("--count", arguments->log.count, "Records of the dump at most");
  sub->add_flag("--show-values", arguments->show.values, "Print records; otherwise their hash");
  sub = command("key", "The path of one key: files asked, what each says, where the value is");
  sub->add_option("PATH", arguments->path, kPathHelp)->required();
  sub->add_option("TABLE", arguments->table, "a table's name, or id:0x...")->required();
  sub->add_option("KEY", arguments->key,
                  "the user's key, partition first: hex behind 0x, or text with \\xNN and \\\\")
      ->required();
  sub->add_option("--prefix-bytes", arguments->prefix_bytes,
                  "How long the key's deletable prefix is; otherwise as its records say");
  show_keys(sub);
  sub->add_flag("--show-values", arguments->show.values, "Print values; otherwise length and hash");
}

Result<Json> AnswerHost(fs::FileSystem* file_system, const std::string& path) {
  ReadOnlyFiles files(file_system);
  return HostReport(&files, path, HostClock::OfSystem());
}

Result<Json> AnswerLog(fs::FileSystem* file_system, const Arguments& arguments) {
  ReadOnlyFiles files(file_system);
  return LogReport(&files, arguments.path, arguments.log, arguments.show);
}

Result<Json> Answer(const std::string& command, const Arguments& arguments, Store* store) {
  if (command == "summary") return Summary(store, arguments.show);
  if (command == "files") return Files(store, arguments.show);
  if (command == "verify") return Verify(store);
  const std::optional<std::string> key = ParseBytes(arguments.key);
  if (!key)
    return Status::InvalidArgument("KEY is neither hex behind 0x nor text with \\xNN and \\\\");
  return FindKey(store, {arguments.table, *key, arguments.prefix_bytes}, arguments.show);
}

}  // namespace

int Run(fs::FileSystem* file_system, std::vector<std::string> arguments, std::ostream& out,
        std::ostream& err) {
  CLI::App app("Looks into the files of Lava, the state backend for Flink.", "lava-inspect");
  Arguments parsed;
  Define(&app, &parsed);
  try {
    std::reverse(arguments.begin(), arguments.end());  // the order that CLI11 expects
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out, err) == 0 ? kFine : kUsage;
  }
  const std::string command = app.get_subcommands().front()->get_name();
  const bool host = command == "host", log = command == "log";
  if (!parsed.path.empty() && !host && !log) parsed.paths.push_back(parsed.path);
  Store store(file_system);
  for (const std::string& path : parsed.paths) {
    const Status status = store.Load(path);
    if (status.ok()) continue;
    err << "lava-inspect: " << status.message() << "\n";
    return kUsage;
  }
  const Result<Json> report = host  ? AnswerHost(file_system, parsed.path)
                              : log ? AnswerLog(file_system, parsed)
                                    : Answer(command, parsed, &store);
  if (!report.ok()) {
    err << "lava-inspect: " << report.status().message() << "\n";
    return kUsage;
  }
  // Names come from files: invalid UTF-8 must not end the report.
  if (parsed.json)
    out << report.value().dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  else
    out << Render(report.value());
  if (!report.value()["faults"].empty()) return kFaultsFound;
  // Exit code 0 must not suggest that everything was verified when it was not.
  const bool whole = report.value().value("not_verified", Json::array()).empty();
  return whole ? kFine : kNotVerified;
}

}  // namespace lava::inspect

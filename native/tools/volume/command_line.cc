// Copyright 2026 The Lava authors
// SPDX-License-Identifier: Apache-2.0

#include "volume/command_line.h"

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>

#include "fs/file_system.h"
#include "fs/posix_block_device.h"
#include "fs/posix_error.h"
#include "lavafs/volume.h"
#include "os/random.h"
#include "volume/volume_view.h"

namespace lava::lavafs {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kCopyBufferBytes = 1 << 20;

struct Arguments {
  std::string volume, directory, file, target;
  FormatOptions format;
  bool force = false, json = false;
};

struct Output {
  std::ostream& out;
  std::ostream& err;
};

int Fail(const Output& output, const Status& status) {
  output.err << "lava-fs: " << status.ToString() << "\n";
  return status.IsCorruption() ? kDamaged : kWrongCall;
}

int Format(const Arguments& arguments, const Output& output) {
  auto device = fs::OpenBlockDevice(arguments.volume, {.create = true});
  if (!device.ok()) return Fail(output, device.status());
  const bool is_new = (*device)->size() == 0;
  if (!is_new && !arguments.force) {
    return Fail(output, Status::InvalidArgument("format " + arguments.volume + ": it has " +
                                                std::to_string((*device)->size()) +
                                                " bytes, which would be lost; --force"));
  }
  const os::Random128 random = os::RandomBits128();
  const Uuid uuid{random.high, random.low};
  Status done = Volume::Format(device->get(), arguments.format, uuid);
  if (done.ok() && is_new) {
    done = fs::FileSystem::Posix()->SyncDirectory(fs::DirectoryOf(arguments.volume));
  }
  if (!done.ok()) return Fail(output, done);
  output.out << "volume " << ToString(uuid) << "\n";
  return kFine;
}

int Check(const VolumeView& view, const Arguments& arguments, const Output& output) {
  const auto findings = view.Check();
  if (!findings.ok()) return Fail(output, findings.status());
  bool damaged = false;
  Json all = Json::array();
  for (const VolumeView::Finding& finding : *findings) {
    damaged |= finding.is_damage;
    if (arguments.json) {
      all.push_back({{"damage", finding.is_damage}, {"what", finding.what}});
    } else {
      output.out << (finding.is_damage ? "damage: " : "note: ") << finding.what << "\n";
    }
  }
  if (arguments.json) {
    output.out << Json{{"sound", !damaged}, {"findings", all}}.dump(2) << "\n";
  } else if (!damaged) {
    output.out << "sound: " << view.Files().size() << " names, " << view.image().transactions
               << " transactions\n";
  }
  return damaged ? kDamaged : kFine;
}

int List(const VolumeView& view, const Arguments& arguments, const Output& output) {
  for (const std::string& directory : view.Directories()) {
    if (!arguments.directory.empty() && directory != arguments.directory) continue;
    output.out << directory << "/\n";
    for (const VolumeView::File& file : view.Files(directory)) {
      output.out << file.size << (file.open_ended ? "+" : "") << "\t" << directory << "/"
                 << file.name << "\n";
    }
  }
  return kFine;
}

Json Describe(const VolumeView& view) {
  const Image& image = view.image();
  const uint64_t extent_bytes = image.superblock.extent_bytes;
  return {{"uuid", ToString(image.superblock.uuid)},
          {"capacity_bytes", image.superblock.capacity_bytes},
          {"device_bytes", view.device()->size()},
          {"extent_bytes", extent_bytes},
          {"generation", image.superblock.generation},
          {"free_bytes", image.extents.free_count() * extent_bytes},
          {"largest_free_run_bytes", image.extents.LargestFreeRange() * extent_bytes},
          {"journal_bytes", image.journal_extents.size() * extent_bytes},
          {"transactions", image.transactions},
          {"directories", view.Directories().size()},
          {"files", image.metadata.files()},
          {"metadata_memory_bytes", image.metadata.bytes()}};
}

Json Describe(const VolumeView& view, const VolumeView::File& file) {
  Json ranges = Json::array();
  for (const ExtentRange& range : view.image().metadata.RangesOf(file.inode)) {
    ranges.push_back({{"first", range.first}, {"count", range.count}});
  }
  return {{"directory", file.directory},
          {"name", file.name},
          {"size", file.size},
          {"open_ended", file.open_ended},
          {"extents_bytes", file.extents_bytes},
          {"names", view.image().metadata.inode(file.inode).links},
          {"extents", ranges}};
}

int Stat(const VolumeView& view, const Arguments& arguments, const Output& output) {
  Json json;
  if (arguments.file.empty()) {
    json = Describe(view);
  } else {
    const auto file = view.Find(arguments.file);
    if (!file.ok()) return Fail(output, file.status());
    json = Describe(view, *file);
  }
  if (arguments.json) {
    output.out << json.dump(2) << "\n";
    return kFine;
  }
  for (const auto& [name, value] : json.items()) {
    output.out << name << ": " << (value.is_string() ? value.get<std::string>() : value.dump())
               << "\n";
  }
  return kFine;
}

int Cat(const VolumeView& view, const Arguments& arguments, const Output& output) {
  const auto file = view.Find(arguments.file);
  if (!file.ok()) return Fail(output, file.status());
  const Status done = view.ReadFile(*file, [&](Slice bytes) {
    output.out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return output.out.good() ? Status::OK() : Status::IOError("write to the standard output");
  });
  return done.ok() ? kFine : Fail(output, done);
}

// Directories become directories below the target, with their names without leading slashes. Names
// that lead out of the target are refused.
Status ExportTo(const std::string& target, const VolumeView& view, uint64_t* files) {
  fs::FileSystem* const posix = fs::FileSystem::Posix();
  for (const VolumeView::File& file : view.Files()) {
    const std::string path = "/" + file.directory + "/" + file.name;
    if (path.find("/../") != std::string::npos || file.name == ".." || file.name == ".") {
      return Status::InvalidArgument("export " + file.directory + "/" + file.name +
                                     ": its name leads out of " + target);
    }
    LAVA_RETURN_IF_ERROR(posix->CreateDirectory(target + "/" + file.directory));
    LAVA_ASSIGN_OR_RETURN(const bool there, posix->Exists(target + path));
    if (there) return Status::InvalidArgument("export to " + target + path + ": it is there");
    LAVA_ASSIGN_OR_RETURN(const auto to, posix->Create(target + path, kCopyBufferBytes));
    LAVA_RETURN_IF_ERROR(view.ReadFile(file, [&](Slice bytes) { return to->Append(bytes); }));
    LAVA_RETURN_IF_ERROR(to->Close());
    ++*files;
  }
  return Status::OK();
}

int Export(const VolumeView& view, const Arguments& arguments, const Output& output) {
  uint64_t files = 0;
  const Status done = ExportTo(arguments.target, view, &files);
  if (!done.ok()) return Fail(output, done);
  output.out << files << " files\n";
  return kFine;
}

std::string Describe(const Change& change) {
  std::string text(NameOf(change.type));
  using Type = Change::Type;
  const auto add = [&](const char* name, uint64_t number) {
    text += std::string(" ") + name + " " + std::to_string(number);
  };
  const bool of_directory = change.type == Type::kMakeDirectory ||
                            change.type == Type::kRemoveDirectory || change.type == Type::kCreate ||
                            change.type == Type::kLink || change.type == Type::kUnlink ||
                            change.type == Type::kRename;
  const bool of_size = change.type == Type::kSize || change.type == Type::kRestore;
  const bool of_file = of_size || change.type == Type::kCreate || change.type == Type::kLink ||
                       change.type == Type::kExtents;
  if (of_file) add("file", change.inode);
  if (of_directory) add("directory", change.directory);
  if (!change.name.empty()) text.append(" ").append(change.name);
  if (change.type == Type::kRename) add("to directory", change.to_directory);
  if (!change.to_name.empty()) text.append(" ").append(change.to_name);
  if (of_size) add(change.open_ended ? "open-ended bytes" : "bytes", change.size);
  for (const ExtentRange& range : change.ranges) {
    text += " " + std::to_string(range.first) + "+" + std::to_string(range.count);
  }
  if (change.type == Type::kJump) add("to extent", change.extent);
  if (change.type == Type::kResume) {
    add("in extent", change.start.extent);
    add("at sequence", change.start.sequence);
  }
  return text;
}

int DumpJournal(const VolumeView& view, const Arguments&, const Output& output) {
  const auto journal = ReadJournal(view.device(), view.image().superblock);
  if (!journal.ok()) return Fail(output, journal.status());
  for (const Transaction& transaction : journal->transactions) {
    output.out << "offset " << transaction.offset << " sequence " << transaction.header.sequence
               << (transaction.checkpoint ? " checkpoint" : "") << " durable "
               << transaction.header.durable << (transaction.header.ordered ? " ordered" : "")
               << "\n";
    for (Slice in = transaction.payload; !in.empty();) {
      const auto change = DecodeChange(&in);
      if (!change.ok()) return Fail(output, change.status());
      output.out << "  " << Describe(*change) << "\n";
    }
  }
  return kFine;
}

using Command = std::function<int(const VolumeView&, const Arguments&, const Output&)>;

int OnView(const Command& command, const Arguments& arguments, const Output& output) {
  const auto view = VolumeView::Open(arguments.volume);
  return view.ok() ? command(*view, arguments, output) : Fail(output, view.status());
}

}  // namespace

int Run(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  CLI::App app("Makes, checks and shows LavaFS volumes.", "lava-fs");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 fine, 1 damage found, 2 wrong call or nothing there. Only `format` writes to "
      "a "
      "volume; all others may look at one that is in use.");
  Arguments a;
  const Output output{out, err};
  int code = kFine;
  const auto define = [&](const char* name, const char* help, const Command& command) {
    CLI::App* const sub = app.add_subcommand(name, help);
    sub->add_option("VOLUME", a.volume, "a file or block device")->required();
    sub->callback([&, command] { code = OnView(command, a, output); });
    return sub;
  };
  CLI::App* const format = app.add_subcommand("format", "Make an empty volume");
  format->add_option("VOLUME", a.volume, "a file, made if it is not there, or block device")
      ->required();
  format->add_option("--capacity", a.format.capacity_bytes, "how large it may become: 100GiB")
      ->required()
      ->transform(CLI::AsSizeValue(false));
  format->add_option("--extent", a.format.extent_bytes, "a power of two")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("256KiB");
  format->add_flag("--force", a.force, "Though there is something");
  format->callback([&] { code = Format(a, output); });
  define("mount-check", "Check a volume without changing it", Check)
      ->add_flag("--json", a.json, "Print JSON");
  define("ls", "List files with their sizes", List)
      ->add_option("DIRECTORY", a.directory, "only its files");
  CLI::App* const stat = define("stat", "Figures of a volume, or of a file", Stat);
  stat->add_option("FILE", a.file, "directory/name");
  stat->add_flag("--json", a.json, "Print JSON");
  define("cat", "Write a file to the standard output", Cat)
      ->add_option("FILE", a.file, "directory/name")
      ->required();
  define("export", "Copy all files into a directory", Export)
      ->add_option("TARGET", a.target, "a directory, made if it is not there")
      ->required();
  define("dump-journal", "Print the journal", DumpJournal);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out, err) == 0 ? kFine : kWrongCall;
  }
  return code;
}

}  // namespace lava::lavafs

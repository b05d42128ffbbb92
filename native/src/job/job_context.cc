#include "job/job_context.h"

namespace lava {

Result<std::shared_ptr<TableReader>> OpenReader(const JobContext& context, const FileMeta& file) {
  const std::string path = context.PathOf(file.id);
  LAVA_ASSIGN_OR_RETURN(std::unique_ptr<fs::RandomFile> handle,
                        context.file_system->OpenRandom(path));
  const uint64_t bytes = handle->size();
  if (bytes != file.bytes) {
    return Status::Corruption("opening " + path + ": it has " + std::to_string(bytes) +
                              " bytes, the manifest says " + std::to_string(file.bytes) +
                              "; restore it from a checkpoint");
  }
  LAVA_ASSIGN_OR_RETURN(
      std::shared_ptr<TableReader> reader,
      TableReader::Open(std::move(handle), context.cache, context.counter, context.read_counters));
  const TableProperties& p = reader->properties();
  if (p.records != file.records || p.lower != file.lower || p.upper != file.upper ||
      p.deletes != file.deletes || p.prefix_deletes != file.prefix_deletes ||
      p.range_tombstones != file.range_tombstones) {
    return Status::Corruption("opening " + path +
                              ": its properties are not those of the manifest; it is another "
                              "file under this name: restore it from a checkpoint");
  }
  return reader;
}

std::shared_ptr<FileMeta> MetaOf(const FileId& id, const TableProperties& properties) {
  auto meta = std::make_shared<FileMeta>();
  meta->id = id;
  meta->bytes = properties.file_bytes;
  meta->crc32c = properties.file_crc32c;
  meta->records = properties.records;
  meta->deletes = properties.deletes;
  meta->prefix_deletes = properties.prefix_deletes;
  meta->range_tombstones = properties.range_tombstones;
  meta->raw_bytes = properties.raw_key_bytes + properties.raw_value_bytes;
  meta->lower = properties.lower;
  meta->upper = properties.upper;
  for (const auto& [table, counts] : properties.tables)
    meta->tables[table] = {counts.records, counts.bytes};
  return meta;
}

}  // namespace lava

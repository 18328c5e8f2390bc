// SPDX-License-Identifier: Apache-2.0
// The format `shards`: a folder of record files, in which each record is followed by its CRC-32 (zlib's, 4 bytes,
// little-endian), and an index.json with the shape of the samples and the list of files.
#include "base/files.hpp"
#include "base/json.hpp"
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/input_file.hpp"
#include "ddl-workloads/data/output_file.hpp"
#include "ddl-workloads/data/record_file.hpp"
#include "ddl-workloads/data/shape_json.hpp"
#include "ddl-workloads/data/views.hpp"
#include "soft-errors/state/checksums.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>

namespace ddl {

namespace {

namespace fs = std::filesystem;

constexpr auto index_name = "index.json";
constexpr auto format_name = "crosstalk shards";
constexpr std::int64_t shard_bytes = std::int64_t{256} << 20;
constexpr std::int64_t checksum_bytes = 4;

const char* name_of(Part part)
{
    return part == Part::train ? "train" : "held_out";
}

class ShardFile : public Records {
 public:
    // `said`: number of records according to the index.
    ShardFile(fs::path path, const SampleShape& shape, std::int64_t said, const Reading& reading)
        : Records{shape}, file_{std::move(path), reading.access}, stride_{shape.record_bytes() + checksum_bytes}
    {
        set_records(said);
        if (file_.bytes() % stride_ == 0 && said == file_.bytes() / stride_) return;
        faults_.push_back(base::join(file_.path().string(), " is cut off, or not the file of the index: ",
                                     file_.bytes(), " bytes instead of the index's ", said, " records of ", stride_));
        set_records(std::min(said, file_.bytes() / stride_));
        if (!reading.skip_corrupt) base::fail(faults_.front());
    }

    std::vector<std::string> faults() const override { return faults_; }
    bool past_page_cache() const override { return file_.past_page_cache(); }

 private:
    void fetch(std::int64_t number, std::span<std::uint8_t> record) const override
    {
        thread_local std::vector<std::uint8_t> room;
        room.resize(static_cast<std::size_t>(stride_));
        file_.read_whole(number * stride_, room, "record " + std::to_string(number));
        const std::span<const std::uint8_t> found = std::span{room}.first(record.size());
        if (soft_errors::crc32(std::as_bytes(found)) != id_at(std::span{room}.subspan(record.size())))
            throw CorruptRecord{base::join(place(number), ": record ", number, " does not match its checksum")};
        std::copy(found.begin(), found.end(), record.begin());
    }
    std::string place(std::int64_t number) const override
    {
        return base::join(file_.path().string(), ", byte ", number * stride_);
    }

    InputFile file_;
    std::int64_t stride_;
    std::vector<std::string> faults_;
};

fs::path index_of(const base::Settings& settings)
{
    if (settings.text("path").empty()) base::fail_usage("shards: give path=DIR");
    const fs::path path = settings.text("path");
    return fs::is_directory(path) ? path / index_name : path;
}

// Returns the result of `read` for the index file. Errors name the file.
template <class Read>
auto from_index(const fs::path& file, const Read& read)
{
    try {
        const auto index = base::read_json(file);
        if (index.at("format") != format_name || index.at("version") != 1)
            base::fail(file.string(), " is not an index of shards, or is of a later version");
        return read(index);
    } catch (const nlohmann::json::exception& error) {
        base::fail(file.string(), " is not an index of shards: ", error.what());
    }
}

SampleShape shape_in(const nlohmann::ordered_json& index, const fs::path& file)
{
    try {
        return shape_from_json(index.at("shape"));
    } catch (const base::Error& error) {
        base::fail(file.string(), ": ", error.what());
    }
}

SampleShape shards_shape(const base::Settings& settings)
{
    const fs::path file = index_of(settings);
    return from_index(file, [&](const auto& index) { return shape_in(index, file); });
}

std::unique_ptr<Records> open(const base::Settings& settings, Part part, const Reading& reading)
{
    const fs::path file = index_of(settings);
    return from_index(file, [&](const auto& index) {
        const SampleShape shape = shape_in(index, file);
        std::vector<std::unique_ptr<Records>> shards;
        for (const auto& shard : index.at(name_of(part))) {
            const auto name = shard.at("file").template get<std::string>();
            const auto said = whole_number(shard.at("records"));
            if (name.empty() || fs::path{name}.filename() != name)
                base::fail(file.string(), ": '", name, "' is not the name of a file in its folder");
            if (said < 1) base::fail(file.string(), ": ", said, " records in ", name);
            shards.push_back(std::make_unique<ShardFile>(file.parent_path() / name, shape, said, reading));
        }
        if (shards.empty()) base::fail(file.string(), " lists no files of part ", name_of(part));
        return joined(std::move(shards));
    });
}

class ShardsWriter : public DataSetWriter {
 public:
    ShardsWriter(fs::path folder, const SampleShape& shape) : folder_{std::move(folder)}, shape_{shape} {}

    void write(Part part, std::span<const std::uint8_t> record) override
    {
        Shards& shards = of(part);
        if (!shards.file || (shards.records + 1) * (std::ssize(record) + checksum_bytes) > shard_bytes)
            begin_shard(part);
        check_record(shape_, record, shards.file->path());
        std::array<std::uint8_t, checksum_bytes> checksum{};
        put_id(checksum, soft_errors::crc32(std::as_bytes(record)));
        shards.file->write(record);
        shards.file->write(checksum);
        ++shards.records;
    }

    void finish() override
    {
        nlohmann::ordered_json index;
        index["format"] = format_name;
        index["version"] = 1;
        index["shape"] = to_json(shape_);
        index["checksum"] = "CRC-32 of each record, after it";
        for (const Part part : {Part::train, Part::held_out}) {
            end_shard(part);
            index[name_of(part)] = of(part).index;
        }
        base::write_whole(folder_ / index_name, base::json_text(index) + "\n");
    }

 private:
    struct Shards {
        std::unique_ptr<OutputFile> file;  // the file being written
        std::int64_t records = 0;          // records in it
        nlohmann::ordered_json index = nlohmann::ordered_json::array();
    };

    Shards& of(Part part) { return part == Part::train ? train_ : held_out_; }

    void begin_shard(Part part)
    {
        end_shard(part);
        std::array<char, 32> name{};
        std::snprintf(name.data(), name.size(), "%s-%05zu.bin", name_of(part), of(part).index.size());
        of(part).file = std::make_unique<OutputFile>(folder_ / name.data());
    }

    void end_shard(Part part)
    {
        Shards& shards = of(part);
        if (!shards.file) return;
        shards.file->finish();
        shards.index.push_back({{"file", shards.file->path().filename().string()}, {"records", shards.records}});
        shards.file.reset();
        shards.records = 0;
    }

    fs::path folder_;
    SampleShape shape_;
    Shards train_;
    Shards held_out_;
};

}  // namespace

extern const DataSetCard shards_data{
    .name = "shards",
    .summary = "samples of any kind in files of records with checksums, plus an index",
    .options = {{"path", "", "the folder, or its index.json"}},
    .shape = shards_shape,
    .open = open,
    .create = [](const fs::path& path, const SampleShape& shape) -> std::unique_ptr<DataSetWriter> {
        fs::create_directories(path);
        return std::make_unique<ShardsWriter>(path, shape);
    },
};

}  // namespace ddl

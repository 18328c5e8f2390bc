// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/conversion.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/available.hpp"
#include "base/words.hpp"
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/input_file.hpp"

#include <algorithm>
#include <array>

namespace ddl {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t samples_between_news = 1024;
constexpr std::size_t faults_told = 10;

// Throws if the disk would be almost full afterwards. The size of the formats' own headers is neglected.
void check_room(const fs::path& path, std::int64_t samples, const SampleShape& shape)
{
    const std::int64_t needed = samples * shape.record_bytes();
    fs::path folder = fs::absolute(path).parent_path();
    while (!fs::exists(folder)) folder = folder.parent_path();
    const std::int64_t free = base::free_disk(folder).count;
    if (needed > free / 2)
        base::fail(path.string(), " would take ", needed, " bytes, but may take at most half of the ", free,
                   " free bytes");
}

bool holds(const fs::path& folder, const std::string& prefix)
{
    return std::ranges::any_of(fs::directory_iterator{folder}, [&](const fs::directory_entry& entry) {
        return entry.path().filename().string().starts_with(prefix);
    });
}

std::string format_of_folder(const fs::path& folder)
{
    if (fs::exists(folder / "index.json")) return "shards";
    if (holds(folder, "data_batch_")) return "cifar10";
    if (holds(folder, "train-images")) return "mnist";
    base::fail(folder.string(), " holds no known data set: no index.json, data_batch_*.bin or train-images-idx3-ubyte");
}

std::string format_of_file(const fs::path& path)
{
    constexpr std::int64_t cifar10_record = 3073;
    if (path.filename() == "index.json") return "shards";
    const InputFile file{path};
    std::array<std::uint8_t, 8> begin{};
    file.read(0, begin);
    if (begin == std::array<std::uint8_t, 8>{0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'}) return "hdf5";
    if (begin[0] == 0 && begin[1] == 0 && begin[2] == 8 && begin[3] >= 1 && begin[3] <= 4) return "mnist";
    if (path.extension() == ".bin" && file.bytes() > 0 && file.bytes() % cifar10_record == 0) return "cifar10";
    return "text";
}

}  // namespace

std::vector<std::string> formats()
{
    std::vector<std::string> names;
    for (const DataSetCard* card : data_sets().cards())
        if (card->create != nullptr) names.push_back(card->name);
    return names;
}

Converted convert(const std::string& text, const std::string& format, const fs::path& path,
                  const std::function<void(double share)>& progress)
{
    const DataSetCard& card = data_sets().find(format);
    if (card.create == nullptr)
        base::fail_usage("data sets cannot be converted to ", format, "; the formats are ",
                         base::join_words(formats(), ", "));
    if (fs::exists(path) && !(fs::is_directory(path) && fs::is_empty(path))) base::fail_taken(path);
    const SampleShape shape = data_set(text, {}).shape;
    const std::int64_t samples = samples_in(text);
    check_room(path, samples, shape);

    Converted done;
    const std::unique_ptr<DataSetWriter> writer = card.create(path, shape);
    for_each_sample(text, [&](Part part, std::span<const std::uint8_t> record) {
        writer->write(part, record);
        ++(part == Part::train ? done.train : done.held_out);
        const std::int64_t count = done.train + done.held_out;
        if (progress && count % samples_between_news == 0)
            progress(static_cast<double>(count) / static_cast<double>(samples));
    });
    if (done.held_out == 0)
        base::fail_usage(text, ": no class has five samples, the fewest from which one is held out");
    writer->finish();
    return done;
}

std::string recognise(const fs::path& path)
{
    if (!fs::exists(path)) base::fail(path.string(), " is not there");
    return (fs::is_directory(path) ? format_of_folder(path) : format_of_file(path)) + "[path=" + path.string() + "]";
}

Findings inspect(const std::string& text, const std::function<void(double share)>& progress)
{
    Findings findings;
    const DataSet set = data_set(text, {});
    for (const Part part : {Part::train, Part::held_out}) {
        const std::unique_ptr<Records> records = open_part(set, part, {.skip_corrupt = true});
        for (std::string& fault : records->faults())
            if (std::ranges::find(findings.faults, fault) == findings.faults.end())
                findings.faults.push_back(std::move(fault));
        std::vector<std::uint8_t> record(static_cast<std::size_t>(records->shape().record_bytes()));
        for (std::int64_t number = 0; number < records->records(); ++number) {
            try {
                records->read(number, record);
            } catch (const CorruptRecord& error) {
                if (++findings.corrupt <= static_cast<std::int64_t>(faults_told))
                    findings.faults.emplace_back(error.what());
            }
            if (progress && number % samples_between_news == 0)
                progress((part == Part::train ? 0.0 : 0.5) +
                         0.5 * static_cast<double>(number) / static_cast<double>(records->records()));
        }
    }
    return findings;
}

}  // namespace ddl

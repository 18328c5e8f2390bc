// SPDX-License-Identifier: Apache-2.0
// The format `cifar10`: the folder of CIFAR-10's binary version, or any single file of such records.
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/formats/two_files_writer.hpp"
#include "ddl-workloads/data/record_file.hpp"
#include "ddl-workloads/data/views.hpp"

#include <algorithm>

namespace ddl {

namespace {

namespace fs = std::filesystem;

constexpr auto train_prefix = "data_batch_";
constexpr auto held_out_file = "test_batch.bin";

std::vector<fs::path> train_files(const fs::path& folder)
{
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator{folder})
        if (entry.path().filename().string().starts_with(train_prefix) && entry.path().extension() == ".bin")
            files.push_back(entry.path());
    if (files.empty()) base::fail(folder.string(), " is not a CIFAR-10 folder: it has no ", train_prefix, "*.bin");
    std::ranges::sort(files);
    return files;
}

SampleShape cifar10_shape(const base::Settings& settings)
{
    if (settings.text("path").empty()) base::fail_usage("cifar10: give path=DIR or path=FILE");
    const auto number = [&](const char* name) { return settings.get<std::int64_t>(name); };
    return checked({.channels = number("channels"),
                    .height = number("height"),
                    .width = number("width"),
                    .classes = number("classes")});
}

}  // namespace

extern const DataSetCard cifar10_data{
    .name = "cifar10",
    .summary = "images in CIFAR-10's binary format: its folder, or one file of which every fifth image is held out",
    .options = {{"path", "", "the folder (data_batch_*.bin, test_batch.bin), or a file"},
                {"channels", "3", "channels of an image; the format does not store them"},
                {"height", "32", "pixels"},
                {"width", "32", "pixels"},
                {"classes", "10", "1 to 256"}},
    .shape = cifar10_shape,
    .open = [](const base::Settings& settings, Part part, const Reading& reading) -> std::unique_ptr<Records> {
        const SampleShape shape = cifar10_shape(settings);
        const fs::path path = settings.text("path");
        if (!fs::is_directory(path)) return fifths(std::make_unique<RecordFile>(path, shape, reading), part);
        if (part == Part::held_out) return std::make_unique<RecordFile>(path / held_out_file, shape, reading);
        std::vector<std::unique_ptr<Records>> files;
        for (const fs::path& file : train_files(path))
            files.push_back(std::make_unique<RecordFile>(file, shape, reading));
        return joined(std::move(files));
    },
    .create = [](const fs::path& path, const SampleShape& shape) -> std::unique_ptr<DataSetWriter> {
        if (shape.kind != SampleShape::Kind::image) base::fail_usage("cifar10 stores images only");
        fs::create_directories(path);
        return std::make_unique<TwoFilesWriter<RecordFileWriter>>(path / (std::string{train_prefix} + "1.bin"),
                                                                  path / held_out_file, shape);
    },
};

}  // namespace ddl

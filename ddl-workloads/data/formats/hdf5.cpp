// SPDX-License-Identifier: Apache-2.0
// The format `hdf5`: images in a dataset of bytes, count x (channels x) height x width, and labels in another one;
// samples of other kinds as records in a single dataset. The datasets are in groups `train` and `held_out`, or in the
// root: then every fifth sample is held out.
#include "ddl-workloads/data/formats/hdf5_file.hpp"
#include "ddl-workloads/data/formats/hdf5_records.hpp"
#include "ddl-workloads/data/formats/hdf5_writer.hpp"
#include "ddl-workloads/data/views.hpp"

namespace ddl {

namespace {

namespace fs = std::filesystem;

fs::path hdf5_path(const base::Settings& settings)
{
    if (settings.text("path").empty()) base::fail_usage("hdf5: give path=FILE");
    return settings.text("path");
}

SampleShape shape_in(const hdf5::File& file, const fs::path& path, std::int64_t classes)
{
    if (const auto shape = hdf5::kept_shape(file, path)) return *shape;
    const hdf5::Rows images = hdf5::open_rows(file, path, hdf5::group_of(file, Part::train) + "images");
    const std::size_t rank = images.sizes.size();
    if (rank < 3) base::fail(path.string(), ", ", images.name, ": ", rank, " dimensions instead of 3 or 4");
    return checked({.channels = rank == 4 ? static_cast<std::int64_t>(images.sizes[1]) : 1,
                    .height = static_cast<std::int64_t>(images.sizes[rank - 2]),
                    .width = static_cast<std::int64_t>(images.sizes[rank - 1]),
                    .classes = classes});
}

SampleShape hdf5_shape(const base::Settings& settings)
{
    const fs::path path = hdf5_path(settings);
    const hdf5::Lock lock;
    return shape_in(hdf5::open_file(path), path, settings.get<std::int64_t>("classes"));
}

bool is_parted(const fs::path& path)
{
    const hdf5::Lock lock;
    return hdf5::group_of(hdf5::open_file(path), Part::train) != "/";
}

}  // namespace

extern const DataSetCard hdf5_data{
    .name = "hdf5",
    .summary = "samples in an HDF5 file: any images (bytes) and labels, or a file written by ddl-data",
    .options = {{"path", "", "the file"}, {"classes", "10", "1 to 256, if the file does not store it"}},
    .shape = hdf5_shape,
    .open = [](const base::Settings& settings, Part part, const Reading& reading) -> std::unique_ptr<Records> {
        const fs::path path = hdf5_path(settings);
        std::unique_ptr<Records> records = hdf5_records(path, hdf5_shape(settings), part, reading);
        if (is_parted(path)) return records;
        return fifths(std::move(records), part);
    },
    .create = hdf5_writer,
};

}  // namespace ddl

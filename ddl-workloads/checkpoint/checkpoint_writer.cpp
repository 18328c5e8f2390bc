// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpoint_writer.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "ddl-workloads/checkpoint/hdf5_output.hpp"
#include "soft-errors/state/checksums.hpp"

#include <bit>
#include <thread>

namespace ddl {

namespace fs = std::filesystem;
using hdf5::check;

namespace {

static_assert(std::endian::native == std::endian::little, "tensors are written as they are in memory");

// Link properties that create the groups of a path.
hdf5::Properties making_groups()
{
    hdf5::Properties properties{check(H5Pcreate(H5P_LINK_CREATE), "make properties")};
    check(H5Pset_create_intermediate_group(properties.get(), 1), "set properties");
    return properties;
}

// Allocates space when the dataset is created, so that the offset of its data is known.
hdf5::Properties with_room_at_once()
{
    hdf5::Properties properties{check(H5Pcreate(H5P_DATASET_CREATE), "make properties")};
    check(H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY), "set properties");
    check(H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER), "set properties");
    return properties;
}

hdf5::DataSet make_set(hid_t file, const StateTensor& tensor, hid_t links, hid_t storage)
{
    const std::vector<hsize_t> shape(tensor.shape.begin(), tensor.shape.end());
    const hdf5::Space space{check(
        shape.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
        "make a space")};
    return hdf5::DataSet{
        check(H5Dcreate2(file, tensor.path.c_str(), file_type(tensor.type), space.get(), links, storage, H5P_DEFAULT),
              "make ", tensor.path)};
}

// HDF5's metadata is written before and after all tensors, since tensors evict everything else from the CPU caches.
// Checksums are computed while the kernel copies the tensors.
void write_tensors(hid_t file, hdf5::Output& output, std::span<const StateTensor> tensors)
{
    const hdf5::Properties links = making_groups();
    const hdf5::Properties storage = with_room_at_once();
    std::vector<hdf5::DataSet> sets;
    std::vector<haddr_t> places;
    for (const StateTensor& tensor : tensors) {
        sets.push_back(make_set(file, tensor, links.get(), storage.get()));
        places.push_back(H5Dget_offset(sets.back().get()));
    }
    std::vector<std::uint32_t> checksums(tensors.size());
    {
        const std::jthread writer{[&] {
            for (std::size_t i = 0; i < tensors.size(); ++i) output.write(places[i], tensors[i].bytes);
        }};
        for (std::size_t i = 0; i < tensors.size(); ++i) checksums[i] = soft_errors::crc32c(tensors[i].bytes);
    }
    for (std::size_t i = 0; i < tensors.size(); ++i)
        write_attribute(sets[i].get(), checksum_attribute, H5T_STD_U32LE, &checksums[i]);
}

template <class Fill>
Written write_file(const fs::path& path, bool durable, const Fill& fill)
{
    const hdf5::Lock lock;
    const std::int64_t begin = base::now_ns();
    hdf5::Output output{path};
    // Structures of this version have checksums, so that HDF5 detects damage to them.
    check(H5Pset_libver_bounds(output.access(), H5F_LIBVER_V18, H5F_LIBVER_LATEST), "set the version");
    try {
        const hdf5::File file{
            check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, output.access()), "create ", path.string())};
        fill(file.get(), output);
    } catch (const base::Error&) {
        output.finish(false);  // throws first if the disk caused the error
        throw;
    }
    const std::int64_t filled = base::now_ns();
    return {.write_ns = filled - begin,
            .sync_ns = output.finish(durable),
            .bytes = static_cast<std::int64_t>(output.size())};
}

Written write_tensors(const fs::path& path, const CheckpointMeta& meta, std::int64_t shard,
                      std::span<const StateTensor> tensors, bool durable)
{
    return write_file(path, durable, [&](hid_t file, hdf5::Output& output) {
        write_meta(file, meta, shard, tensors.size());
        write_tensors(file, output, tensors);
    });
}

}  // namespace

Written write_whole_checkpoint(const fs::path& checkpoint, const CheckpointMeta& meta,
                               std::span<const StateTensor> tensors, bool durable)
{
    return write_tensors(checkpoint_file(checkpoint), meta, -1, tensors, durable);
}

Written write_shard(const fs::path& checkpoint, const CheckpointMeta& meta, std::int64_t shard,
                    std::span<const StateTensor> tensors, bool durable)
{
    return write_tensors(shard_file(checkpoint, shard), meta, shard, tensors, durable);
}

Written write_index(const fs::path& checkpoint, const CheckpointMeta& meta,
                    const std::vector<std::vector<std::string>>& paths, bool durable)
{
    return write_file(checkpoint_file(checkpoint), durable, [&](hid_t file, hdf5::Output&) {
        write_meta(file, meta, -1, 0);
        const hdf5::Properties groups = making_groups();
        for (std::size_t shard = 0; shard < paths.size(); ++shard)
            for (const std::string& path : paths[shard])
                check(H5Lcreate_external(shard_file({}, static_cast<std::int64_t>(shard)).c_str(), path.c_str(), file,
                                         path.c_str(), groups.get(), H5P_DEFAULT),
                      "link ", path);
    });
}

}  // namespace ddl

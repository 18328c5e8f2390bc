// SPDX-License-Identifier: Apache-2.0
// HDF5 files whose structures have checksums (superblock version 2 or later): tensors are datasets, contiguous unless
// compressed, with the attribute crc32c; the head is the attributes of /meta. The index of shards links to their
// datasets. A program that alters a tensor on purpose updates that attribute.
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/clock.hpp"
#include "ddl-workloads/checkpoint/checkpoint_format.hpp"
#include "ddl-workloads/checkpoint/formats/hdf5_attributes.hpp"
#include "ddl-workloads/checkpoint/formats/offset_output.hpp"
#include "soft-errors/state/checksums.hpp"
#include "soft-errors/state/hdf5_store.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <string_view>
#include <thread>

namespace ddl {

namespace fs = std::filesystem;
using hdf5::check;

namespace {

static_assert(std::endian::native == std::endian::little, "tensors are written as they are in memory");

hid_t file_type(ElementType type)
{
    switch (type) {
        case ElementType::float32:
            return H5T_IEEE_F32LE;
        case ElementType::float64:
            return H5T_IEEE_F64LE;
        case ElementType::int32:
            return H5T_STD_I32LE;
        case ElementType::int64:
            return H5T_STD_I64LE;
        case ElementType::uint8:
            break;
    }
    return H5T_STD_U8LE;
}

// ----------------------------------------------------------------------------------------------------------- writing

// Receives the bytes that HDF5 writes: unlike HDF5, OffsetOutput reports that a disk is full.
class OutputStore final : public soft_errors::hdf5::Store {
 public:
    explicit OutputStore(OffsetOutput& output) : output_{output} {}
    std::uint64_t size() const noexcept override { return output_.size(); }
    void read(std::uint64_t at, std::span<std::byte> room) const noexcept override { output_.read(at, room); }
    void write(std::uint64_t at, std::span<const std::byte> bytes) noexcept override { output_.write(at, bytes); }
    void resize(std::uint64_t size) noexcept override { output_.resize(size); }

 private:
    OffsetOutput& output_;
};

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

bool is_compressed(const StateTensor& tensor, int gzip)
{
    return gzip > 0 && !tensor.shape.empty() && !tensor.bytes.empty();
}

// Chunks of about a MiB. Their bytes are shuffled before compression, which brings together bytes that differ little.
hdf5::Properties compressed(const StateTensor& tensor, int gzip)
{
    constexpr std::size_t wanted = 1 << 20;
    std::size_t bytes = tensor.bytes.size();
    std::vector<hsize_t> chunk(tensor.shape.begin(), tensor.shape.end());
    for (hsize_t& length : chunk) {
        if (bytes <= wanted) break;
        const std::size_t one = bytes / length;
        length = std::max<hsize_t>(wanted / one, 1);
        bytes = one * length;
    }
    hdf5::Properties properties{check(H5Pcreate(H5P_DATASET_CREATE), "make properties")};
    check(H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data()), "set chunks");
    check(H5Pset_shuffle(properties.get()), "shuffle bytes");
    check(H5Pset_deflate(properties.get(), static_cast<unsigned>(gzip)), "compress");
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
void write_tensors(hid_t file, OffsetOutput& output, std::span<const StateTensor> tensors, int gzip)
{
    const hdf5::Properties links = making_groups();
    const hdf5::Properties storage = with_room_at_once();
    std::vector<hdf5::DataSet> sets;
    std::vector<haddr_t> places;
    for (const StateTensor& tensor : tensors) {
        const bool packed = is_compressed(tensor, gzip);
        sets.push_back(make_set(file, tensor, links.get(), packed ? compressed(tensor, gzip).get() : storage.get()));
        places.push_back(packed ? HADDR_UNDEF : H5Dget_offset(sets.back().get()));
    }
    std::vector<std::uint32_t> checksums(tensors.size());
    {
        const std::jthread writer{[&] {
            for (std::size_t i = 0; i < tensors.size(); ++i)
                if (places[i] != HADDR_UNDEF) output.write(places[i], tensors[i].bytes);
        }};
        for (std::size_t i = 0; i < tensors.size(); ++i) checksums[i] = soft_errors::crc32c(tensors[i].bytes);
    }
    for (std::size_t i = 0; i < tensors.size(); ++i)
        if (places[i] == HADDR_UNDEF)
            check(H5Dwrite(sets[i].get(), file_type(tensors[i].type), H5S_ALL, H5S_ALL, H5P_DEFAULT,
                           tensors[i].bytes.data()),
                  "compress ", tensors[i].path);
    for (std::size_t i = 0; i < tensors.size(); ++i)
        write_attribute(sets[i].get(), base::checkpoint::checksum, H5T_STD_U32LE, &checksums[i]);
}

void write_head(hid_t file, const NewFile& wanted, std::size_t tensors)
{
    const hdf5::Object group{
        check(H5Gcreate2(file, base::checkpoint::meta, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "make the group meta")};
    for (const auto& [name, value] : head_of(wanted.meta, wanted.shard, tensors))
        if (const std::string* const text = std::get_if<std::string>(&value))
            write_text(group.get(), name, *text);
        else
            write_number(group.get(), name, std::get<std::int64_t>(value));
}

template <class Fill>
Written write_file(const NewFile& wanted, std::size_t tensors, const Fill& fill)
{
    const hdf5::Lock lock;
    const std::int64_t begin = base::now_ns();
    OffsetOutput output{wanted.path};
    OutputStore store{output};
    const hdf5::Properties access = soft_errors::hdf5::access_through(&store);
    // Structures of this version have checksums, so that HDF5 detects damage to them.
    check(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST), "set the version");
    try {
        const hdf5::File file{check(H5Fcreate(wanted.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), "create ",
                                    wanted.path.string())};
        write_head(file.get(), wanted, tensors);
        fill(file.get(), output);
    } catch (const base::Error&) {
        output.finish(false);  // throws first if the disk caused the error
        throw;
    }
    const std::int64_t filled = base::now_ns();
    return {.write_ns = filled - begin,
            .sync_ns = output.finish(wanted.durable),
            .bytes = static_cast<std::int64_t>(output.size())};
}

Written write_hdf5(const NewFile& wanted, std::span<const StateTensor> tensors)
{
    return write_file(wanted, tensors.size(),
                      [&](hid_t file, OffsetOutput& output) { write_tensors(file, output, tensors, wanted.gzip); });
}

Written write_links(const NewFile& wanted, const std::vector<std::vector<std::string>>& paths)
{
    return write_file(wanted, 0, [&](hid_t file, OffsetOutput&) {
        const hdf5::Properties groups = making_groups();
        for (std::size_t shard = 0; shard < paths.size(); ++shard) {
            const std::string target = base::join(base::checkpoint::shard_begin, shard, base::checkpoint::shard_end);
            for (const std::string& path : paths[shard])
                check(H5Lcreate_external(target.c_str(), path.c_str(), file, path.c_str(), groups.get(), H5P_DEFAULT),
                      "link ", path);
        }
    });
}

// ----------------------------------------------------------------------------------------------------------- reading

constexpr std::string_view signature{"\211HDF\r\n\032\n", 8};
constexpr int first_superblock_with_checksum = 2;

bool has_checked_structures(const fs::path& path)
{
    base::refuse_irregular(path);
    std::array<char, signature.size() + 1> head{};
    std::ifstream file{path, std::ios::binary};
    if (!file) base::fail("cannot open ", path.string());
    file.read(head.data(), head.size());
    return file && std::string_view{head.data(), signature.size()} == signature &&
           head.back() >= first_superblock_with_checksum;
}

hdf5::File open_for_reading(const fs::path& path)
{
    if (!has_checked_structures(path)) base::fail(path.string(), " is not a checkpoint of ddl-train");
    hdf5::File file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)};
    if (!file.valid()) base::fail(path.string(), " is damaged or cut off: HDF5 cannot open it (", hdf5::why(), ")");
    return file;
}

herr_t note_link(hid_t, const char* name, const H5L_info_t* link, void* names)
{
    if (link->type == H5L_TYPE_HARD) static_cast<std::vector<std::string>*>(names)->emplace_back(name);
    return 0;
}

bool is_data_set(hid_t file, const std::string& path)
{
    const hdf5::Object object{check(H5Oopen(file, path.c_str(), H5P_DEFAULT), "open ", path)};
    return H5Iget_type(object.get()) == H5I_DATASET;
}

std::vector<std::string> data_sets_of(hid_t file)
{
    std::vector<std::string> names;
    check(H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, note_link, &names), "list the tensors");
    std::erase_if(names, [file](const std::string& name) { return !is_data_set(file, name); });
    std::sort(names.begin(), names.end());
    return names;
}

class Attributes final : public Head {
 public:
    explicit Attributes(hid_t group) : group_{group} {}
    bool has(const char* name) const override { return H5Aexists(group_, name) > 0; }
    std::int64_t number(const char* name) const override { return read_number(group_, name); }
    std::string text(const char* name) const override { return read_text(group_, name); }

 private:
    hid_t group_;
};

class Hdf5File final : public CheckpointFile {
 public:
    Hdf5File(const fs::path& path, std::int64_t shard)
        : CheckpointFile{path}, file_{open_for_reading(path)}, length_{fs::file_size(path)}
    {
        naming("", [&] {
            const hdf5::Object group{
                check(H5Oopen(file_.get(), base::checkpoint::meta, H5P_DEFAULT), "find the group meta")};
            paths_ = data_sets_of(file_.get());
            meta_ = read_head(Attributes{group.get()}, shard, paths_.size());
        });
    }

    std::vector<std::byte> bytes(const std::string& path) const override
    {
        return naming(path, [&] {
            const hdf5::DataSet set = open(path);
            const hdf5::Type type{check(H5Dget_type(set.get()), "read the type")};
            std::vector<std::byte> bytes(size_of(set.get()));
            read_checked(set.get(), type.get(), bytes);
            return bytes;
        });
    }

    void read(const StateTensor& tensor) const override
    {
        naming(tensor.path, [&] {
            const hdf5::DataSet set = open(tensor.path);
            const hdf5::Type type{check(H5Dget_type(set.get()), "read the type")};
            if (H5Tequal(type.get(), file_type(tensor.type)) <= 0)
                base::fail("its element type differs from the model's");
            const hdf5::Space space{check(H5Dget_space(set.get()), "read the shape")};
            const std::vector<hsize_t> expected(tensor.shape.begin(), tensor.shape.end());
            std::vector<hsize_t> shape(H5S_MAX_RANK);
            const int dimensions =
                check(H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr), "read the shape");
            shape.resize(static_cast<std::size_t>(dimensions));
            if (shape != expected) base::fail("its shape differs from the model's");
            if (size_of(set.get()) != tensor.bytes.size()) base::fail("its size differs from the model's");
            read_checked(set.get(), type.get(), tensor.bytes);
        });
    }

 private:
    hdf5::DataSet open(const std::string& path) const
    {
        return hdf5::DataSet{check(H5Dopen2(file_.get(), path.c_str(), H5P_DEFAULT), "open it")};
    }

    // The dataset's size in bytes. Throws Error if it claims more than the file can hold.
    std::size_t size_of(hid_t set) const
    {
        const hdf5::Type type{check(H5Dget_type(set), "read the type")};
        const hdf5::Space space{check(H5Dget_space(set), "read the shape")};
        const H5T_class_t kind = H5Tget_class(type.get());
        if (kind != H5T_INTEGER && kind != H5T_FLOAT) base::fail("is not numeric");
        const hssize_t count = check(H5Sget_simple_extent_npoints(space.get()), "read the shape");
        const std::size_t element = H5Tget_size(type.get());
        const hdf5::Properties storage{check(H5Dget_create_plist(set), "read its layout")};
        constexpr std::uint64_t best_ratio = 1032;  // largest compression ratio of deflate
        const std::uint64_t most = H5Pget_nfilters(storage.get()) > 0 ? length_ * best_ratio : length_;
        if (element == 0 || static_cast<std::uint64_t>(count) > most / element) base::fail("is larger than its file");
        return static_cast<std::size_t>(count) * element;
    }

    static void read_checked(hid_t set, hid_t type, std::span<std::byte> room)
    {
        std::uint32_t written = 0;
        check(H5Aread(open_attribute(set, base::checkpoint::checksum, H5T_INTEGER).get(), H5T_NATIVE_UINT32, &written),
              "read its checksum");
        if (!room.empty())
            check(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, room.data()), "read it: it is damaged or cut off");
        check_checksum(soft_errors::crc32c(room), written);
    }

    hdf5::Lock lock_;
    hdf5::File file_;
    std::uint64_t length_ = 0;
};

}  // namespace

extern const CheckpointFormat hdf5_checkpoint;
const CheckpointFormat hdf5_checkpoint{
    .name = "hdf5",
    .summary = "HDF5, as ddl-alter and h5py read it",
    .extension = base::checkpoint::shard_end,
    .offers = {&compressing},
    .write = write_hdf5,
    .write_index = write_links,
    .open = [](const fs::path& path, std::int64_t shard) -> std::unique_ptr<CheckpointFile> {
        return std::make_unique<Hdf5File>(path, shard);
    },
};

}  // namespace ddl

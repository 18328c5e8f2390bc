// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "soft-errors/state/checksums.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <string_view>

namespace ddl {

namespace fs = std::filesystem;
using hdf5::check;

namespace {

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

std::string hexadecimal(std::uint32_t number)
{
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", number);
    return digits.data();
}

// Runs `work`. An Error gets the names of the file and the tensor in front.
template <class Work>
auto naming(const fs::path& file, const std::string& tensor, const Work& work)
{
    try {
        return work();
    } catch (const base::Error& error) {
        base::fail(file.string(), tensor.empty() ? "" : ": /", tensor, ": ", error.what());
    }
}

}  // namespace

// One file of a checkpoint that holds tensors.
class CheckpointReader::File {
 public:
    File(fs::path path, std::int64_t shard)
        : path_{std::move(path)}, file_{open_for_reading(path_)}, bytes_{fs::file_size(path_)}
    {
        naming(path_, "", [&] {
            const hdf5::Object group{check(H5Oopen(file_.get(), "meta", H5P_DEFAULT), "find the group meta")};
            if (read_text(group.get(), "program") != "ddl-train") base::fail("not a checkpoint of ddl-train");
            const std::int64_t format = read_number(group.get(), "format");
            if (format != checkpoint_format)
                base::fail("has format ", format, ", but this version reads format ", checkpoint_format);
            if (read_number(group.get(), "shard") != shard) base::fail("was written under another name");
            meta_ = read_meta(group.get());
            paths_ = data_sets_of(file_.get());
            const std::int64_t tensors = read_number(group.get(), "tensors");
            if (tensors != static_cast<std::int64_t>(paths_.size()))
                base::fail("holds ", paths_.size(), " tensors; ", tensors, " were written");
        });
    }

    const fs::path& path() const { return path_; }
    const CheckpointMeta& meta() const { return meta_; }
    const std::vector<std::string>& paths() const { return paths_; }
    bool holds(const std::string& path) const { return std::binary_search(paths_.begin(), paths_.end(), path); }

    void verify(const std::string& path) const
    {
        naming(path_, path, [&] {
            const hdf5::DataSet set = open(path);
            const hdf5::Type type{check(H5Dget_type(set.get()), "read the type")};
            std::vector<std::byte> bytes(size_of(set.get()));
            read_checked(set.get(), type.get(), bytes);
        });
    }

    void read(const StateTensor& tensor) const
    {
        naming(path_, tensor.path, [&] {
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

    // Not more than the size of the file, whatever the dataset claims.
    std::size_t size_of(hid_t set) const
    {
        const hdf5::Type type{check(H5Dget_type(set), "read the type")};
        const hdf5::Space space{check(H5Dget_space(set), "read the shape")};
        const H5T_class_t kind = H5Tget_class(type.get());
        if (kind != H5T_INTEGER && kind != H5T_FLOAT) base::fail("is not numeric");
        const hssize_t count = check(H5Sget_simple_extent_npoints(space.get()), "read the shape");
        const std::size_t element = H5Tget_size(type.get());
        if (element == 0 || static_cast<std::uint64_t>(count) > bytes_ / element) base::fail("is larger than its file");
        return static_cast<std::size_t>(count) * element;
    }

    static void read_checked(hid_t set, hid_t type, std::span<std::byte> room)
    {
        std::uint32_t written = 0;
        check(H5Aread(open_attribute(set, checksum_attribute, H5T_INTEGER).get(), H5T_NATIVE_UINT32, &written),
              "read its checksum");
        if (!room.empty())
            check(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, room.data()), "read it: it is damaged or cut off");
        const std::uint32_t found = soft_errors::crc32c(room);
        if (found != written)
            base::fail("is damaged: its CRC-32C is ", hexadecimal(found), ", not ", hexadecimal(written));
    }

    fs::path path_;
    hdf5::File file_;
    std::uint64_t bytes_ = 0;
    CheckpointMeta meta_;
    std::vector<std::string> paths_;  // sorted
};

CheckpointReader::CheckpointReader(const fs::path& checkpoint)
{
    auto index = std::make_unique<File>(checkpoint_file(checkpoint), -1);
    meta_ = index->meta();
    constexpr std::int64_t most_ranks = 1 << 20;
    if (meta_.step < 0 || meta_.steps_per_epoch < 1 || meta_.shards < 0 || meta_.shards > most_ranks)
        base::fail(index->path().string(), ": its values are invalid");
    if (meta_.shards == 0) files_.push_back(std::move(index));
    for (std::int64_t shard = 0; shard < meta_.shards; ++shard) {
        files_.push_back(std::make_unique<File>(shard_file(checkpoint, shard), shard));
        const CheckpointMeta& its = files_.back()->meta();
        if (its.step != meta_.step || its.shards != meta_.shards || its.seed != meta_.seed || its.model != meta_.model)
            base::fail(files_.back()->path().string(), " belongs to another checkpoint");
    }
}

CheckpointReader::~CheckpointReader() = default;

void CheckpointReader::verify() const
{
    for (const auto& file : files_)
        for (const std::string& path : file->paths()) file->verify(path);
}

void CheckpointReader::read(std::span<const StateTensor> tensors, int rank) const
{
    for (const StateTensor& tensor : tensors) {
        const auto own = static_cast<std::size_t>(rank);
        const auto holds = [&](const auto& file) { return file->holds(tensor.path); };
        const auto any = std::find_if(files_.begin(), files_.end(), holds);
        if (any == files_.end()) base::fail(files_.front()->path().string(), ": there is no /", tensor.path);
        (own < files_.size() && holds(files_[own]) ? files_[own] : *any)->read(tensor);
    }
}

std::vector<std::vector<std::string>> CheckpointReader::paths() const
{
    std::vector<std::vector<std::string>> all;
    for (const auto& file : files_) all.push_back(file->paths());
    return all;
}

}  // namespace ddl

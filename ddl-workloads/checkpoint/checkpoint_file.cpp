#include "ddl-workloads/checkpoint/checkpoint_file.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/version.hpp"
#include "ddl-workloads/checkpoint/hdf5_output.hpp"
#include "ddl-workloads/data/checksums.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <thread>

namespace ddl {

namespace fs = std::filesystem;
using hdf5::check;

namespace {

static_assert(std::endian::native == std::endian::little, "tensors are written as they are in memory");

constexpr const char* checksum_attribute = "crc32c";
constexpr std::string_view signature{"\211HDF\r\n\032\n", 8};
constexpr int first_superblock_with_checksum = 2;

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

// ------------------------------------------------------------------------------------------------------- attributes

void write_attribute(hid_t object, const char* name, hid_t type, const void* value)
{
    const hdf5::Space one{check(H5Screate(H5S_SCALAR), "make a space")};
    const hdf5::Attribute attribute{
        check(H5Acreate2(object, name, type, one.get(), H5P_DEFAULT, H5P_DEFAULT), "make the attribute ", name)};
    check(H5Awrite(attribute.get(), type, value), "write the attribute ", name);
}

void write_number(hid_t object, const char* name, std::int64_t value)
{
    write_attribute(object, name, H5T_STD_I64LE, &value);
}

void write_text(hid_t object, const char* name, const std::string& value)
{
    const hdf5::Type type{check(H5Tcopy(H5T_C_S1), "copy a type")};
    check(H5Tset_size(type.get(), value.size() + 1), "size a type");
    check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "encode a type");
    write_attribute(object, name, type.get(), value.c_str());
}

// Throws Error if it is not there, or no single value of that class.
hdf5::Attribute open_attribute(hid_t object, const char* name, H5T_class_t expected)
{
    hdf5::Attribute attribute{check(H5Aopen(object, name, H5P_DEFAULT), "find the attribute ", name)};
    const hdf5::Type type{check(H5Aget_type(attribute.get()), "read the type of ", name)};
    const hdf5::Space space{check(H5Aget_space(attribute.get()), "read the shape of ", name)};
    if (H5Tget_class(type.get()) != expected || H5Sget_simple_extent_npoints(space.get()) != 1)
        base::fail("the attribute ", name, " is none of ours");
    return attribute;
}

std::int64_t read_number(hid_t object, const char* name)
{
    std::int64_t value = 0;
    check(H5Aread(open_attribute(object, name, H5T_INTEGER).get(), H5T_NATIVE_INT64, &value), "read ", name);
    return value;
}

std::string read_text(hid_t object, const char* name)
{
    constexpr std::size_t longest = 65536;
    const hdf5::Attribute attribute = open_attribute(object, name, H5T_STRING);
    const hdf5::Type type{check(H5Aget_type(attribute.get()), "read the type of ", name)};
    const std::size_t size = H5Tget_size(type.get());
    if (H5Tis_variable_str(type.get()) != 0 || size > longest) base::fail("the attribute ", name, " is none of ours");
    std::string value(size, '\0');
    check(H5Aread(attribute.get(), type.get(), value.data()), "read ", name);
    value.resize(std::min(value.find('\0'), size));
    return value;
}

void write_meta(hid_t file, const CheckpointMeta& meta, std::int64_t shard, std::size_t tensors)
{
    const hdf5::Object group{
        check(H5Gcreate2(file, "meta", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "make the group meta")};
    write_number(group.get(), "format", checkpoint_format);
    write_text(group.get(), "program", "ddl-train");
    write_text(group.get(), "version", base::version());
    write_text(group.get(), "git_revision", base::git_revision());
    write_number(group.get(), "written_ns", base::now_ns() + base::realtime_offset_ns());
    write_number(group.get(), "step", meta.step);
    write_number(group.get(), "epoch", meta.step / meta.steps_per_epoch);
    write_number(group.get(), "step_in_epoch", meta.step % meta.steps_per_epoch);
    write_number(group.get(), "steps_per_epoch", meta.steps_per_epoch);
    write_number(group.get(), "seed", static_cast<std::int64_t>(meta.seed));
    write_number(group.get(), "batch", meta.batch);
    write_number(group.get(), "accumulate", meta.accumulate);
    write_number(group.get(), "ranks", meta.ranks);
    write_text(group.get(), "model", meta.model);
    write_text(group.get(), "data", meta.data);
    write_text(group.get(), "strategy", meta.strategy);
    write_text(group.get(), "optimizer", meta.optimizer);
    write_text(group.get(), "rates", meta.rates);
    write_number(group.get(), "shards", meta.shards);
    write_number(group.get(), "shard", shard);
    write_number(group.get(), "tensors", static_cast<std::int64_t>(tensors));
}

CheckpointMeta read_meta(hid_t group)
{
    CheckpointMeta meta;
    meta.step = read_number(group, "step");
    meta.steps_per_epoch = read_number(group, "steps_per_epoch");
    meta.seed = static_cast<std::uint64_t>(read_number(group, "seed"));
    meta.batch = read_number(group, "batch");
    meta.accumulate = read_number(group, "accumulate");
    meta.ranks = read_number(group, "ranks");
    meta.model = read_text(group, "model");
    meta.data = read_text(group, "data");
    meta.strategy = read_text(group, "strategy");
    meta.optimizer = read_text(group, "optimizer");
    if (H5Aexists(group, "rates") > 0) meta.rates = read_text(group, "rates");
    meta.shards = read_number(group, "shards");
    return meta;
}

// ---------------------------------------------------------------------------------------------------------- writing

// Makes the groups that a path needs.
hdf5::Properties making_groups()
{
    hdf5::Properties properties{check(H5Pcreate(H5P_LINK_CREATE), "make properties")};
    check(H5Pset_create_intermediate_group(properties.get(), 1), "set properties");
    return properties;
}

// So that it is known where the numbers lie.
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

// HDF5's part at once, before and after the numbers, which drive all else out of the cache. Checksums are taken while
// the kernel copies the numbers.
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
        for (std::size_t i = 0; i < tensors.size(); ++i) checksums[i] = crc32c(tensors[i].bytes);
    }
    for (std::size_t i = 0; i < tensors.size(); ++i)
        write_attribute(sets[i].get(), checksum_attribute, H5T_STD_U32LE, &checksums[i]);
}

template <class Fill>
void write_file(const fs::path& path, bool durable, const Fill& fill)
{
    const hdf5::Lock lock;
    hdf5::Output output{path};
    // Structures of this version have checksums, so that HDF5 refuses damaged ones.
    check(H5Pset_libver_bounds(output.access(), H5F_LIBVER_V18, H5F_LIBVER_LATEST), "set the version");
    try {
        const hdf5::File file{
            check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, output.access()), "create ", path.string())};
        fill(file.get(), output);
    } catch (const base::Error&) {
        output.finish(false);  // what went wrong with the disk comes first
        throw;
    }
    output.finish(durable);
}

void write_tensors(const fs::path& path, const CheckpointMeta& meta, std::int64_t shard,
                   std::span<const StateTensor> tensors, bool durable)
{
    write_file(path, durable, [&](hid_t file, hdf5::Output& output) {
        write_meta(file, meta, shard, tensors.size());
        write_tensors(file, output, tensors);
    });
}

// ---------------------------------------------------------------------------------------------------------- reading

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
    if (!has_checked_structures(path)) base::fail(path.string(), " is no checkpoint of ddl-train");
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

// Throws Error with the same text, and in front of it where that was.
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

fs::path checkpoint_file(const fs::path& checkpoint)
{
    return checkpoint / "checkpoint.h5";
}

fs::path shard_file(const fs::path& checkpoint, std::int64_t shard)
{
    return checkpoint / base::join("shard-", shard, ".h5");
}

void write_whole_checkpoint(const fs::path& checkpoint, const CheckpointMeta& meta,
                            std::span<const StateTensor> tensors, bool durable)
{
    write_tensors(checkpoint_file(checkpoint), meta, -1, tensors, durable);
}

void write_shard(const fs::path& checkpoint, const CheckpointMeta& meta, std::int64_t shard,
                 std::span<const StateTensor> tensors, bool durable)
{
    write_tensors(shard_file(checkpoint, shard), meta, shard, tensors, durable);
}

void write_index(const fs::path& checkpoint, const CheckpointMeta& meta,
                 const std::vector<std::vector<std::string>>& paths, bool durable)
{
    write_file(checkpoint_file(checkpoint), durable, [&](hid_t file, hdf5::Output&) {
        write_meta(file, meta, -1, 0);
        const hdf5::Properties groups = making_groups();
        for (std::size_t shard = 0; shard < paths.size(); ++shard)
            for (const std::string& path : paths[shard])
                check(H5Lcreate_external(shard_file({}, static_cast<std::int64_t>(shard)).c_str(), path.c_str(), file,
                                         path.c_str(), groups.get(), H5P_DEFAULT),
                      "link ", path);
    });
}

// One file that holds tensors.
class CheckpointReader::File {
 public:
    File(fs::path path, std::int64_t shard)
        : path_{std::move(path)}, file_{open_for_reading(path_)}, bytes_{fs::file_size(path_)}
    {
        naming(path_, "", [&] {
            const hdf5::Object group{check(H5Oopen(file_.get(), "meta", H5P_DEFAULT), "find the group meta")};
            if (read_text(group.get(), "program") != "ddl-train") base::fail("no checkpoint of ddl-train");
            const std::int64_t format = read_number(group.get(), "format");
            if (format != checkpoint_format)
                base::fail("of format ", format, ", and this is written for format ", checkpoint_format);
            if (read_number(group.get(), "shard") != shard) base::fail("was not written under this name");
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
            if (H5Tequal(type.get(), file_type(tensor.type)) <= 0) base::fail("its numbers are of another type");
            const hdf5::Space space{check(H5Dget_space(set.get()), "read the shape")};
            const std::vector<hsize_t> expected(tensor.shape.begin(), tensor.shape.end());
            std::vector<hsize_t> shape(H5S_MAX_RANK);
            const int dimensions =
                check(H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr), "read the shape");
            shape.resize(static_cast<std::size_t>(dimensions));
            if (shape != expected) base::fail("its shape is not that of the model's");
            if (size_of(set.get()) != tensor.bytes.size()) base::fail("its size is not that of the model's");
            read_checked(set.get(), type.get(), tensor.bytes);
        });
    }

 private:
    hdf5::DataSet open(const std::string& path) const
    {
        return hdf5::DataSet{check(H5Dopen2(file_.get(), path.c_str(), H5P_DEFAULT), "open it")};
    }

    // Not more than the file has, whatever it says of itself.
    std::size_t size_of(hid_t set) const
    {
        const hdf5::Type type{check(H5Dget_type(set), "read the type")};
        const hdf5::Space space{check(H5Dget_space(set), "read the shape")};
        const H5T_class_t kind = H5Tget_class(type.get());
        if (kind != H5T_INTEGER && kind != H5T_FLOAT) base::fail("holds no numbers");
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
        const std::uint32_t found = crc32c(room);
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
        base::fail(index->path().string(), ": its numbers make no sense");
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

// The format `hdf5`: images in a dataset of bytes, count x (channels x) height x width, labels in another; other
// samples as records in one. In groups `train` and `held_out`, or in the root: then every fifth sample is held out.
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/hdf5_lock.hpp"
#include "ddl-workloads/data/record_file.hpp"
#include "ddl-workloads/data/shape_json.hpp"
#include "ddl-workloads/data/views.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace ddl {

namespace {

namespace fs = std::filesystem;

constexpr auto shape_attribute = "crosstalk_shape";  // JSON; files of others have none
constexpr hsize_t labels_at_once = 4096;
constexpr hsize_t chunk_bytes = 4096;  // about: a record that is larger is a chunk
constexpr std::size_t write_bytes = 1U << 20U;
constexpr int no_label = -1;

// What HDF5 handed out. Made, used and released under the lock.
class Id {
 public:
    Id() = default;
    Id(hid_t id, herr_t (*release)(hid_t)) : id_{id}, release_{release} {}
    ~Id()
    {
        if (id_ >= 0) release_(id_);
    }
    Id(Id&& other) noexcept : id_{std::exchange(other.id_, H5I_INVALID_HID)}, release_{other.release_} {}
    Id& operator=(Id&& other) noexcept
    {
        std::swap(id_, other.id_);
        std::swap(release_, other.release_);
        return *this;
    }
    operator hid_t() const { return id_; }
    bool valid() const { return id_ >= 0; }

 private:
    hid_t id_ = H5I_INVALID_HID;
    herr_t (*release_)(hid_t) = nullptr;
};

// What HDF5 says of its last failure, in its own words.
std::string why()
{
    std::string text;
    const auto keep = [](unsigned, const H5E_error2_t* error, void* into) -> herr_t {
        if (error->desc != nullptr) *static_cast<std::string*>(into) = error->desc;
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep, &text);  // ends with the innermost
    return text.empty() ? "no reason given" : text;
}

template <class... Parts>
hid_t check(hid_t result, const Parts&... parts)
{
    if (result < 0) base::fail(parts..., " (HDF5: ", why(), ")");
    return result;
}

Id open_file(const fs::path& path)
{
    if (fs::is_directory(path)) base::fail(path.string(), " is a folder, no HDF5 file");
    ::close(base::check_errno(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open ", path.string()));
    return {check(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), path.string(), " is no HDF5 file, or cut off"),
            H5Fclose};
}

bool has(const Id& file, const std::string& name)
{
    return H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0;
}

// Images and labels of others lie in the root.
std::string group_of(const Id& file, Part part)
{
    if (!has(file, "train") || !has(file, "held_out")) return "/";
    return part == Part::train ? "/train/" : "/held_out/";
}

struct Dataset {
    std::string name;
    Id id;
    std::vector<hsize_t> sizes;
};

Dataset open_dataset(const Id& file, const fs::path& path, const std::string& name)
{
    Dataset dataset{.name = name, .id = {H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose}, .sizes = {}};
    check(dataset.id, path.string(), " has no dataset ", name);
    const Id type{H5Dget_type(dataset.id), H5Tclose};
    if (H5Tget_class(type) != H5T_INTEGER) base::fail(path.string(), ", ", name, ": no whole numbers");
    const Id space{H5Dget_space(dataset.id), H5Sclose};
    const int rank = H5Sget_simple_extent_ndims(space);
    if (rank < 1 || rank > 4) base::fail(path.string(), ", ", name, ": ", rank, " dimensions instead of 1 to 4");
    dataset.sizes.resize(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space, dataset.sizes.data(), nullptr);
    for (const hsize_t size : dataset.sizes)
        if (size < 1 || size > UINT32_MAX) base::fail(path.string(), ", ", name, ": a dimension of size ", size);
    return dataset;
}

void check_bytes(const Dataset& dataset, const fs::path& path)
{
    const Id type{H5Dget_type(dataset.id), H5Tclose};
    if (H5Tget_size(type) != 1)
        base::fail(path.string(), ", ", dataset.name, ": numbers of ", H5Tget_size(type), " bytes instead of 1");
}

// -1 for more than any sample has.
std::int64_t bytes_of_row(const Dataset& dataset)
{
    constexpr std::int64_t most = 1'000'000'000;
    std::int64_t bytes = 1;
    for (std::size_t at = 1; at < dataset.sizes.size(); ++at) {
        const auto size = static_cast<std::int64_t>(dataset.sizes[at]);
        if (bytes > most / size) return -1;
        bytes *= size;
    }
    return bytes;
}

// `count` rows from `first` on, as `type`. Returns why HDF5 cannot read them, or nothing.
std::string read_rows(const Dataset& dataset, hsize_t first, hsize_t count, hid_t type, void* into)
{
    std::vector<hsize_t> begin(dataset.sizes.size());
    std::vector<hsize_t> size = dataset.sizes;
    begin[0] = first;
    size[0] = count;
    const Id in_file{H5Dget_space(dataset.id), H5Sclose};
    H5Sselect_hyperslab(in_file, H5S_SELECT_SET, begin.data(), nullptr, size.data(), nullptr);
    const Id in_memory{H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr), H5Sclose};
    return H5Dread(dataset.id, type, in_memory, in_file, H5P_DEFAULT, into) < 0 ? why() : "";
}

std::optional<SampleShape> kept_shape(const Id& file, const fs::path& path)
{
    if (H5Aexists(file, shape_attribute) <= 0) return {};
    const Id attribute{check(H5Aopen(file, shape_attribute, H5P_DEFAULT), path.string()), H5Aclose};
    const Id type{H5Aget_type(attribute), H5Tclose};
    const std::size_t bytes = H5Tget_size(type);
    std::string text(std::min<std::size_t>(bytes, 1U << 16U), '\0');
    const Id space{H5Aget_space(attribute), H5Sclose};
    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0 || text.size() != bytes ||
        H5Sget_simple_extent_npoints(space) != 1 || H5Aread(attribute, type, text.data()) < 0)
        base::fail(path.string(), ": its attribute ", shape_attribute, " is no text");
    try {
        return shape_from_json(nlohmann::ordered_json::parse(text));
    } catch (const nlohmann::json::exception& error) {
        base::fail(path.string(), ", attribute ", shape_attribute, ": ", error.what());
    }
}

SampleShape shape_in(const Id& file, const fs::path& path, std::int64_t classes)
{
    if (const auto shape = kept_shape(file, path)) return *shape;
    const Dataset images = open_dataset(file, path, group_of(file, Part::train) + "images");
    const std::size_t rank = images.sizes.size();
    if (rank < 3) base::fail(path.string(), ", ", images.name, ": ", rank, " dimensions instead of 3 or 4");
    const SampleShape shape{.channels = rank == 4 ? static_cast<std::int64_t>(images.sizes[1]) : 1,
                            .height = static_cast<std::int64_t>(images.sizes[rank - 2]),
                            .width = static_cast<std::int64_t>(images.sizes[rank - 1]),
                            .classes = classes};
    return checked(shape);
}

class Hdf5Records : public Records {
 public:
    Hdf5Records(const fs::path& path, const SampleShape& shape, Part part, const Reading& reading)
        : Records{shape}, path_{path}
    {
        if (reading.access == Access::direct)
            base::fail_usage("hdf5: HDF5 reads through the page cache; --drop-page-cache leaves nothing in it");
        const Hdf5Lock lock;
        try {
            open(part, reading);
        } catch (...) {
            release();
            throw;
        }
    }

    ~Hdf5Records() override
    {
        const Hdf5Lock lock;
        release();
    }

    std::vector<std::string> faults() const override { return faults_; }
    bool past_page_cache() const override { return dropped_ >= 0; }

 private:
    bool has_labels() const { return shape().kind == SampleShape::Kind::image; }

    void open(Part part, const Reading& reading)
    {
        file_ = open_file(path_);
        const std::string group = group_of(file_, part);
        data_ = open_dataset(file_, path_, group + (has_labels() ? "images" : "records"));
        check_bytes(data_, path_);
        if (bytes_of_row(data_) != data_bytes())
            base::fail(path_.string(), ", ", data_.name, ": not ", data_bytes(), " bytes a sample");
        set_records(static_cast<std::int64_t>(data_.sizes[0]));
        check_stored(H5Dget_storage_size(data_.id));
        if (has_labels()) read_labels(group + "labels", reading);
        if (reading.access == Access::uncached) drop_from_now_on();
    }

    // A few bytes can say that they are any number of samples: no packing is better than deflate's 1032 to 1.
    void check_stored(hsize_t stored) const
    {
        constexpr std::int64_t best_packing = 1032;
        if (records() > static_cast<std::int64_t>(stored) * best_packing / data_bytes())
            base::fail(path_.string(), ", ", data_.name, ": says ", records(), " samples, but holds ", stored,
                       " bytes");
    }

    std::int64_t data_bytes() const { return shape().record_bytes() - (has_labels() ? 1 : 0); }

    void read_labels(const std::string& name, const Reading& reading)
    {
        const Dataset labels = open_dataset(file_, path_, name);
        if (labels.sizes.size() != 1) base::fail(path_.string(), ", ", name, ": more than one dimension");
        if (labels.sizes[0] != data_.sizes[0]) {
            faults_.push_back(base::join(path_.string(), ", ", name, ": ", labels.sizes[0], " labels for ",
                                         data_.sizes[0], " images"));
            if (!reading.skip_corrupt) base::fail(faults_.front());
            set_records(std::min(records(), static_cast<std::int64_t>(labels.sizes[0])));
        }
        const auto count = static_cast<hsize_t>(records());
        labels_.resize(count, no_label);
        std::vector<std::int64_t> some(labels_at_once);
        for (hsize_t first = 0; first < count; first += labels_at_once) {
            const hsize_t here = std::min(labels_at_once, count - first);
            if (!read_rows(labels, first, here, H5T_NATIVE_INT64, some.data()).empty()) continue;
            for (hsize_t at = 0; at < here; ++at)
                if (some[at] >= 0 && some[at] <= 255) labels_[first + at] = static_cast<std::int16_t>(some[at]);
        }
        labels_name_ = name;
    }

    void drop_from_now_on()
    {
        void* handle = nullptr;
        if (H5Fget_vfd_handle(file_, H5P_DEFAULT, &handle) < 0) return;
        if (!InputFile{path_, Access::uncached}.past_page_cache()) return;
        dropped_ = *static_cast<int*>(handle);
        ::posix_fadvise(dropped_, 0, 0, POSIX_FADV_RANDOM);
    }

    void fetch(std::int64_t number, std::span<std::uint8_t> record) const override
    {
        if (has_labels()) {
            const int label = labels_[static_cast<std::size_t>(number)];
            if (label == no_label)
                throw CorruptRecord{base::join(path_.string(), ", ", labels_name_, ", number ", number,
                                               ": the label is no byte or cannot be read")};
            record[0] = static_cast<std::uint8_t>(label);
            record = record.subspan(1);
        }
        const Hdf5Lock lock;
        const std::string failure = read_rows(data_, static_cast<hsize_t>(number), 1, H5T_NATIVE_UINT8, record.data());
        if (!failure.empty())
            throw CorruptRecord{base::join(place_in_data(number), ": cannot be read (HDF5: ", failure, ")")};
        if (dropped_ >= 0) ::posix_fadvise(dropped_, 0, 0, POSIX_FADV_DONTNEED);
    }

    std::string place(std::int64_t number) const override
    {
        const Hdf5Lock lock;
        return place_in_data(number);
    }

    std::string place_in_data(std::int64_t number) const
    {
        std::string place = base::join(path_.string(), ", ", data_.name, ", number ", number);
        haddr_t at = H5Dget_offset(data_.id);
        if (at != HADDR_UNDEF) return base::join(place, ", byte ", at + static_cast<haddr_t>(number * data_bytes()));
        std::vector<hsize_t> first(data_.sizes.size());
        first[0] = static_cast<hsize_t>(number);
        unsigned filters = 0;
        hsize_t stored = 0;
        if (H5Dget_chunk_info_by_coord(data_.id, first.data(), &filters, &at, &stored) >= 0 && at != HADDR_UNDEF)
            place += base::join(", in the ", stored, " bytes from byte ", at);
        return place;
    }

    void release()
    {
        data_.id = {};
        file_ = {};
    }

    fs::path path_;
    Id file_;
    Dataset data_;
    std::string labels_name_;
    std::vector<std::int16_t> labels_;  // 2 bytes a record
    std::vector<std::string> faults_;
    int dropped_ = -1;  // HDF5's own descriptor of the file
};

// One part: datasets that grow, in chunks with HDF5's own checksum (Fletcher-32).
class Hdf5Part {
 public:
    Hdf5Part(const Id& file, const std::string& group, const SampleShape& shape, const fs::path& path)
        : shape_{shape}, path_{path}
    {
        const Id made{check(H5Gcreate2(file, group.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), path_.string()),
                      H5Gclose};
        const auto record = static_cast<hsize_t>(shape.record_bytes());
        if (shape.kind != SampleShape::Kind::image) {
            sizes_ = {0, record};
            data_ = create(file, group + "/records", sizes_, std::max<hsize_t>(1, chunk_bytes / record));
            return;
        }
        sizes_ = {0, static_cast<hsize_t>(shape.channels), static_cast<hsize_t>(shape.height),
                  static_cast<hsize_t>(shape.width)};
        data_ = create(file, group + "/images", sizes_, std::max<hsize_t>(1, chunk_bytes / record));
        labels_ = create(file, group + "/labels", {0}, labels_at_once);
    }

    void write(std::span<const std::uint8_t> record)
    {
        check_record(shape_, record, path_);
        if (labels_.valid()) {
            waiting_labels_.push_back(record[0]);
            record = record.subspan(1);
        }
        waiting_.insert(waiting_.end(), record.begin(), record.end());
        ++waiting_records_;
        if (waiting_.size() >= write_bytes) flush();
    }

    void flush()
    {
        if (waiting_records_ == 0) return;
        append(data_, sizes_, waiting_);
        if (labels_.valid()) append(labels_, {0}, waiting_labels_);
        written_ += waiting_records_;
        waiting_records_ = 0;
        waiting_.clear();
        waiting_labels_.clear();
    }

 private:
    Id create(const Id& file, const std::string& name, std::vector<hsize_t> sizes, hsize_t rows) const
    {
        std::vector<hsize_t> most = sizes;
        most[0] = H5S_UNLIMITED;
        const Id space{H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), most.data()), H5Sclose};
        sizes[0] = rows;
        const Id properties{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
        H5Pset_chunk(properties, static_cast<int>(sizes.size()), sizes.data());
        H5Pset_fletcher32(properties);
        return {check(H5Dcreate2(file, name.c_str(), H5T_STD_U8LE, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                      "cannot write ", path_.string()),
                H5Dclose};
    }

    void append(const Id& dataset, std::vector<hsize_t> sizes, const std::vector<std::uint8_t>& bytes) const
    {
        std::vector<hsize_t> begin(sizes.size());
        begin[0] = written_;
        sizes[0] = written_ + waiting_records_;
        check(H5Dset_extent(dataset, sizes.data()), "cannot write ", path_.string());
        sizes[0] = waiting_records_;
        const Id in_file{H5Dget_space(dataset), H5Sclose};
        H5Sselect_hyperslab(in_file, H5S_SELECT_SET, begin.data(), nullptr, sizes.data(), nullptr);
        const Id in_memory{H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), H5Sclose};
        check(H5Dwrite(dataset, H5T_NATIVE_UINT8, in_memory, in_file, H5P_DEFAULT, bytes.data()), "cannot write ",
              path_.string());
    }

    SampleShape shape_;
    fs::path path_;
    std::vector<hsize_t> sizes_;  // the first of them grows
    Id data_;
    Id labels_;
    hsize_t written_ = 0;
    hsize_t waiting_records_ = 0;
    std::vector<std::uint8_t> waiting_;
    std::vector<std::uint8_t> waiting_labels_;
};

class Hdf5Writer : public DataSetWriter {
 public:
    Hdf5Writer(fs::path path, const SampleShape& shape)
        : path_{std::move(path)}, unfinished_{path_.string() + ".tmp" + std::to_string(::getpid())}
    {
        const Hdf5Lock lock;
        file_ = {check(H5Fcreate(unfinished_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "cannot create ",
                       unfinished_.string()),
                 H5Fclose};
        keep_shape(shape);
        train_.emplace(file_, "/train", shape, path_);
        held_out_.emplace(file_, "/held_out", shape, path_);
    }

    ~Hdf5Writer() override
    {
        if (!file_.valid()) return;
        close();
        std::error_code code;
        fs::remove(unfinished_, code);
    }

    void write(Part part, std::span<const std::uint8_t> record) override
    {
        const Hdf5Lock lock;
        (part == Part::train ? train_ : held_out_)->write(record);
    }

    void finish() override
    {
        {
            const Hdf5Lock lock;
            train_->flush();
            held_out_->flush();
            check(H5Fflush(file_, H5F_SCOPE_GLOBAL), "cannot write ", path_.string());
        }
        close();
        fs::rename(unfinished_, path_);
    }

 private:
    void keep_shape(const SampleShape& shape)
    {
        const std::string text = to_json(shape).dump();
        const Id type{H5Tcopy(H5T_C_S1), H5Tclose};
        H5Tset_size(type, text.size());
        const Id space{H5Screate(H5S_SCALAR), H5Sclose};
        const Id attribute{check(H5Acreate2(file_, shape_attribute, type, space, H5P_DEFAULT, H5P_DEFAULT),
                                 "cannot write ", path_.string()),
                           H5Aclose};
        check(H5Awrite(attribute, type, text.data()), "cannot write ", path_.string());
    }

    void close()
    {
        const Hdf5Lock lock;
        train_.reset();
        held_out_.reset();
        file_ = {};
    }

    fs::path path_;
    fs::path unfinished_;
    Id file_;
    std::optional<Hdf5Part> train_;
    std::optional<Hdf5Part> held_out_;
};

fs::path needed_path(const base::Settings& settings)
{
    if (settings.text("path").empty()) base::fail_usage("hdf5: path=FILE is needed");
    return settings.text("path");
}

SampleShape shape_of(const base::Settings& settings)
{
    const fs::path path = needed_path(settings);
    const Hdf5Lock lock;
    return shape_in(open_file(path), path, settings.get<std::int64_t>("classes"));
}

bool is_parted(const fs::path& path)
{
    const Hdf5Lock lock;
    return group_of(open_file(path), Part::train) != "/";
}

}  // namespace

extern const DataSetCard hdf5_data{
    .name = "hdf5",
    .summary = "any samples in an HDF5 file: images (bytes) and labels of anyone's, or what ddl-data wrote",
    .options = {{"path", "", "the file"}, {"classes", "10", "1 to 256, where the file does not tell"}},
    .shape = shape_of,
    .open = [](const base::Settings& settings, Part part, const Reading& reading) -> std::unique_ptr<Records> {
        const fs::path path = needed_path(settings);
        auto records = std::make_unique<Hdf5Records>(path, shape_of(settings), part, reading);
        if (is_parted(path)) return records;
        return fifths(std::move(records), part);
    },
    .create = [](const fs::path& path, const SampleShape& shape) -> std::unique_ptr<DataSetWriter> {
        return std::make_unique<Hdf5Writer>(path, shape);
    },
};

}  // namespace ddl

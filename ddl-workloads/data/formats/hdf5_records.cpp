// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/formats/hdf5_records.hpp"

#include "ddl-workloads/data/formats/hdf5_file.hpp"
#include "ddl-workloads/data/input_file.hpp"

#include <algorithm>

#include <fcntl.h>

namespace ddl {

namespace {

namespace fs = std::filesystem;

constexpr hsize_t labels_at_once = 4096;
constexpr int no_label = -1;

void check_bytes(const hdf5::Rows& rows, const fs::path& path)
{
    const hdf5::Type type{H5Dget_type(rows.set.get())};
    if (H5Tget_size(type.get()) != 1)
        base::fail(path.string(), ", ", rows.name, ": numbers of ", H5Tget_size(type.get()), " bytes instead of 1");
    if (H5Tget_sign(type.get()) != H5T_SGN_NONE)
        base::fail(path.string(), ", ", rows.name, ": signed bytes instead of unsigned");
}

class Hdf5Records : public Records {
 public:
    Hdf5Records(const fs::path& path, const SampleShape& shape, Part part, const Reading& reading)
        : Records{shape}, path_{path}
    {
        if (reading.access == Access::direct)
            base::fail_usage("hdf5: HDF5 reads through the page cache; use --drop-page-cache");
        const hdf5::Lock lock;
        try {
            open(part, reading);
        } catch (...) {
            release();
            throw;
        }
    }

    ~Hdf5Records() override
    {
        const hdf5::Lock lock;
        release();
    }

    std::vector<std::string> faults() const override { return faults_; }
    bool past_page_cache() const override { return plain_ ? plain_->past_page_cache() : dropped_ >= 0; }

 private:
    bool has_labels() const { return shape().kind == SampleShape::Kind::image; }

    void open(Part part, const Reading& reading)
    {
        file_ = hdf5::open_file(path_);
        const std::string group = hdf5::group_of(file_, part);
        data_ = hdf5::open_rows(file_, path_, group + (has_labels() ? "images" : "records"));
        check_bytes(data_, path_);
        if (hdf5::numbers_in_row(data_) != data_bytes())
            base::fail(path_.string(), ", ", data_.name, ": not ", data_bytes(), " bytes a sample");
        set_records(static_cast<std::int64_t>(data_.sizes[0]));
        check_stored(H5Dget_storage_size(data_.set.get()));
        if (has_labels()) read_labels(group + "labels", reading);
        read_plainly(reading);
        if (!plain_ && reading.access == Access::uncached) drop_from_now_on();
    }

    // Refuses a small file that claims to hold a huge number of samples: no filter compresses better than deflate's
    // 1032 to 1.
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
        const hdf5::Rows labels = hdf5::open_rows(file_, path_, name);
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

    void read_plainly(const Reading& reading)
    {
        const auto at = hdf5::plain_bytes(data_);
        if (!at) return;
        auto file = std::make_unique<InputFile>(path_, reading.access);
        const auto end = static_cast<haddr_t>(file->bytes());
        const auto needed = static_cast<haddr_t>(records() * data_bytes());
        if (needed > end || *at > end - needed) return;  // HDF5 reports the error
        plain_ = std::move(file);
        first_byte_ = static_cast<std::int64_t>(*at);
    }

    void drop_from_now_on()
    {
        void* handle = nullptr;
        if (H5Fget_vfd_handle(file_.get(), H5P_DEFAULT, &handle) < 0) return;
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
                                               ": the label is not a byte or cannot be read")};
            record[0] = static_cast<std::uint8_t>(label);
            record = record.subspan(1);
        }
        if (plain_) return plain_->read_whole(first_byte_ + number * data_bytes(), record, data_.name);
        const hdf5::Lock lock;
        const std::string failure = read_rows(data_, static_cast<hsize_t>(number), 1, H5T_NATIVE_UINT8, record.data());
        if (!failure.empty())
            throw CorruptRecord{base::join(place_in_data(number), ": cannot be read (HDF5: ", failure, ")")};
        if (dropped_ >= 0) ::posix_fadvise(dropped_, 0, 0, POSIX_FADV_DONTNEED);
    }

    std::string place(std::int64_t number) const override
    {
        const hdf5::Lock lock;
        return place_in_data(number);
    }

    std::string place_in_data(std::int64_t number) const
    {
        std::string place = base::join(path_.string(), ", ", data_.name, ", number ", number);
        haddr_t at = H5Dget_offset(data_.set.get());
        if (at != HADDR_UNDEF) return base::join(place, ", byte ", at + static_cast<haddr_t>(number * data_bytes()));
        std::vector<hsize_t> first(data_.sizes.size());
        first[0] = static_cast<hsize_t>(number);
        unsigned filters = 0;
        hsize_t stored = 0;
        if (H5Dget_chunk_info_by_coord(data_.set.get(), first.data(), &filters, &at, &stored) >= 0 && at != HADDR_UNDEF)
            place += base::join(", in the ", stored, " bytes from byte ", at);
        return place;
    }

    void release()
    {
        data_ = {};
        file_ = {};
    }

    fs::path path_;
    hdf5::File file_;
    hdf5::Rows data_;
    std::unique_ptr<InputFile> plain_;  // null: only HDF5 can read the data
    std::int64_t first_byte_ = 0;       // offset of the data in the file
    std::string labels_name_;
    std::vector<std::int16_t> labels_;  // 2 bytes for each record
    std::vector<std::string> faults_;
    int dropped_ = -1;  // HDF5's own file descriptor
};

}  // namespace

std::unique_ptr<Records> hdf5_records(const fs::path& path, const SampleShape& shape, Part part, const Reading& reading)
{
    return std::make_unique<Hdf5Records>(path, shape, part, reading);
}

}  // namespace ddl

// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/formats/hdf5_writer.hpp"

#include "ddl-workloads/data/formats/hdf5_file.hpp"
#include "ddl-workloads/data/record_file.hpp"

#include <algorithm>

#include <unistd.h>

namespace ddl {

namespace {

namespace fs = std::filesystem;
using hdf5::check;

constexpr hsize_t labels_of_a_chunk = 4096;
constexpr hsize_t chunk_bytes = 4096;  // approximately: a larger record is one chunk
constexpr std::size_t write_bytes = 1U << 20U;

class Hdf5Part {
 public:
    Hdf5Part(const hdf5::File& file, const std::string& group, const SampleShape& shape, const fs::path& path)
        : shape_{shape}, path_{path}
    {
        const hdf5::Group made{check(H5Gcreate2(file.get(), group.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                     "write ", path.string())};
        const auto record = static_cast<hsize_t>(shape.record_bytes());
        if (shape.kind != SampleShape::Kind::image) {
            sizes_ = {0, record};
            data_ = create(file, group + "/records", sizes_, std::max<hsize_t>(1, chunk_bytes / record));
            return;
        }
        sizes_ = {0, static_cast<hsize_t>(shape.channels), static_cast<hsize_t>(shape.height),
                  static_cast<hsize_t>(shape.width)};
        data_ = create(file, group + "/images", sizes_, std::max<hsize_t>(1, chunk_bytes / record));
        labels_ = create(file, group + "/labels", {0}, labels_of_a_chunk);
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
    hdf5::DataSet create(const hdf5::File& file, const std::string& name, std::vector<hsize_t> sizes,
                         hsize_t rows_of_a_chunk) const
    {
        std::vector<hsize_t> most = sizes;
        most[0] = H5S_UNLIMITED;
        const hdf5::Space space{H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), most.data())};
        sizes[0] = rows_of_a_chunk;
        const hdf5::Properties properties{H5Pcreate(H5P_DATASET_CREATE)};
        H5Pset_chunk(properties.get(), static_cast<int>(sizes.size()), sizes.data());
        H5Pset_fletcher32(properties.get());
        return hdf5::DataSet{check(
            H5Dcreate2(file.get(), name.c_str(), H5T_STD_U8LE, space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
            "write ", path_.string())};
    }

    void append(const hdf5::DataSet& set, std::vector<hsize_t> sizes, const std::vector<std::uint8_t>& bytes) const
    {
        std::vector<hsize_t> begin(sizes.size());
        begin[0] = written_;
        sizes[0] = written_ + waiting_records_;
        check(H5Dset_extent(set.get(), sizes.data()), "write ", path_.string());
        sizes[0] = waiting_records_;
        const hdf5::Space in_file{H5Dget_space(set.get())};
        H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, begin.data(), nullptr, sizes.data(), nullptr);
        const hdf5::Space in_memory{H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr)};
        check(H5Dwrite(set.get(), H5T_NATIVE_UINT8, in_memory.get(), in_file.get(), H5P_DEFAULT, bytes.data()),
              "write ", path_.string());
    }

    SampleShape shape_;
    fs::path path_;
    std::vector<hsize_t> sizes_;  // the first dimension grows
    hdf5::DataSet data_;
    hdf5::DataSet labels_;
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
        const hdf5::Lock lock;
        file_ = hdf5::File{check(H5Fcreate(unfinished_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), "create ",
                                 unfinished_.string())};
        hdf5::keep_shape(file_, shape);
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
        const hdf5::Lock lock;
        (part == Part::train ? train_ : held_out_)->write(record);
    }

    void finish() override
    {
        {
            const hdf5::Lock lock;
            train_->flush();
            held_out_->flush();
            check(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL), "write ", path_.string());
        }
        close();
        fs::rename(unfinished_, path_);
    }

 private:
    void close()
    {
        const hdf5::Lock lock;
        train_.reset();
        held_out_.reset();
        file_ = {};
    }

    fs::path path_;
    fs::path unfinished_;
    hdf5::File file_;
    std::optional<Hdf5Part> train_;
    std::optional<Hdf5Part> held_out_;
};

}  // namespace

std::unique_ptr<DataSetWriter> hdf5_writer(const fs::path& path, const SampleShape& shape)
{
    return std::make_unique<Hdf5Writer>(path, shape);
}

}  // namespace ddl

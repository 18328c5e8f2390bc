// SPDX-License-Identifier: Apache-2.0
// The format `mnist`: images and labels in two IDX files, like MNIST's (http://yann.lecun.com/exdb/mnist). Grey images
// have 3 dimensions (count, height, width); coloured images have 4 (count, channels, height, width).
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/formats/two_files_writer.hpp"
#include "ddl-workloads/data/input_file.hpp"
#include "ddl-workloads/data/output_file.hpp"
#include "ddl-workloads/data/record_file.hpp"
#include "ddl-workloads/data/views.hpp"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <array>

namespace ddl {

namespace {

namespace fs = std::filesystem;

constexpr std::uint8_t unsigned_bytes = 8;  // IDX's type code
constexpr std::int64_t largest = 1'000'000'000;

struct IdxHeader {
    std::vector<std::int64_t> sizes;  // size of each dimension
    std::int64_t bytes() const { return 4 + 4 * std::ssize(sizes); }
};

IdxHeader read_header(const InputFile& file)
{
    const std::string name = file.path().string();
    std::array<std::uint8_t, 4> magic{};
    if (file.read(0, magic) < magic.size() || magic[0] != 0 || magic[1] != 0 || magic[2] != unsigned_bytes ||
        magic[3] < 1 || magic[3] > 4)
        base::fail(name, " is not an IDX file of bytes: it does not begin with 0 0 8 and a number of dimensions 1 to 4",
                   magic[0] == 0x1f && magic[1] == 0x8b ? " (it is compressed: gunzip it)" : "");
    std::vector<std::uint8_t> numbers(std::size_t{4} * magic[3]);
    file.read_whole(4, numbers, "the header");
    IdxHeader header;
    for (std::size_t at = 0; at < numbers.size(); at += 4) {
        const std::int64_t size = boost::endian::load_big_u32(numbers.data() + at);
        if (size == 0) base::fail(name, ", byte ", 4 + at, ": a dimension of size 0");
        header.sizes.push_back(size);
    }
    return header;
}

std::vector<std::uint8_t> header_of(const std::vector<std::int64_t>& sizes)
{
    std::vector<std::uint8_t> header{0, 0, unsigned_bytes, static_cast<std::uint8_t>(sizes.size())};
    for (const std::int64_t size : sizes)
        for (int shift = 24; shift >= 0; shift -= 8) header.push_back(static_cast<std::uint8_t>(size >> shift));
    return header;
}

SampleShape shape_in(const IdxHeader& header, std::int64_t classes, const fs::path& path)
{
    const std::size_t dimensions = header.sizes.size();
    if (dimensions != 3 && dimensions != 4)
        base::fail(path.string(), " holds no images: it has ", dimensions, " dimensions instead of 3 or 4");
    const SampleShape shape{.channels = dimensions == 4 ? header.sizes[1] : 1,
                            .height = header.sizes[dimensions - 2],
                            .width = header.sizes[dimensions - 1],
                            .classes = classes};
    if (shape.channels > largest / shape.height / shape.width)
        base::fail(path.string(), ": images of ", shape.channels, "x", shape.height, "x", shape.width,
                   " are not images");
    return checked(shape);
}

class IdxRecords : public Records {
 public:
    IdxRecords(const fs::path& images, const fs::path& labels, const SampleShape& shape, const Reading& reading)
        : Records{shape}, images_{images, reading.access}, labels_path_{labels}
    {
        const IdxHeader header = read_header(images_);
        images_begin_ = header.bytes();
        if (shape_in(header, shape.classes, images) != shape)
            base::fail(images.string(), ": image size differs from that of the training part");
        set_records(header.sizes[0]);
        const std::int64_t there = (images_.bytes() - images_begin_) / shape.pixels();
        if (there < records())
            keep(there, base::join(images.string(), " is cut off: its header says ", header.sizes[0],
                                   " images, but it ends at byte ", images_.bytes(), " inside image ", there));
        check_end(images_, images_begin_ + header.sizes[0] * shape.pixels());
        const InputFile file{labels};
        const IdxHeader label_header = read_header(file);
        labels_begin_ = label_header.bytes();
        if (label_header.sizes.size() != 1)
            base::fail(labels.string(), " holds no labels: it has ", label_header.sizes.size(), " dimensions");
        const std::int64_t labels_said = label_header.sizes[0];
        const std::int64_t labels_there = file.bytes() - labels_begin_;
        if (labels_said != header.sizes[0])
            keep(labels_said,
                 base::join(labels.string(), " has ", labels_said, " labels for ", header.sizes[0], " images"));
        if (labels_there < labels_said)
            keep(labels_there, base::join(labels.string(), " is cut off: its header says ", labels_said,
                                          " labels, but it ends at byte ", file.bytes()));
        check_end(file, labels_begin_ + labels_said);
        if (records() < 1 || (!reading.skip_corrupt && !faults_.empty()))
            base::fail(faults_.empty() ? images.string() + " has no image" : faults_.front());
        labels_.resize(static_cast<std::size_t>(records()));
        file.read_whole(labels_begin_, labels_, "the labels");
    }

    std::vector<std::string> faults() const override { return faults_; }
    bool past_page_cache() const override { return images_.past_page_cache(); }

 private:
    void check_end(const InputFile& file, std::int64_t end)
    {
        if (file.bytes() > end)
            keep(records(), base::join(file.path().string(), " should end at byte ", end, " by its header, but has ",
                                       file.bytes(), " bytes"));
    }
    // Keeps the first `most` records in spite of a fault.
    void keep(std::int64_t most, std::string fault)
    {
        set_records(std::min(records(), most));
        faults_.push_back(std::move(fault));
    }
    void fetch(std::int64_t number, std::span<std::uint8_t> record) const override
    {
        record[0] = labels_[static_cast<std::size_t>(number)];
        images_.read_whole(images_begin_ + number * shape().pixels(), record.subspan(1),
                           "image " + std::to_string(number));
    }
    std::string place(std::int64_t number) const override
    {
        return base::join(labels_path_.string(), ", byte ", labels_begin_ + number);
    }

    InputFile images_;
    fs::path labels_path_;
    std::vector<std::uint8_t> labels_;  // one byte for each record
    std::int64_t images_begin_ = 0;
    std::int64_t labels_begin_ = 0;
    std::vector<std::string> faults_;
};

struct Pair {
    fs::path images;
    fs::path labels;
};

Pair pair_of(const fs::path& images)
{
    std::string name = images.filename().string();
    const auto replace = [&](std::string_view old, std::string_view now) {
        const std::size_t at = name.find(old);
        if (at != std::string::npos) name.replace(at, old.size(), now);
    };
    replace("images", "labels");
    replace("idx3", "idx1");
    replace("idx4", "idx1");
    if (name == images.filename())
        base::fail(images.string(), ": not the name of an images file, such as train-images-idx3-ubyte");
    return {images, images.parent_path() / name};
}

// The pair of files to which a file belongs, for any part.
Pair find_pair(const fs::path& path, Part part)
{
    if (!fs::is_directory(path)) return pair_of(path);
    const std::string prefix = part == Part::train ? "train" : "t10k";
    for (const char* middle : {"-images-idx3-ubyte", "-images.idx3-ubyte", "-images-idx4-ubyte"})
        if (fs::exists(path / (prefix + middle))) return pair_of(path / (prefix + middle));
    base::fail(path.string(), " is not an MNIST folder: it has no ", prefix, "-images-idx3-ubyte",
               fs::exists(path / (prefix + "-images-idx3-ubyte.gz")) ? " (only a compressed one: gunzip it)" : "");
}

fs::path mnist_path(const base::Settings& settings)
{
    if (settings.text("path").empty()) base::fail_usage("mnist: give path=DIR or path=FILE");
    return settings.text("path");
}

SampleShape mnist_shape(const base::Settings& settings)
{
    const Pair pair = find_pair(mnist_path(settings), Part::train);
    return shape_in(read_header(InputFile{pair.images}), settings.get<std::int64_t>("classes"), pair.images);
}

// Writes one pair of files. The number of samples is written at the end, when it is known.
class IdxWriter {
 public:
    IdxWriter(const fs::path& prefix, const SampleShape& shape)
        : shape_{shape},
          images_{prefix.string() + (shape.channels == 1 ? "-images-idx3-ubyte" : "-images-idx4-ubyte")},
          labels_{prefix.string() + "-labels-idx1-ubyte"}
    {
        images_.write(header_of(image_sizes()));
        labels_.write(header_of({0}));
    }
    void write(std::span<const std::uint8_t> record)
    {
        check_record(shape_, record, images_.path());
        labels_.write(record.first(1));
        images_.write(record.subspan(1));
        ++records_;
    }
    void finish()
    {
        if (records_ > UINT32_MAX) base::fail(images_.path().string(), ": IDX cannot count beyond ", UINT32_MAX);
        images_.finish(header_of(image_sizes()));
        labels_.finish(header_of({records_}));
    }

 private:
    std::vector<std::int64_t> image_sizes() const
    {
        if (shape_.channels == 1) return {records_, shape_.height, shape_.width};
        return {records_, shape_.channels, shape_.height, shape_.width};
    }

    SampleShape shape_;
    std::int64_t records_ = 0;
    OutputFile images_;
    OutputFile labels_;
};

}  // namespace

extern const DataSetCard mnist_data{
    .name = "mnist",
    .summary = "images in MNIST's IDX format: its folder, or one images file of which every fifth image is held out",
    .options = {{"path", "", "the folder (train-images-idx3-ubyte etc., uncompressed), or an images file"},
                {"classes", "10", "1 to 256"}},
    .shape = mnist_shape,
    .open = [](const base::Settings& settings, Part part, const Reading& reading) -> std::unique_ptr<Records> {
        const fs::path path = mnist_path(settings);
        const Pair pair = find_pair(path, part);
        auto records = std::make_unique<IdxRecords>(pair.images, pair.labels, mnist_shape(settings), reading);
        if (fs::is_directory(path)) return records;
        return fifths(std::move(records), part);
    },
    .create = [](const fs::path& path, const SampleShape& shape) -> std::unique_ptr<DataSetWriter> {
        if (shape.kind != SampleShape::Kind::image) base::fail_usage("mnist stores images only");
        fs::create_directories(path);
        return std::make_unique<TwoFilesWriter<IdxWriter>>(path / "train", path / "t10k", shape);
    },
};

}  // namespace ddl

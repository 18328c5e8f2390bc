// SPDX-License-Identifier: Apache-2.0
// Data sets by name: either generated into two record files ("digits", "synthetic[samples=4096]"), or existing files
// that are read in place ("cifar10[path=DIR]"). Each has a training part and a held-out part.
#pragma once

#include "base/cli/cards.hpp"
#include "ddl-workloads/data/records.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ddl {

enum class Part { train, held_out };

// If a data set is not divided into parts, every fifth sample is held out.
constexpr int held_out_every = 5;

// A plug-in that generates samples, identified by number. Equal settings give equal samples on every machine.
class SampleSource {
 public:
    virtual ~SampleSource() = default;
    virtual std::int64_t samples() const = 0;
    // Writes the sample into `record`, in the layout of a record file.
    virtual void sample(std::int64_t number, std::span<std::uint8_t> record) const = 0;
};

// Writes a plug-in's format. No file appears before finish().
class DataSetWriter {
 public:
    virtual ~DataSetWriter() = default;
    // Throws Error for an invalid record, std::system_error (a full disk, for example).
    virtual void write(Part part, std::span<const std::uint8_t> record) = 0;
    virtual void finish() = 0;
};

struct DataSetCard {
    std::string name;
    std::string summary;
    std::vector<base::OptionCard> options;
    SampleShape (*shape)(const base::Settings& settings);  // for existing data sets: as described by the files' headers
    // Exactly one of the next two is set: `make` to generate samples, or `open` to read a part of an existing data set.
    std::unique_ptr<SampleSource> (*make)(const base::Settings& settings) = nullptr;
    std::unique_ptr<Records> (*open)(const base::Settings& settings, Part part, const Reading& reading) = nullptr;
    // Null if the format cannot be written.
    std::unique_ptr<DataSetWriter> (*create)(const std::filesystem::path& path, const SampleShape& shape) = nullptr;
};

const base::Registry<DataSetCard>& data_sets();

// Description of a data set, which every rank has before anything is written.
struct DataSet {
    std::string text;  // the name as given by the user
    SampleShape shape;
    std::filesystem::path train;     // record file of a generated data set, otherwise empty
    std::filesystem::path held_out;  // the same for the held-out part
};

// Writes nothing; for an existing data set, reads the headers. Throws UsageError for an unknown name or option, and
// errors of reading.
DataSet data_set(const std::string& text, const std::filesystem::path& folder);

// Writes both files of a generated data set, each complete by rename, and creates the folder. One rank writes while the
// others wait at a barrier. Throws Unavailable if the samples are not on this machine, UsageError for invalid options.
void write_data_set(const DataSet& set);

// Opens one part of the data set. Call after write_data_set().
std::unique_ptr<Records> open_part(const DataSet& set, Part part, const Reading& reading = {});

// Passes every sample to `take`, in order. In a generated data set every fifth sample of each class is held out (every
// fifth sample, for texts), independently of the seed.
void for_each_sample(const std::string& text, const std::function<void(Part, std::span<const std::uint8_t>)>& take);

// Number of samples, including held-out ones.
std::int64_t samples_in(const std::string& text);

}  // namespace ddl

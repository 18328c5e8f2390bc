// SPDX-License-Identifier: Apache-2.0
// Data sets by name: made anew into two record files ("digits", "synthetic[samples=4096]"), or there already and read
// where they lie ("cifar10[path=DIR]"). Each has a part to train on and one held out.
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

// Where a data set has no parts of its own, every fifth sample is held out.
constexpr int held_out_every = 5;

// Source of samples that a plug-in generates: records by number. The same settings give the same ones everywhere.
class SampleSource {
 public:
    virtual ~SampleSource() = default;
    virtual std::int64_t samples() const = 0;
    // Writes the sample into `record`, in the form of a record file.
    virtual void sample(std::int64_t number, std::span<std::uint8_t> record) const = 0;
};

// Writer of a plug-in's format. No file is there before finish().
class DataSetWriter {
 public:
    virtual ~DataSetWriter() = default;
    // Throws Error for a record that cannot be, std::system_error (a full disk).
    virtual void write(Part part, std::span<const std::uint8_t> record) = 0;
    virtual void finish() = 0;
};

struct DataSetCard {
    std::string name;
    std::string summary;
    std::vector<base::OptionCard> options;
    SampleShape (*shape)(const base::Settings& settings);  // of one that is there: as its headers say
    // One of these: how samples are made, or how a part that is there is read.
    std::unique_ptr<SampleSource> (*make)(const base::Settings& settings) = nullptr;
    std::unique_ptr<Records> (*open)(const base::Settings& settings, Part part, const Reading& reading) = nullptr;
    // Null for a format that nothing can be converted into.
    std::unique_ptr<DataSetWriter> (*create)(const std::filesystem::path& path, const SampleShape& shape) = nullptr;
};

const base::Registry<DataSetCard>& data_sets();

// Description of a data set, known to every rank before anything is written.
struct DataSet {
    std::string text;  // as the user named it
    SampleShape shape;
    std::filesystem::path train;     // record files of a generated data set, else empty
    std::filesystem::path held_out;  // never trained on
};

// Writes nothing; of a data set that is there it reads the headers. Throws UsageError for an unknown name or option,
// and what reading throws.
DataSet data_set(const std::string& text, const std::filesystem::path& folder);

// Writes both files of a generated data set (creating the folder), each complete by rename: one rank writes,
// the others wait for it at a barrier. Throws Unavailable if the samples are not on this machine, UsageError for
// options that make no sense.
void write_data_set(const DataSet& set);

// One part of it, after write_data_set().
std::unique_ptr<Records> open_part(const DataSet& set, Part part, const Reading& reading = {});

// Hands over every sample in turn, of a data set made anew as it is made: every fifth sample of each class is held out,
// of text every fifth, whatever the seed.
void for_each_sample(const std::string& text, const std::function<void(Part, std::span<const std::uint8_t>)>& take);

// How many samples that will be, held-out ones included.
std::int64_t samples_in(const std::string& text);

}  // namespace ddl

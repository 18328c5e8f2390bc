// Data sets by name ("digits", "synthetic[samples=4096]") and their two files on disk: one to train on, one held out.
#pragma once

#include "base/cards.hpp"
#include "ddl-workloads/data/record_file.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ddl {

// What a plug-in supplies: labelled images by number. The same settings give the same images everywhere.
class ImageSource {
 public:
    virtual ~ImageSource() = default;
    virtual std::int64_t images() const = 0;
    // Label and pixels, as in a record file, into `record`.
    virtual void image(std::int64_t number, std::span<std::uint8_t> record) const = 0;
};

struct DataSetCard {
    std::string name;
    std::string summary;
    std::vector<base::OptionCard> options;
    SampleShape (*shape)(const base::Settings& settings);
    std::unique_ptr<ImageSource> (*make)(const base::Settings& settings);
};

const base::Shelf<DataSetCard>& data_sets();

// A data set in a folder: what every rank knows before it is written.
struct DataSet {
    std::string text;  // as the user named it
    SampleShape shape;
    std::filesystem::path train;     // record files
    std::filesystem::path held_out;  // never trained on
};

// Reads and writes nothing. Throws UsageError for an unknown name or option.
DataSet data_set(const std::string& text, const std::filesystem::path& folder);

// Writes both files (creating the folder), each complete by rename: one rank writes, the others wait for it at a
// barrier. Every fifth image of each class is held out, whatever the seed. Throws Unavailable if the images are not on
// this machine, UsageError for options that make no sense.
void write_data_set(const DataSet& set);

}  // namespace ddl

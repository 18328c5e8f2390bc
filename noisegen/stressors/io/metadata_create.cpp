// SPDX-License-Identifier: Apache-2.0
// Creates empty files: contends for the file system's journal, its directory locks and its metadata servers.
//
// One directory is filled after another. While one is filled, the previous one is emptied, one file for each file that
// is created: from the second directory on there is an unlink for every create. Unlinks are not counted.
#include "base/error.hpp"
#include "noisegen/stressors/io/many_files.hpp"

#include <unistd.h>

namespace noisegen {

namespace {

class MetadataCreate final : public Stressor {
 public:
    MetadataCreate(const MetadataOptions& options, const Place& place)
        : options_{options},
          names_{options.files},
          own_{SharedScratch::of(place).descriptor(), base::join("cpu", place.cpu)},
          filled_{next_folder()}
    {
    }

    void begin(const Turn& turn) override { batch_.begin(turn); }

    Work step() override
    {
        return {.bytes = 0, .operations = batch_.repeat([this] { create(); })};
    }

    std::string note() const override
    {
        return base::join("directories of ", options_.files, " files, ", folders_, " begun, ",
                          scratch_note(options_.directory));
    }

 private:
    void create()
    {
        make_file(filled_->descriptor(), names_[at_], options_.directory);
        if (emptied_) ::unlinkat(emptied_->descriptor(), names_[at_], 0);
        if (++at_ < names_.size()) return;
        at_ = 0;
        emptied_ = std::move(filled_);
        filled_ = next_folder();
    }

    std::unique_ptr<Folder> next_folder()
    {
        return std::make_unique<Folder>(own_.descriptor(), base::join("files", folders_++));
    }

    MetadataOptions options_;
    FileNames names_;
    Batch batch_;
    std::size_t folders_ = 0;
    Folder own_;
    std::unique_ptr<Folder> filled_;
    std::unique_ptr<Folder> emptied_;
    std::size_t at_ = 0;
};

}  // namespace

extern const StressorCard metadata_create{
    .name = "metadata.create",
    .summary =
        "creates empty files, directory by directory; an operation is open with O_CREAT and close; emptying the "
        "previous directory is not counted",
    .options = metadata_options("files per directory"),
    .counts_operations = true,
    .needs = [](const base::Settings& settings) { return read_metadata_options("metadata.create", settings).needs(2); },
    .share = SharedScratch::make,
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return std::make_unique<MetadataCreate>(read_metadata_options("metadata.create", settings), place);
    },
};

}  // namespace noisegen

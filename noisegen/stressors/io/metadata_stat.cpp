// SPDX-License-Identifier: Apache-2.0
// Looks up files by name repeatedly: contends for the directory cache, or for the metadata servers of a network file
// system.
#include "base/error.hpp"
#include "base/system/stop.hpp"
#include "noisegen/stressors/io/many_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace noisegen {

namespace {

class MetadataStat final : public Stressor {
 public:
    MetadataStat(const MetadataOptions& options, const Place& place)
        : options_{options},
          names_{options.files},
          own_{SharedScratch::of(place).descriptor(), base::join("cpu", place.cpu)}
    {
        for (std::size_t i = 0; i < names_.size() && !base::stop_requested(); ++i)
            make_file(own_.descriptor(), names_[i], options_.directory);
    }

    void begin(const Turn& turn) override { batch_.begin(turn); }

    Work step() override
    {
        if (base::stop_requested()) return {};  // after a stop some files may be missing
        return {.bytes = 0, .operations = batch_.repeat([this] { look(); })};
    }

    std::string note() const override
    {
        return base::join(options_.files, " files ", scratch_note(options_.directory));
    }

 private:
    void look()
    {
        struct stat status {};
        base::check_errno(::fstatat(own_.descriptor(), names_[at_], &status, AT_SYMLINK_NOFOLLOW), "stat a file in ",
                          options_.directory.native());
        at_ = at_ + 1 == names_.size() ? 0 : at_ + 1;
    }

    MetadataOptions options_;
    FileNames names_;
    Batch batch_;
    Folder own_;
    std::size_t at_ = 0;
};

}  // namespace

extern const StressorCard metadata_stat{
    .name = "metadata.stat",
    .summary = "looks up files of a directory by name; an operation is one fstatat",
    .options = metadata_options("files looked up in turn"),
    .counts_operations = true,
    .needs = [](const base::Settings& settings) { return read_metadata_options("metadata.stat", settings).needs(1); },
    .share = SharedScratch::make,
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return std::make_unique<MetadataStat>(read_metadata_options("metadata.stat", settings), place);
    },
};

}  // namespace noisegen

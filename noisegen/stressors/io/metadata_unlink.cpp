// SPDX-License-Identifier: Apache-2.0
// Removes names from a directory: contends for the file system's journal, its directory locks and its metadata servers.
//
// Files must be made before they are removed, and making a file costs several times as much as removing it. So the
// names are links to one file: making a link costs about as much as removing it, and each step restores the names that
// it removed, uncounted. The file itself remains, so the freeing of inodes is not stressed. If the file system has no
// links, files are created instead.
#include "base/error.hpp"
#include "base/system/stop.hpp"
#include "noisegen/stressors/io/many_files.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace noisegen {

namespace {

constexpr const char* linked = "file";

class MetadataUnlink final : public Stressor {
 public:
    MetadataUnlink(const MetadataOptions& options, const Place& place)
        : options_{options},
          names_{options.files},
          own_{SharedScratch::of(place).descriptor(), base::join("cpu", place.cpu)},
          folder_{own_.descriptor(), "names"}
    {
        make_file(own_.descriptor(), linked, options_.directory);
        for (std::size_t i = 0; i < names_.size() && !base::stop_requested(); ++i) put(names_[i]);
    }

    void begin(const Turn& turn) override { batch_.begin(turn); }

    Work step() override
    {
        if (base::stop_requested()) return {};  // after a stop some names may be missing
        const std::size_t first = at_;
        const std::size_t removed = batch_.repeat([this] { remove_one(); }, names_.size());
        for (std::size_t i = 0; i < removed; ++i) put(names_[(first + i) % names_.size()]);
        return {.bytes = 0, .operations = removed};
    }

    std::string note() const override
    {
        return base::join(options_.files, links_ ? " links to a file " : " files, made again, ",
                          scratch_note(options_.directory));
    }

 private:
    void remove_one()
    {
        base::check_errno(::unlinkat(folder_.descriptor(), names_[at_], 0), "remove a file in ",
                          options_.directory.native());
        at_ = at_ + 1 == names_.size() ? 0 : at_ + 1;
    }

    void put(const char* name)
    {
        if (links_ && ::linkat(own_.descriptor(), linked, folder_.descriptor(), name, 0) == 0) return;
        if (links_ && errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK)
            base::check_errno(-1, "link a file in ", options_.directory.native());
        links_ = false;
        make_file(folder_.descriptor(), name, options_.directory);
    }

    MetadataOptions options_;
    FileNames names_;
    Batch batch_;
    Folder own_;
    Folder folder_;
    bool links_ = true;
    std::size_t at_ = 0;
};

}  // namespace

extern const StressorCard metadata_unlink{
    .name = "metadata.unlink",
    .summary =
        "removes hard links from a directory; an operation is one unlinkat; re-creating the links is not counted",
    .options = metadata_options("links removed in turn"),
    .counts_operations = true,
    .needs = [](const base::Settings& settings) { return read_metadata_options("metadata.unlink", settings).needs(1); },
    .share = SharedScratch::make,
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return std::make_unique<MetadataUnlink>(read_metadata_options("metadata.unlink", settings), place);
    },
};

}  // namespace noisegen

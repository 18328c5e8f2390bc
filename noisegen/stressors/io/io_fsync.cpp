// SPDX-License-Identifier: Apache-2.0
// Appends to a file through the page cache, then fsync, then starts again with an empty file: contends for the file
// system's journal, in which all writes wait together, and for the disk's own cache, which each fsync flushes.
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "noisegen/stressors/io/many_files.hpp"
#include "noisegen/stressors/io/scratch_file.hpp"
#include "noisegen/stressors/pages.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <algorithm>

#include <unistd.h>

namespace noisegen {

namespace {

constexpr std::int64_t page_of_disk = 4096;
constexpr std::int64_t most_at_once = 256 << 10;  // takes some tenths of a millisecond

struct FsyncOptions {
    std::filesystem::path directory;
    std::int64_t dirty = 0;
};

FsyncOptions fsync_options(const base::Settings& settings)
{
    const std::int64_t dirty = settings.get<base::Bytes>("dirty").count;
    constexpr std::int64_t most = std::int64_t{1} << 30;
    if (dirty < page_of_disk || dirty > most || dirty % page_of_disk != 0)
        base::fail_usage("io.fsync[dirty] must be a multiple of 4KiB up to 1GiB, not ", settings.text("dirty"));
    return {.directory = settings.text("directory"), .dirty = dirty};
}

class IoFsync final : public Stressor {
 public:
    explicit IoFsync(const FsyncOptions& options)
        : options_{options}, file_{options.directory, options.dirty}, content_{most_at_once}
    {
        content_.fill('x');
        empty();
    }

    void begin(const Turn& turn) override { deadline_ns_ = turn.deadline_ns; }

    // Writes a part of the dirty data, or calls fsync. An fsync that would not end within the turn is not begun.
    Work step() override
    {
        if (written_ < options_.dirty) {
            const std::int64_t bytes = std::min(most_at_once, options_.dirty - written_);
            const ssize_t written = base::check_errno(
                ::pwrite(file_.descriptor(), content_.data(), static_cast<std::size_t>(bytes), written_),
                "write to a file in ", options_.directory.string());
            written_ += written;
            return {.bytes = static_cast<std::uint64_t>(written), .operations = 0};
        }
        const std::int64_t began_ns = base::now_ns();
        if (deadline_ns_ > 0 && began_ns + took_ns_ > deadline_ns_)
            return {.bytes = 0, .operations = 0, .rest_until_ns = deadline_ns_};
        base::check_errno(::fsync(file_.descriptor()), "write a file in ", options_.directory.string(), " to disk");
        took_ns_ = base::now_ns() - began_ns;
        longest_ns_ = std::max(longest_ns_, took_ns_);
        empty();
        return {.bytes = 0, .operations = 1};
    }

    std::string note() const override
    {
        return base::join("fsync after ", base::format(base::Bytes{options_.dirty}), ", the longest ",
                          base::format(base::Nanoseconds{longest_ns_ / 1000 * 1000}), ", ",
                          scratch_note(options_.directory));
    }

 private:
    // Frees the file's blocks; the file system must allocate and record others for the next writes.
    void empty()
    {
        base::check_errno(::ftruncate(file_.descriptor(), 0), "empty a file in ", options_.directory.string());
        written_ = 0;
    }

    FsyncOptions options_;
    ScratchFile file_;
    Pages content_;
    std::int64_t written_ = 0;
    std::int64_t deadline_ns_ = 0;
    std::int64_t took_ns_ = 0;  // duration of the last fsync
    std::int64_t longest_ns_ = 0;
};

}  // namespace

extern const StressorCard io_fsync{
    .name = "io.fsync",
    .summary =
        "repeatedly appends to a file and calls fsync, which other fsync on that file system wait for; an operation "
        "is one fsync",
    .options = with_intensity(
        "20/s or 200MiB/s",
        {{"directory", "/tmp", "directory on the file system to stress, not in memory"},
         {"dirty", "32MiB", "bytes written before each fsync; few: most fsync per second, many: longest fsync"}}),
    .counts_bytes = true,
    .counts_operations = true,
    .needs = [](const base::Settings& settings) -> Needs {
        const FsyncOptions options = fsync_options(settings);
        return {.memory = {most_at_once},
                .disk = {options.dirty},
                .directory = options.directory,
                .files = 1,
                .descriptors = 2};
    },
    .make = [](const base::Settings& settings, const Place&) -> std::unique_ptr<Stressor> {
        return std::make_unique<IoFsync>(fsync_options(settings));
    },
};

}  // namespace noisegen

// SPDX-License-Identifier: Apache-2.0
// I/O of an image loader: opens, stats, reads and closes small files in random order, each once per epoch.
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "base/system/stop.hpp"
#include "noisegen/stressors/io/many_files.hpp"
#include "noisegen/stressors/pages.hpp"

#include <numeric>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace noisegen {

namespace {

struct SmallFilesOptions {
    std::filesystem::path directory;
    std::size_t files = 0;
    std::int64_t size = 0;  // mean size
    bool cached = false;

    std::int64_t largest() const { return size + size / 2; }
};

SmallFilesOptions small_files_options(const base::Settings& settings)
{
    SmallFilesOptions options{.directory = settings.text("directory"),
                              .files = read_files("io.smallfiles", settings),
                              .size = settings.get<base::Bytes>("size").count,
                              .cached = settings.get<bool>("cached")};
    if (options.size < 1 || options.size > (64 << 20))
        base::fail_usage("io.smallfiles[size] must be 1B to 64MiB, not ", settings.text("size"));
    return options;
}

base::Descriptor open_file(int directory, const char* name, int flags)
{
    return base::check_errno(::openat(directory, name, flags | O_NOFOLLOW | O_CLOEXEC, 0600), "open a scratch file");
}

class IoSmallFiles final : public Stressor {
 public:
    IoSmallFiles(const SmallFilesOptions& options, const Place& place)
        : options_{options},
          random_{base::random_stream(static_cast<std::uint64_t>(place.job.rank), place.index)},
          names_{options.files},
          order_(options.files),
          buffer_{static_cast<std::size_t>(options.largest())},
          own_{SharedScratch::of(place).descriptor(), base::join("cpu", place.cpu)}
    {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        make_files();
        bring_to_disk();
    }

    void begin(const Turn& turn) override { batch_.begin(turn, static_cast<double>(options_.size)); }

    Work step() override
    {
        if (base::stop_requested()) return {};  // after a stop some files may be missing
        Work work;
        work.operations = batch_.repeat([&] { work.bytes += read_next(); });
        return work;
    }

    std::string note() const override
    {
        return base::join(options_.files, " files of ", base::format(base::Bytes{options_.size}), " on average, ",
                          options_.cached ? "left in" : "dropped from", " the page cache, ",
                          scratch_note(options_.directory));
    }

 private:
    // Sizes are from half to one and a half times the mean.
    void make_files()
    {
        auto* words = static_cast<std::uint64_t*>(buffer_.data());
        for (std::size_t i = 0; i < buffer_.size() / sizeof(std::uint64_t); ++i) words[i] = random_();
        for (std::size_t i = 0; i < names_.size() && !base::stop_requested(); ++i) {
            const auto size = static_cast<std::size_t>(options_.size - options_.size / 2) +
                              base::draw_below(random_, static_cast<std::uint64_t>(options_.size / 2 * 2 + 1));
            const base::Descriptor file = open_file(own_.descriptor(), names_[i], O_WRONLY | O_CREAT | O_EXCL);
            for (std::size_t at = 0; at < size;)
                at += static_cast<std::size_t>(base::check_errno(
                    ::write(file, static_cast<const char*>(buffer_.data()) + at, size - at), "write a scratch file"));
            ::sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE);  // starts the write-back without waiting
            ++made_;
        }
    }

    // Flushes the files, since only clean pages can be dropped from the page cache.
    void bring_to_disk()
    {
        for (std::size_t i = 0; i < made_ && !options_.cached && !base::stop_requested(); ++i) {
            const base::Descriptor file = open_file(own_.descriptor(), names_[i], O_RDONLY);
            base::check_errno(::fdatasync(file), "write a scratch file to disk");
            drop(file);
        }
    }

    static void drop(int file) { ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED); }

    std::uint64_t read_next()
    {
        if (at_ == 0) base::shuffle(random_, std::span{order_});
        const base::Descriptor file = open_file(own_.descriptor(), names_[order_[at_]], O_RDONLY);
        at_ = at_ + 1 == order_.size() ? 0 : at_ + 1;
        struct stat status {};
        base::check_errno(::fstat(file, &status), "stat a scratch file");
        std::uint64_t bytes = 0;
        while (bytes < static_cast<std::uint64_t>(status.st_size)) {
            const ssize_t count =
                base::check_errno(::read(file, buffer_.data(), buffer_.size()), "read a scratch file");
            if (count == 0) base::fail("cannot read a scratch file: it was truncated");
            bytes += static_cast<std::uint64_t>(count);
        }
        if (!options_.cached) drop(file);
        return bytes;
    }

    SmallFilesOptions options_;
    base::Random random_;
    FileNames names_;
    std::vector<std::size_t> order_;
    Batch batch_;
    Pages buffer_;
    Folder own_;
    std::size_t made_ = 0;
    std::size_t at_ = 0;
};

}  // namespace

extern const StressorCard io_smallfiles{
    .name = "io.smallfiles",
    .summary =
        "reads small files in random order, as an image loader does; an operation is open, fstat, read and close",
    .options = with_intensity(
        "500/s or 50MiB/s",
        {{"directory", "/tmp", "directory on the disk to stress, not in memory"},
         {"files", "1000", "per CPU, made beforehand"},
         {"size", "100KiB", "mean size of a file; sizes are 0.5 to 1.5 times this"},
         {"cached", "no", "leave files in the page cache; no: drop them, so that reads go to the disk"}}),
    .counts_bytes = true,
    .counts_operations = true,
    .needs =
        [](const base::Settings& settings) {
            const SmallFilesOptions options = small_files_options(settings);
            constexpr std::int64_t block = 4096;  // the last block of a file may be partly used
            const auto files = static_cast<std::int64_t>(options.files);
            return Needs{.memory = {options.largest()},
                         .disk = {files * (options.largest() + block)},
                         .directory = options.directory,
                         .files = files + 3,
                         .descriptors = 6};
        },
    .share = SharedScratch::make,
    .make = [](const base::Settings& settings, const Place& place) -> std::unique_ptr<Stressor> {
        return std::make_unique<IoSmallFiles>(small_files_options(settings), place);
    },
};

}  // namespace noisegen

// Sequential writes past the page cache, over and over into an unnamed scratch file of bounded size: contends for the
// disk and for the file system's servers.
#include "base/error.hpp"
#include "noisegen/limits.hpp"
#include "noisegen/pages.hpp"
#include "noisegen/scratch_file.hpp"
#include "noisegen/stressor.hpp"
#include "noisegen/write_ring.hpp"

#include <cstring>

namespace noisegen {

namespace {

struct IoOptions {
    std::filesystem::path directory;
    std::int64_t block = 0;
    std::int64_t size = 0;
    unsigned depth = 0;
    bool direct = true;
};

IoOptions io_options(const base::Settings& settings)
{
    constexpr std::int64_t sector = 4096;
    const IoOptions options{settings.text("directory"), settings.get<base::Bytes>("block").count,
                            settings.get<base::Bytes>("size").count,
                            static_cast<unsigned>(settings.get<std::uint64_t>("depth")), settings.get<bool>("direct")};
    if (options.block < sector || options.block % sector != 0 || options.block > (1 << 30))
        base::fail_usage("io.write[block]: a multiple of 4KiB up to 1GiB, not ", settings.text("block"));
    if (options.size < options.block || options.size % options.block != 0)
        base::fail_usage("io.write[size]: a multiple of the block (", base::format(base::Bytes{options.block}),
                         "), not ", settings.text("size"));
    if (settings.get<std::uint64_t>("depth") < 1 || settings.get<std::uint64_t>("depth") > 1024)
        base::fail_usage("io.write[depth]: 1 to 1024, not ", settings.text("depth"));
    return options;
}

class IoWrite final : public Stressor {
 public:
    explicit IoWrite(const IoOptions& options)
        : options_{options},
          file_{options.directory, options.size},
          buffer_{static_cast<std::size_t>(options.block)},
          direct_{options.direct && file_.bypass_cache()},
          in_memory_{in_memory(options.directory)},
          ring_{WriteRing::make(file_.descriptor(), options.depth)}
    {
        // Not zeros, which some file systems do not store.
        auto* bytes = static_cast<std::uint32_t*>(buffer_.data());
        for (std::size_t i = 0; i < buffer_.size() / sizeof(std::uint32_t); ++i)
            bytes[i] = static_cast<std::uint32_t>(i * 2654435761U);
        try_direct();
    }

    Work step() override
    {
        if (!ring_->ready()) return {};
        ring_->write(buffer_.data(), static_cast<std::size_t>(options_.block), at_);
        at_ = (at_ + options_.block) % options_.size;
        return {.bytes = static_cast<std::uint64_t>(options_.block), .operations = 1};
    }

    void end() override { ring_->idle(); }

    std::string note() const override
    {
        return base::join(ring_->name(), direct_ ? " past the page cache" : " through the page cache", ", ",
                          base::format(base::Bytes{options_.block}), " blocks, depth ", options_.depth, ", in ",
                          options_.directory.string(), in_memory_ ? ", which is in memory: no disk is stressed" : "");
    }

 private:
    // Some file systems accept O_DIRECT and refuse the first write. Then nothing bypasses the cache.
    void try_direct()
    {
        if (!direct_) return;
        try {
            WriteRing::make(file_.descriptor(), 1)->write(buffer_.data(), static_cast<std::size_t>(options_.block), 0);
        } catch (const std::system_error&) {
            direct_ = false;
            file_.through_cache();
        }
    }

    IoOptions options_;
    ScratchFile file_;
    Pages buffer_;
    bool direct_;
    bool in_memory_;
    std::unique_ptr<WriteRing> ring_;
    std::int64_t at_ = 0;
};

}  // namespace

extern const StressorCard io_write{
    .name = "io.write",
    .summary = "sequential writes to an unnamed scratch file; an operation is one write",
    .options =
        with_intensity("200MiB/s or 500/s", {{"directory", "/tmp", "on the disk to stress, not in memory"},
                                             {"block", "1MiB", "bytes per write"},
                                             {"depth", "8", "writes in flight (1: pwrite, more: io_uring)"},
                                             {"size", "256MiB", "of the scratch file per CPU, written over and over"},
                                             {"direct", "yes", "past the page cache, if the file system can"}}),
    .counts_bytes = true,
    .counts_operations = true,
    .needs =
        [](const base::Settings& settings) {
            const IoOptions options = io_options(settings);
            return Needs{.memory = {options.block}, .disk = {options.size}, .directory = options.directory};
        },
    .make = [](const base::Settings& settings, const Place&) -> std::unique_ptr<Stressor> {
        return std::make_unique<IoWrite>(io_options(settings));
    },
};

}  // namespace noisegen

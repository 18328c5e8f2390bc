// SPDX-License-Identifier: Apache-2.0
// Common base of stressors that work on many files in a directory: names, a directory shared by the CPUs of the
// process, and steps of about a millisecond.
#pragma once

#include "base/system/clock.hpp"
#include "noisegen/stressors/io/scratch_directory.hpp"
#include "noisegen/stressors/stressor.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

namespace noisegen {

// Made once per process and stressor; each CPU has a folder of its own in it.
struct SharedScratch final : Shared {
    explicit SharedScratch(const std::filesystem::path& directory) : scratch{directory} {}
    static std::unique_ptr<Shared> make(const base::Settings& settings, const Place&)
    {
        return std::make_unique<SharedScratch>(settings.text("directory"));
    }
    static ScratchDirectory& of(const Place& place) { return static_cast<SharedScratch*>(place.shared)->scratch; }

    ScratchDirectory scratch;
};

// Names of equal length, generated in advance.
class FileNames {
 public:
    explicit FileNames(std::size_t count);
    std::size_t size() const { return count_; }
    const char* operator[](std::size_t index) const { return text_.data() + index * stride; }

 private:
    static constexpr std::size_t stride = 9;  // eight digits and the terminating null
    std::size_t count_;
    std::string text_;
};

// Creates an empty file in the open directory; the name must be free. Throws std::system_error that names `place`.
void make_file(int directory, const char* name, const std::filesystem::path& place);

// Repeats an operation for about a millisecond; at a rate, as often as is due in a millisecond.
class Batch {
 public:
    // bytes_each: bytes that one operation moves, for a rate in bytes.
    void begin(const Turn& turn, double bytes_each = 1.0)
    {
        const double per_s = std::max(turn.operations_per_s, turn.bytes_per_s / bytes_each);
        most_ = turn.limited() ? static_cast<std::size_t>(std::clamp(per_s / 1000.0, 1.0, 1e6)) : ~std::size_t{0};
    }

    // Returns the number of repetitions, at most `at_most`.
    template <class Thing>
    std::size_t repeat(Thing&& thing, std::size_t at_most = ~std::size_t{0}) const
    {
        const std::size_t most = std::min(most_, at_most);
        constexpr std::int64_t millisecond_ns = 1'000'000;
        const std::int64_t end_ns = base::now_ns() + millisecond_ns;
        constexpr std::size_t longest_stride = 16;  // reading the clock costs some percent of a fast operation
        std::size_t done = 0;
        do {
            const std::size_t stride = std::clamp(done, std::size_t{1}, longest_stride);
            for (const std::size_t end = std::min(most, done + stride); done < end; ++done) thing();
        } while (done < most && base::now_ns() < end_ns);
        return done;
    }

 private:
    std::size_t most_ = ~std::size_t{0};
};

// The options `files` and `directory` of the metadata stressors.
std::vector<base::OptionCard> metadata_options(const std::string& files_help);

struct MetadataOptions {
    std::filesystem::path directory;
    std::size_t files = 0;

    // Demand of `folders` folders with `files` files each.
    Needs needs(std::int64_t folders) const;
};

// Throws UsageError that names the stressor and the option.
MetadataOptions read_metadata_options(const std::string& stressor, const base::Settings& settings);

// The option `files`; limited, since many files take long to remove at the end. Throws UsageError.
std::size_t read_files(const std::string& stressor, const base::Settings& settings);

// "in /tmp/.noisegen.node1.7.0123456789abcdef", and a note if the directory is in memory.
std::string scratch_note(const std::filesystem::path& directory);

}  // namespace noisegen

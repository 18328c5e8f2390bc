// SPDX-License-Identifier: Apache-2.0
// Metadata stressors: the files that exist after a step, and those that do not.
#include "base/error.hpp"
#include "testing/made_stressor.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace {

namespace fs = std::filesystem;
using testing::Made;
using testing::Scratch;

// A turn with one operation per step.
constexpr noisegen::Turn slow{.deadline_ns = 0, .bytes_per_s = 0.0, .operations_per_s = 1000.0};

// Number of files in the directory tree, without the mark of the scratch directory.
std::int64_t files_below(const fs::path& directory)
{
    return std::count_if(fs::recursive_directory_iterator{directory}, {}, [](const fs::directory_entry& entry) {
        return entry.is_regular_file() && entry.path().filename() != "made-by-noisegen";
    });
}

std::int64_t inodes_below(const fs::path& directory)
{
    return std::distance(fs::recursive_directory_iterator{directory}, {});
}

}  // namespace

TEST_CASE("files are created one by one and a full directory is emptied while the next one fills")
{
    const Scratch scratch;
    {
        const Made made{"metadata.create", {{"directory", scratch.path()}, {"files", "50"}}};
        made.stressor->begin(slow);
        for (int done = 1; done <= 230; ++done) {
            CHECK(made.stressor->step().operations == 1);
            CHECK(files_below(scratch.path()) == std::min(done, 50));
            CHECK(inodes_below(scratch.path()) <= made.needs.files);
        }
        made.stressor->end();
    }
    CHECK(fs::is_empty(scratch.path()));
}

TEST_CASE("files that are looked up are all there and one that is missing is reported")
{
    const Scratch scratch;
    const Made made{"metadata.stat", {{"directory", scratch.path()}, {"files", "7"}}};
    CHECK(files_below(scratch.path()) == 7);
    CHECK(inodes_below(scratch.path()) <= made.needs.files);
    made.stressor->begin({});
    CHECK(made.stressor->step().operations > 0);
    for (const auto& entry : fs::recursive_directory_iterator{scratch.path()})
        if (entry.path().filename() == "00000003") fs::remove(entry.path());
    made.stressor->begin(slow);
    CHECK_THROWS_WITH_AS(
        [&] {
            for (int i = 0; i < 7; ++i) made.stressor->step();
        }(),
        doctest::Contains("cannot stat a file in"), std::system_error);
}

TEST_CASE("names that are removed are put back in the same step")
{
    const Scratch scratch;
    const Made made{"metadata.unlink", {{"directory", scratch.path()}, {"files", "40"}}};
    const auto before = files_below(scratch.path());
    CHECK(before == 41);  // the names, and the file itself
    CHECK(inodes_below(scratch.path()) <= made.needs.files);
    made.stressor->begin({});
    for (int i = 0; i < 5; ++i) {
        const auto removed = made.stressor->step().operations;
        CHECK(removed > 0);
        CHECK(removed <= 40);
        CHECK(files_below(scratch.path()) == before);
    }
    made.stressor->begin(slow);
    CHECK(made.stressor->step().operations == 1);
    CHECK(made.stressor->note().find("40 links to a file in") != std::string::npos);
}

TEST_CASE("wrong options of metadata stressors are refused")
{
    for (const std::string name : {"metadata.create", "metadata.stat", "metadata.unlink"})
        for (const std::string files : {"0", "50001", "-3", "many"}) {
            CAPTURE(name);
            CAPTURE(files);
            const auto& card = noisegen::stressors().find(name);
            const auto settings = noisegen::stressors().settings(card, {{"files", files}});
            CHECK_THROWS_WITH_AS(card.needs(settings), doctest::Contains((name + "[files]").c_str()), base::UsageError);
        }
}

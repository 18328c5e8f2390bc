// SPDX-License-Identifier: Apache-2.0
// The directory of a run: each run has its own, and it may be moved.
#include "crosstalk/run/request/run_directory.hpp"

#include "base/error.hpp"
#include "base/json.hpp"
#include "crosstalk/run/leftover.hpp"
#include "crosstalk/run/request/request_record.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

namespace {

// Changes the working directory until the end of the object.
class Inside {
 public:
    explicit Inside(const fs::path& directory) : before_{fs::current_path()} { fs::current_path(directory); }
    ~Inside() { fs::current_path(before_); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

 private:
    fs::path before_;
};

crosstalk::Request request_for(const fs::path& out)
{
    crosstalk::Request request;
    request.out = request.whole = out;
    return request;
}

}  // namespace

TEST_CASE("runs that look for a free directory at once each have their own and leave none that stays empty")
{
    const testing::Scratch scratch;
    const Inside inside{scratch.path()};
    {
        const crosstalk::FreeDirectory one;
        const crosstalk::FreeDirectory other;
        CHECK(one.path().filename() == "crosstalk-1");
        CHECK(other.path().filename() == "crosstalk-2");
        CHECK(crosstalk::FreeDirectory::seen() == "crosstalk-3");
        std::ofstream{one.path() / "something"} << "kept\n";
    }
    CHECK(fs::exists("crosstalk-1/something"));
    CHECK_FALSE(fs::exists("crosstalk-2"));
}

TEST_CASE("a directory that a run writes into is refused until that has ended")
{
    const testing::Scratch scratch;
    const crosstalk::Request request = request_for(scratch / "run");
    {
        const base::Descriptor lock = crosstalk::claim_directory(request);
        CHECK_THROWS_WITH_AS(crosstalk::claim_directory(request),
                             doctest::Contains("another crosstalk run writes into"), base::UsageError);
    }
    CHECK_NOTHROW(crosstalk::claim_directory(request));  // the directory contains nothing of a run
    fs::create_directory(scratch / "run/train");
    CHECK_THROWS_WITH_AS(crosstalk::claim_directory(request), doctest::Contains("run/train is already there"),
                         base::UsageError);
}

TEST_CASE("a table of steps in a run is named from the run on so that it may be moved")
{
    const testing::Scratch scratch;
    fs::create_directory(scratch / "run");
    const fs::path elsewhere = scratch / "elsewhere.csv";
    const auto steps_of = [&](const fs::path& table) {
        crosstalk::write_request(request_for(scratch / "run"), {"--steps", table.string(), "--warmup", "8s"}, true);
        return base::read_json(scratch / "run/request.json").at("reading");
    };
    CHECK(steps_of(scratch / "run/train/steps.csv")["steps"] == "train/steps.csv");
    CHECK(steps_of(scratch / "run/train/steps.csv")["warmup"] == "8s");
    CHECK(steps_of(elsewhere)["steps"] == "../elsewhere.csv");
}

TEST_CASE("a run without a report repeats that spawned processes are not recorded")
{
    const testing::Scratch scratch;
    const crosstalk::Request request = request_for(scratch.path());
    CHECK(crosstalk::left_out_by_recording(request).empty());
    fs::create_directory(scratch / "log");
    const std::string line =
        "libcrosstalk-mpi: a.out was started by MPI_Comm_spawn: only the spawning processes are recorded";
    std::ofstream{scratch / "log/job.log"} << "step 1\n" << line << "\nstep 2\n";
    CHECK(crosstalk::left_out_by_recording(request) == line);
}

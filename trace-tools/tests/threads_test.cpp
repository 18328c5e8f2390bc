// With one thread and with two the programs write the same bytes.
#include "base/files.hpp"
#include "testing/archives/random_archives.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

std::string written(const fs::path& anchor, const std::string& program, const std::string& threads, const fs::path& out)
{
    fs::create_directory(out.parent_path());
    const testing::Outcome outcome =
        testing::run({CROSSTALK_BIN + std::string{"/"} + program, anchor, "--threads", threads, "-o", out});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    std::string all = outcome.err;
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::directory_iterator{out}) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) all += file.filename().string() + "\n" + base::read_whole(file);
    return all + outcome.out;
}

void check_threads(const fs::path& anchor)
{
    INFO(anchor.string());
    for (const std::string program : {"trace-waits", "trace-path"}) {
        const testing::Scratch scratch;
        const std::string one = written(anchor, program, "1", scratch / "one/found");
        CHECK(one.find("seconds") != std::string::npos);
        CHECK(one == written(anchor, program, "2", scratch / "two/found"));
    }
}

}  // namespace

TEST_CASE("two threads find in random MPI programs and in real archives what one finds")
{
    constexpr int programs = 20;
    const testing::Scratch scratch;
    if (!testing::write_random_archives(scratch / "random", 501, programs)) return;
    for (int seed = 501; seed < 501 + programs; ++seed)
        check_threads(scratch / "random" / std::to_string(seed) / "traces.otf2");
    for (const char* name : {"casita-4_mpi_ls_barr", "pipit-ping-pong-papi"}) {
        const fs::path anchor = fs::path{CROSSTALK_SOURCE} / "../shared/traces" / name / "traces.otf2";
        if (fs::exists(anchor)) check_threads(anchor);
    }
}

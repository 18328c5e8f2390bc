// SPDX-License-Identifier: Apache-2.0
#include "testing/archives/random_archives.hpp"

#include "base/csv.hpp"
#include "base/error.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/ranks.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/replay/mpi_replay.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace testing {

namespace {

namespace fs = std::filesystem;
using Waits = std::map<std::pair<std::string, std::int64_t>, std::int64_t>;  // ns by pattern and rank

struct Truth {
    Waits waits;
    std::optional<std::int64_t> slow;  // rank
};

Truth read_truth(const fs::path& file)
{
    const base::CsvTable table{file};
    Truth truth;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        const auto rank = table.get<std::int64_t>(row, "rank");
        if (table.text(row, "pattern") == "slow")
            truth.slow = rank;
        else
            truth.waits[{table.text(row, "pattern"), rank}] = table.get<std::int64_t>(row, "ns");
    }
    return truth;
}

// Returns the sum of the waits for another rank.
std::int64_t waiting_ns(const Waits& waits)
{
    std::int64_t sum_ns = 0;
    for (const auto& [key, ns] : waits)
        if (!key.first.ends_with("_completion") && key.first != "mpi_icollective_exposed") sum_ns += ns;
    return sum_ns;
}

std::string differences(const Waits& truth, const Waits& found)
{
    std::string text;
    Waits all = truth;
    all.insert(found.begin(), found.end());
    const auto of = [](const Waits& waits, const auto& key) { return waits.contains(key) ? waits.at(key) : 0; };
    for (const auto& [key, ns] : all)
        if (of(truth, key) != of(found, key))
            text += base::join("  ", key.first, " of rank ", key.second, ": ", of(found, key), " ns, truth ",
                               of(truth, key), " ns\n");
    return text;
}

std::string check_delay(const replay::CriticalPath& path, const Truth& truth, const std::vector<std::int64_t>& ranks)
{
    std::string text;
    std::map<std::int64_t, double> by_rank;
    double sum_s = 0.0;
    for (const auto& [key, seconds] : path.delay) {
        sum_s += seconds;
        by_rank[ranks.at(key.location)] += seconds;
    }
    for (const auto& [key, seconds] : path.unknown_delay)
        text += base::join("  ", seconds, " s that rank ", ranks.at(key.location), " waited have no cause\n");
    const double waited_s = static_cast<double>(waiting_ns(truth.waits)) / 1e9;
    if (std::abs(sum_s - waited_s) > 1e-9 * (1.0 + waited_s))
        text += base::join("  delay costs are ", sum_s, " s of ", waited_s, " s waited\n");
    const auto less = [](const auto& one, const auto& other) { return one.second < other.second; };
    const auto largest = std::ranges::max_element(by_rank, less);
    if (truth.slow && largest != by_rank.end() && largest->first != *truth.slow)
        text += base::join("  rank ", largest->first, " has the largest delay cost, ", largest->second,
                           " s; slow is rank ", *truth.slow, ", ", by_rank[*truth.slow], " s\n");
    std::int64_t path_ns = 0;
    for (const auto& [key, ns] : path.ns) path_ns += ns;
    if (path_ns != path.length_ns) text += "  the critical path is not as long as the run\n";
    return text;
}

std::string check(const fs::path& directory)
{
    const Truth truth = read_truth(directory / "truth.csv");
    std::string text;
    for (const bool critical_path : {false, true}) {
        otf2::Reader reader{directory / "traces.otf2"};
        const std::vector<std::int64_t> ranks = otf2::ranks_of_locations(reader.archive());
        Waits waits;
        replay::MpiReplay replay{
            reader, {.critical_path = critical_path}, [&](const replay::WaitKey& key, const replay::WaitSum& sum) {
                waits[{replay::wait_state(key.pattern).cube_name, ranks.at(key.location)}] += sum.ns;
            }};
        reader.read(replay);
        replay.finish();
        text += differences(truth.waits, waits);
        for (const std::string& problem : replay.problems()) text += "  " + problem + "\n";
        if (critical_path) text += check_delay(replay.critical_path(), truth, ranks);
    }
    return text.empty() ? "" : "seed " + directory.filename().string() + "\n" + text;
}

}  // namespace

bool write_random_archives(const fs::path& directory, int first, int count)
{
    const std::string python = "/usr/bin/python3";  // Debian's interpreter finds Debian's modules
    if (run({python, "-c", "import otf2"}).status != 0) {
        skip("python3 has no module otf2");
        return false;
    }
    const Outcome written = run({python, "-B", CROSSTALK_SOURCE "/trace-tools/tests/random_mpi.py", directory,
                                 std::to_string(first), std::to_string(count)});
    REQUIRE_MESSAGE(written.status == 0, written.err);
    return true;
}

std::string check_random_archives(int first, int count)
{
    std::string text;
    for (const int end = first + count; first < end; first += 100) {  // at most 100 are on disk at once
        const Scratch scratch;
        const int some = std::min(100, end - first);
        if (!write_random_archives(scratch / "archives", first, some)) return "";
        for (int seed = first; seed < first + some; ++seed) text += check(scratch / "archives" / std::to_string(seed));
    }
    return text;
}

}  // namespace testing

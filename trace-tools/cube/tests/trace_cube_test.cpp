// SPDX-License-Identifier: Apache-2.0
// The real program trace-cube, on archives whose profile is known.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/archives/cube_profiles.hpp"
#include "testing/archives/pycubexr.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/testing.hpp"
#include "trace-tools/cube/cubex.hpp"

#include <doctest/doctest.h>

#include <numeric>

namespace fs = std::filesystem;
using cube::CubeMetric;
using cube::CubeProfile;
using testing::check_equal;
using testing::full_name;
using testing::has;
using testing::make;
using testing::profile_of;
using testing::program;
using testing::row;
using testing::write_calls;

namespace {

const fs::path real = fs::path{CROSSTALK_SOURCE} / "../shared/traces";

// Sums by region name and rank.
using Sums = std::map<std::pair<std::string, std::size_t>, double>;

Sums sums(const CubeProfile& profile, const std::string& metric)
{
    Sums all;
    const CubeMetric* const found = profile.find_metric(metric);
    REQUIRE(found != nullptr);
    for (const auto& [path, values] : found->rows)
        for (std::size_t rank = 0; rank < values.size(); ++rank)
            if (values[rank] > 0.0) all[{profile.regions[profile.call_paths[path].region].name, rank}] += values[rank];
    return all;
}

void check_close(const Sums& truth, const Sums& found)
{
    CHECK(truth.size() == found.size());
    for (const auto& [key, value] : truth) {
        REQUIRE(found.contains(key));
        CHECK(found.at(key) == doctest::Approx(value).epsilon(1e-9));
    }
}

double sum_on_path(const fs::path& path_csv)
{
    const base::CsvTable path{path_csv};
    double sum = 0.0;
    for (std::size_t i = 0; i < path.rows(); ++i) sum += path.get<double>(i, "seconds");
    return sum;
}

double sum_of(const CubeProfile& profile, const std::string& metric)
{
    double sum = 0.0;
    for (const auto& [key, value] : sums(profile, metric)) sum += value;
    return sum;
}

}  // namespace

TEST_CASE("visits and times of call paths are those that the archive was made with")
{
    const testing::Scratch scratch;
    const CubeProfile profile = profile_of(scratch, {make(scratch, "run", R"(ranks 2
repeat 10 step {
  work 8ms, 4ms on 1
  MPI_Allreduce 2ms
}
work 1ms..3ms
)")});
    CHECK(row(profile, "visits", "(all)/step") == std::vector<double>{10, 10});
    CHECK(row(profile, "time", "(all)/step") == std::vector<double>{0.1, 0.1});
    CHECK(row(profile, "visits", "(all)/step/work") == std::vector<double>{10, 10});
    CHECK(row(profile, "time", "(all)/step/work") == std::vector<double>{0.08, 0.04});
    CHECK(row(profile, "min_time", "(all)/step/work") == std::vector<double>{0.008, 0.004});
    CHECK(row(profile, "max_time", "(all)/step/work") == std::vector<double>{0.008, 0.004});
    CHECK(row(profile, "time", "(all)/step/MPI_Allreduce") == std::vector<double>{0.02, 0.06});
    CHECK(row(profile, "mpi_wait_nxn", "(all)/step/MPI_Allreduce") == std::vector<double>{0.0, 0.04});
    CHECK(row(profile, "visits", "(all)/work") == std::vector<double>{1, 1});
    CHECK(profile.metrics[*profile.find_metric("mpi_wait_nxn")->parent].unique_name == "time");
    CHECK(row(profile, "critical_path", "(all)/step/work")[0] == doctest::Approx(0.08));
    CHECK(row(profile, "critical_path", "(all)/step/work")[1] == 0.0);
    CHECK(row(profile, "critical_path_imbalance", "(all)/step/work")[0] == doctest::Approx(0.08 - 0.06));
    CHECK(row(profile, "delay", "(all)/step/work")[0] == doctest::Approx(0.04));
    CHECK(profile.processes[1].rank == 1);
}

TEST_CASE("wait states and the critical path add up to what the archive was made with")
{
    const testing::Scratch scratch;
    const CubeProfile profile = profile_of(scratch, {make(scratch, "run", R"(ranks 4
seed 3
repeat 20 step {
  load 1ms..3ms
  MPI_Bcast 300us..500us root=1
  backward 20ms..25ms, 24ms on 1,3
  MPI_Allreduce 1ms..2ms bytes=4MiB
  MPI_Reduce 1ms root=2
  MPI_Send 0>1 1ms tag=7
  MPI_Ssend 3>2 1ms
  work 1ms..4ms
  MPI_Iallreduce 5ms request=gradient
  work 1ms..6ms
  MPI_Wait gradient
  MPI_Barrier 10us..20us
}
)")});
    const base::CsvTable waits{scratch / "run/waits.csv"};
    std::map<std::string, Sums> truth;
    for (std::size_t i = 0; i < waits.rows(); ++i)
        truth[waits.text(i, "pattern")][{waits.text(i, "region"), waits.get<int>(i, "rank")}] +=
            waits.get<double>(i, "seconds");
    CHECK(truth.size() == 10);
    for (const auto& [pattern, values] : truth) check_close(values, sums(profile, pattern));
    const base::CsvTable path{scratch / "run/path.csv"};
    Sums on_path;
    for (std::size_t i = 0; i < path.rows(); ++i)
        if (path.get<double>(i, "seconds") > 0.0)
            on_path[{path.text(i, "region"), path.get<int>(i, "rank")}] += path.get<double>(i, "seconds");
    check_close(on_path, sums(profile, "critical_path"));
}

TEST_CASE("what is outside of all regions is the root's own")
{
    const testing::Scratch scratch;
    const std::string gaps = write_calls(scratch, "gaps", false);
    const CubeProfile profile = profile_of(scratch, {gaps});
    CHECK(row(profile, "time", "(all)") == std::vector<double>{8e-6, 8.5e-6});  // first event to last on each rank
    CHECK(row(profile, "time", "(all)/MPI_Init") == std::vector<double>{1e-6, 5e-7});
    CHECK(row(profile, "visits", "(all)") == std::vector<double>{0, 0});
    const std::vector<double> on_path = row(profile, "critical_path", "(all)");
    CHECK(on_path[0] == 0.0);
    CHECK(on_path[1] == doctest::Approx(0.5e-6 + 7e-6).epsilon(1e-12));  // since the first event of any location
    CHECK(row(profile, "critical_path_imbalance", "(all)")[1] == doctest::Approx(7.5e-6 - 6.5e-6));
    REQUIRE(testing::run({CROSSTALK_BIN "/trace-path", gaps, "-o", scratch / "path"}).status == 0);
    CHECK(sum_of(profile, "critical_path") == doctest::Approx(sum_on_path(scratch / "path/path.csv")).epsilon(1e-12));
    CHECK(sum_of(profile, "critical_path") == doctest::Approx(9e-6).epsilon(1e-12));
    if (const std::string python = testing::python_with_pycubexr(); !python.empty())
        check_equal(profile, testing::read_with_pycubexr(python, scratch / "p.cubex"));

    // If the archive has a single root, the profile has no other.
    const std::string whole = write_calls(scratch, "whole", true);
    const CubeProfile of_main = profile_of(scratch, {whole});
    CHECK(row(of_main, "time", "main") == std::vector<double>{8e-6, 8.5e-6});
    CHECK(row(of_main, "critical_path", "main")[1] == doctest::Approx(7.5e-6));
    CHECK(of_main.call_paths.size() == 3);

    REQUIRE(testing::run({program, gaps, whole, "-o", scratch / "pair.cubex"}).status == 0);
    const CubeProfile both = cube::read_cubex(scratch / "pair.cubex");
    CHECK(row(both, "quiet_time", "(all)") == std::vector<double>{8e-6, 8.5e-6});
    CHECK(row(both, "noisy_time", "(all)") == std::vector<double>{8e-6, 8.5e-6});
    CHECK(row(both, "difference_time", "(all)") == std::vector<double>{0.0, 0.0});
    CHECK(row(both, "quiet_critical_path", "(all)")[1] == doctest::Approx(7.5e-6));
    CHECK(row(both, "noisy_critical_path", "(all)/main")[1] == doctest::Approx(7.5e-6));
}

TEST_CASE("Score-P's profile of the same run has the same visits and times")
{
    if (!fs::exists(real)) return testing::skip("no real archives in ../shared/traces");
    const fs::path run = real / "casita-4_mpi_ls_barr";
    const testing::Outcome same = testing::run({program, run / "traces.otf2", "--against", run / "profile.cubex"});
    INFO(same.out << same.err);
    CHECK(same.status == 0);
    CHECK(has(same.out, "call paths  12 in both, 0 only in the archive, 0 only in the profile\n"));
    CHECK(has(same.out, "locations   4 in both, 0 only"));
    CHECK(has(same.out, "visits      equal\n"));

    const testing::Scratch scratch;
    const CubeProfile score_p = cube::read_cubex(run / "profile.cubex");
    CHECK(row(score_p, "time", "main/late_sender/MPI_Recv") ==
          std::vector<double>{0.0, 9.024860536, 10.005395537, 10.991066201});  // read from the file's bytes by hand
    const CubeProfile ours = profile_of(scratch, {run / "traces.otf2"});
    for (const char* metric : {"visits", "time", "min_time", "max_time"})
        for (std::size_t path = 0; path < score_p.call_paths.size(); ++path) {
            const std::string name = full_name(score_p, path);
            for (std::size_t rank = 0; rank < 4; ++rank)
                CHECK(row(ours, metric, name)[rank] == doctest::Approx(row(score_p, metric, name)[rank]).epsilon(1e-7));
        }
    CHECK(std::accumulate(score_p.metrics[0].rows.begin(), score_p.metrics[0].rows.end(), 0.0,
                          [](double so_far, const auto& one) {
                              return std::accumulate(one.second.begin(), one.second.end(), so_far);
                          }) == 48.0);
}

TEST_CASE("pycubexr finds in profiles of real archives, ours and Score-P's, what our reader finds")
{
    if (!fs::exists(real)) return testing::skip("no real archives in ../shared/traces");
    const std::string python = testing::python_with_pycubexr();
    if (python.empty()) return testing::skip("no python3 with pycubexr");
    const testing::Scratch scratch;
    for (const char* name : {"casita-4_mpi_ls_barr", "casita-2_cuda_simple", "pipit-ping-pong-papi"}) {
        const CubeProfile profile = profile_of(scratch, {real / name / "traces.otf2"});
        check_equal(profile, testing::read_with_pycubexr(python, scratch / "p.cubex"));
    }
    const fs::path score_p = real / "casita-4_mpi_ls_barr/profile.cubex";
    check_equal(cube::read_cubex(score_p), testing::read_with_pycubexr(python, score_p));
}

TEST_CASE("streams of accelerators are locations, those of metrics are not")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    archive.enter(7, 1000, 0);
    archive.leave(7, 3000, 0);
    archive.enter(3, 1500, 1);
    archive.leave(3, 1700, 1);
    for (const OTF2_LocationRef without_any : {5, 9}) archive.events(without_any);
    archive.end_events();
    archive.clock(1000, 2000);
    archive.node(0, "host");
    archive.node(1, "other host");
    archive.process(0, "program", 0);
    archive.process(1, "elsewhere", 1);
    archive.process(2, "card", 0, OTF2_LOCATION_GROUP_TYPE_ACCELERATOR);
    archive.location(7, "CUDA[0:7]", 2, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM);
    archive.location(9, "power", 0, OTF2_LOCATION_TYPE_METRIC);
    archive.location(5, "idle", 1);
    archive.location(3, "main", 0);
    archive.region(0, "kernel", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_CUDA);
    archive.region(1, "launch");
    archive.finish();

    const CubeProfile profile = profile_of(scratch, {archive.anchor()});
    REQUIRE(profile.locations.size() == 3);
    REQUIRE(profile.processes.size() == 3);
    CHECK(profile.processes[1].name == "card");  // next to the process of the same node
    CHECK(profile.processes[1].kind == "accelerator");
    CHECK(profile.locations[1].kind == "gpu");
    CHECK(profile.locations[2].name == "idle");
    CHECK(row(profile, "time", "(all)/kernel") == std::vector<double>{0.0, 2e-6, 0.0});
    CHECK(row(profile, "time", "(all)/launch") == std::vector<double>{2e-7, 0.0, 0.0});
    CHECK(row(profile, "time", "(all)") == std::vector<double>{2e-7, 2e-6, 0.0});
    CHECK(profile.find_metric("critical_path") == nullptr);  // no MPI events
}

TEST_CASE("regions never left and deep recursion are reported and profiled")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    constexpr std::uint64_t deep = 20'000;
    archive.enter(0, 0, 0);
    archive.enter(0, 10, 1);
    archive.leave(0, 30, 0);
    archive.enter(0, 50, 0);
    for (std::uint64_t i = 1; i <= deep; ++i) archive.enter(0, 50 + i, 2);
    for (std::uint64_t i = 1; i <= deep; ++i) archive.leave(0, 50 + deep + i, 2);
    archive.enter(1, 100, 1);
    archive.enter(1, 150, 0);
    archive.leave(1, 160, 0);
    archive.end_events();
    archive.clock(0, 50 + 2 * deep);
    archive.process(0, "P", OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    archive.location(0, "main", 0);
    archive.location(1, "other", 0);
    for (OTF2_RegionRef i = 0; i < 3; ++i) archive.region(i, "r" + std::to_string(i));
    archive.finish();

    const testing::Outcome outcome = testing::run({program, archive.anchor(), "-o", scratch / "p.cubex"});
    CHECK(outcome.status == 0);
    CHECK(has(outcome.err, "1 regions are never left; assumed to end with their parent"));
    CHECK(has(outcome.err, "2 regions are never left; assumed to end at the last event"));
    CHECK(has(outcome.err, "main (0): 19501 visits are nested too deep"));
    const CubeProfile profile = cube::read_cubex(scratch / "p.cubex");
    CHECK(profile.call_paths.size() == 1 + 2 + 499 + 2);
    CHECK(row(profile, "visits", "(all)/r0") == std::vector<double>{2, 0});
    CHECK(row(profile, "time", "(all)/r0/r1") == std::vector<double>{2e-8, 0});
    CHECK(row(profile, "time", "(all)/r1") == std::vector<double>{0, 6e-8});
    CHECK(row(profile, "time", "(all)/r0/r2")[0] == doctest::Approx(1e-9 * (2 * deep - 1)));
}

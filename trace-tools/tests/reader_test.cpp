// SPDX-License-Identifier: Apache-2.0
// Archives of other tools, and damaged ones.
#include "trace-tools/otf2/read/reader.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/archives/listing.hpp"
#include "testing/archives/small_archives.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/write/recorded.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/profile/profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>

namespace fs = std::filesystem;
using testing::small_archive;

namespace {

// Returns the anchor of another tool's archive. If it is missing, skips the test and returns an empty path.
fs::path real_archive(const std::string& name)
{
    const fs::path anchor = fs::path{CROSSTALK_SOURCE} / "../shared/traces" / name / "traces.otf2";
    if (fs::exists(anchor)) return anchor;
    testing::skip("no real archives in ../shared/traces");
    return {};
}

std::map<std::string, std::uint64_t> visits(const otf2::Archive& archive, const otf2::Profile& profile)
{
    std::map<std::string, std::uint64_t> visits;
    for (std::size_t i = 0; i < archive.regions.size(); ++i)
        if (profile.regions()[i].visits > 0) visits[archive.regions[i].name] += profile.regions()[i].visits;
    return visits;
}

}  // namespace

TEST_CASE("a Score-P archive of four ranks has the visits that otf2-print shows")
{
    const fs::path anchor = real_archive("casita-4_mpi_ls_barr");
    if (anchor.empty()) return;
    otf2::Reader reader{anchor};
    otf2::Profile profile{reader.archive()};
    reader.read(profile);
    profile.finish();
    // ENTER records by region, counted with otf2-print
    const std::map<std::string, std::uint64_t> expected{{"MPI_Barrier", 4},  {"MPI_Comm_rank", 4}, {"MPI_Comm_size", 4},
                                                        {"MPI_Finalize", 4}, {"MPI_Init", 4},      {"MPI_Recv", 3},
                                                        {"MPI_Send", 3},     {"barrier", 4},       {"foo", 10},
                                                        {"late_sender", 4},  {"main", 4}};
    CHECK(visits(reader.archive(), profile) == expected);
    std::uint64_t events = 0;
    for (const otf2::LocationProfile& location : profile.locations()) events += location.events;
    CHECK(events == 110);
    CHECK(profile.problems() == std::vector<std::string>{});
    CHECK(reader.problems() == std::vector<std::string>{});
    CHECK(reader.archive().writer == "Score-P 1.3-trunk");
    CHECK(reader.archive().processes.at(2).name == "MPI Rank 2");
}

TEST_CASE("visits and times of each rank are those of Score-P's own profile of the run")
{
    const fs::path anchor = real_archive("casita-4_mpi_ls_barr");
    if (anchor.empty()) return;

    struct OfRank : otf2::Profile {
        OfRank(const otf2::Archive& archive, std::uint32_t rank_of) : Profile{archive}, rank{rank_of} {}
        void enter(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override
        {
            if (at.location == rank) Profile::enter(at, region, attributes);
        }
        void leave(const otf2::At& at, std::uint32_t region, const otf2::EventAttributes& attributes) override
        {
            if (at.location == rank) Profile::leave(at, region, attributes);
        }
        std::uint32_t rank;
    };
    // Values of its profile.cubex: visits and inclusive seconds of ranks 0 to 3.
    struct Row {
        std::string region;
        std::array<std::uint64_t, 4> visits;
        std::array<double, 4> seconds;
    };
    const Row rows[] = {{"MPI_Barrier", {1, 1, 1, 1}, {4.6045e-05, 7.835209223, 6.843852608, 6.730411401}},
                        {"MPI_Comm_rank", {1, 1, 1, 1}, {9.03e-07, 1.255e-06, 8.82e-07, 1.436e-06}},
                        {"MPI_Comm_size", {1, 1, 1, 1}, {2.061e-06, 2.96e-06, 1.878e-06, 2.783e-06}},
                        {"MPI_Finalize", {1, 1, 1, 1}, {7.3598e-05, 7.083e-05, 6.0705e-05, 1.7683e-05}},
                        {"MPI_Init", {1, 1, 1, 1}, {0.092993988, 0.133054089, 0.036963216, 0.139588432}},
                        {"MPI_Recv", {0, 1, 1, 1}, {0.0, 9.024860536, 10.005395537, 10.991066201}},
                        {"MPI_Send", {1, 1, 1, 0}, {2.1303e-05, 4.093e-05, 2.3537e-05, 0.0}},
                        {"barrier", {1, 1, 1, 1}, {9.8492045, 8.872003783, 7.820576713, 7.820019483}},
                        {"foo", {2, 3, 3, 2}, {19.945392177, 3.085484012, 3.096272326, 2.22419354}},
                        {"late_sender", {1, 1, 1, 1}, {10.096515143, 11.073722171, 12.125152005, 12.125761918}},
                        {"main", {1, 1, 1, 1}, {20.038829767, 20.07889063, 19.982791921, 20.085424375}}};
    otf2::Reader reader{anchor};
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        OfRank profile{reader.archive(), rank};
        reader.read(profile);
        profile.finish();
        std::size_t visited = 0;
        for (const otf2::RegionProfile& region : profile.regions()) visited += region.visits > 0 ? 1 : 0;
        CHECK(visited == (rank == 0 || rank == 3 ? 10 : 11));
        for (const Row& row : rows) {
            CAPTURE(row.region);
            CAPTURE(rank);
            const auto region = reader.archive().find_region(row.region);
            REQUIRE(region.has_value());
            const otf2::RegionProfile& found = profile.regions()[*region];
            CHECK(found.visits == row.visits.at(rank));
            const double seconds = static_cast<double>(found.inclusive_ns.sum) / 1e9;
            CHECK(std::abs(seconds - row.seconds.at(rank)) <= 1e-5 * row.seconds.at(rank) + 1e-12);
        }
    }
}

TEST_CASE("late senders of a Score-P archive wait as long as Scalasca says")
{
    const fs::path anchor = real_archive("casita-4_mpi_ls_barr");
    if (anchor.empty()) return;

    // Blocking messages only: a receive waits from its entry to the entry of the send.
    struct LateSenders : otf2::Visitor {
        explicit LateSenders(const otf2::Archive& known) : archive{known}, entered(known.locations.size()) {}
        void enter(const otf2::At& at, std::uint32_t, const otf2::EventAttributes&) override
        {
            entered[at.location] = at.time_ns;
        }
        void send(const otf2::At& at, const otf2::MessageRecord& message) override
        {
            sends[archive.communicators[message.communicator].members.at(message.peer)].push_back(at.time_ns);
        }
        void receive(const otf2::At& at, const otf2::MessageRecord&) override
        {
            const std::int64_t sent_ns = sends[at.location].front();
            sends[at.location].erase(sends[at.location].begin());
            waited_ns += std::max<std::int64_t>(0, std::min(sent_ns, at.time_ns) - entered[at.location]);
        }
        const otf2::Archive& archive;
        std::vector<std::int64_t> entered;                         // entry of the last region, by location
        std::map<std::uint32_t, std::vector<std::int64_t>> sends;  // by receiving location
        std::int64_t waited_ns = 0;
    };
    otf2::Reader reader{anchor};
    LateSenders late{reader.archive()};
    reader.read(late);
    CHECK(static_cast<double>(late.waited_ns) / 1e9 == doctest::Approx(30.020573).epsilon(1e-6));
}

TEST_CASE("clock offsets of a CUDA archive are applied and can be undone")
{
    const fs::path anchor = real_archive("casita-2_cuda_simple");
    if (anchor.empty()) return;
    otf2::Reader common{anchor};
    otf2::Reader raw{anchor, {.undo_clock_offsets = true}};
    otf2::Listing corrected{common.archive(), true};
    otf2::Listing uncorrected{raw.archive(), true};
    common.read_by_location(corrected);
    raw.read_by_location(uncorrected);
    REQUIRE(corrected.lines.size() == 2816);
    REQUIRE(uncorrected.lines.size() == 2816);

    // Rank 0's clock is the archive's; rank 1's offset is interpolated between its ClockOffset records, -29 to 42 ns.
    std::size_t compared = 0;
    for (std::size_t i = 0; i < corrected.lines.size(); ++i) {
        const std::int64_t raw_ns = std::stoll(uncorrected.lines[i]);
        const std::int64_t offset_ns = std::stoll(corrected.lines[i]) - raw_ns;
        const bool rank_1 = corrected.lines[i].find("MPI Rank 1") != std::string::npos;
        const otf2::Location& location = common.archive().locations.at(rank_1 ? 3 : 0);
        REQUIRE(location.clock_offsets.size() >= 2);
        CHECK(std::abs(otf2::on_common_clock(raw_ns, location.clock_offsets) - raw_ns - offset_ns) <= 1);
        if (rank_1 && offset_ns != 0) ++compared;
    }
    CHECK(compared > 1000);
}

TEST_CASE("every region of a CUDA archive is left on all six locations")
{
    const fs::path anchor = real_archive("casita-2_cuda_simple");
    if (anchor.empty()) return;
    otf2::Reader reader{anchor};
    otf2::Profile profile{reader.archive()};
    reader.read_by_location(profile);
    for (const otf2::LocationProfile& location : profile.locations()) {
        CHECK(location.open_at_the_end == 0);
        CHECK(location.backwards == 0);
    }
    profile.finish();
    CHECK(reader.archive().locations.size() == 6);
    CHECK(reader.archive().locations.at(2).kind == otf2::LocationKind::accelerator_stream);
    CHECK(profile.problems() == std::vector<std::string>{});
    CHECK(visits(reader.archive(), profile).at("MPI_Allreduce") == 20);
}

TEST_CASE("ticks of another length become nanoseconds and counters of a class come one by one")
{
    const fs::path anchor = real_archive("pipit-ping-pong-papi");
    if (anchor.empty()) return;
    otf2::Reader reader{anchor};
    const otf2::Archive& archive = reader.archive();
    CHECK(archive.clock.ticks_per_s == 2'095'191'439);
    otf2::Profile profile{archive};
    reader.read(profile);
    const auto cycles = archive.find_metric("PAPI_TOT_CYC");
    REQUIRE(cycles.has_value());
    CHECK(profile.metrics()[*cycles].values == 84);
    for (const otf2::LocationProfile& location : profile.locations()) {
        CHECK(location.events == 102);
        CHECK(location.first_ns >= archive.clock.begin_ns);
        CHECK(location.last_ns <= archive.clock.begin_ns + archive.clock.length_ns + 1);
    }
}

TEST_CASE("both ways of reading give the same events")
{
    const fs::path anchor = real_archive("casita-2_cuda_simple");
    if (anchor.empty()) return;
    otf2::Reader reader{anchor};
    otf2::Listing ordered{reader.archive(), true};
    otf2::Listing by_location{reader.archive(), true};
    reader.read(ordered);
    reader.read_by_location(by_location);
    CHECK(std::is_sorted(ordered.lines.begin(), ordered.lines.end(),
                         [](const std::string& a, const std::string& b) { return std::stoll(a) < std::stoll(b); }));
    std::sort(ordered.lines.begin(), ordered.lines.end());
    std::sort(by_location.lines.begin(), by_location.lines.end());
    CHECK(ordered.lines == by_location.lines);
}

TEST_CASE("a region that is never left is closed at the last event and reported")
{
    const testing::Scratch scratch;
    otf2::Recorder recorder{scratch / "trace"};
    const otf2::RegionRef outer = recorder.region("outer");
    const otf2::RegionRef inner = recorder.region("inner");
    const otf2::RegionRef stray = recorder.region("stray");
    otf2::LocationRecorder& main = recorder.location("main");
    main.enter(outer, 1000);
    main.enter(inner, 2000);
    main.enter(inner, 2500);  // recursive
    main.leave(inner, 2600);
    main.leave(inner, 3000);
    main.leave(stray, 3500);
    main.enter(inner, 4000);
    main.enter(stray, 5000);
    recorder.finish();

    otf2::Reader reader{scratch / "trace/traces.otf2"};
    otf2::Profile profile{reader.archive()};
    reader.read(profile);
    profile.finish();
    CHECK(profile.problems() == std::vector<std::string>{"main (0): 1 regions left without being entered"});
    CHECK(profile.soundness().oddities() ==
          std::vector<std::string>{"3 regions are never left; assumed to end at the last event"});
    const otf2::RegionProfile& of_outer = profile.regions()[0];
    const otf2::RegionProfile& of_inner = profile.regions()[1];
    CHECK(of_outer.inclusive_ns.sum == 4000);
    CHECK(of_outer.exclusive_ns.sum == 2000);
    CHECK(of_inner.visits == 3);
    CHECK(of_inner.inclusive_ns.sum == 2000);
    CHECK(of_inner.inclusive_ns.least == 100);
    CHECK(of_inner.inclusive_ns.most == 1000);
    CHECK(of_inner.exclusive_ns.sum == 2000);
}

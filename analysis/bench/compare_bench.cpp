// SPDX-License-Identifier: Apache-2.0
// Benchmark of `interference compare` with six runs. It reports the CPU time divided by that of `trace-steps` on each
// run, which reads an archive once and writes its steps, and the peak memory divided by that for archives with a
// quarter of the events in the same number of steps.
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/bench_rows.hpp"
#include "testing/paired.hpp"
#include "testing/process_cost.hpp"
#include "testing/testing.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t pairs = 7;
constexpr std::ptrdiff_t runs_of_a_set = 3;
constexpr std::uint32_t ranks = 2;
constexpr std::uint64_t steps = 2'000;

struct Shape {
    std::uint64_t events_of_a_rank = 0;  // approximate
    bool numbered = true;                // steps have recorded numbers, as in ddl-train's archives
};

enum Region : OTF2_RegionRef { step, compute, allreduce };

// Writes the events of a rank: in each step an allreduce after each bit of computing, until there are enough events.
void write_rank(OTF2_EvtWriter* events, const Shape& shape, std::uint64_t seed)
{
    const std::uint64_t calls = (shape.events_of_a_rank / steps - 2) / 6;
    OTF2_AttributeList* attributes = OTF2_AttributeList_New();
    std::uint64_t now = 1'000'000'000 + seed;
    for (std::uint64_t number = 0; number < steps; ++number) {
        if (shape.numbered) OTF2_AttributeList_AddUint64(attributes, 0, number);
        OTF2_EvtWriter_Enter(events, attributes, now, step);
        for (std::uint64_t call = 0; call < calls; ++call) {
            OTF2_EvtWriter_Enter(events, nullptr, now, compute);
            now += 10'000 + (seed * 7919 + number * 104'729 + call * 1'299'709) % 4001;
            OTF2_EvtWriter_Leave(events, nullptr, now, compute);
            OTF2_EvtWriter_Enter(events, nullptr, now, allreduce);
            OTF2_EvtWriter_MpiCollectiveBegin(events, nullptr, now);
            now += 5'000;
            OTF2_EvtWriter_MpiCollectiveEnd(events, nullptr, now, OTF2_COLLECTIVE_OP_ALLREDUCE, 0,
                                            OTF2_COLLECTIVE_ROOT_NONE, 4096, 4096);
            OTF2_EvtWriter_Leave(events, nullptr, now, allreduce);
        }
        OTF2_EvtWriter_Leave(events, nullptr, now, step);
    }
    OTF2_AttributeList_Delete(attributes);
}

void write_archive(const fs::path& directory, const Shape& shape, std::uint64_t seed)
{
    otf2::RawArchive archive{directory};
    for (std::uint32_t rank = 0; rank < ranks; ++rank) write_rank(archive.events(rank), shape, ranks * seed + rank);
    archive.end_events();
    archive.clock(1'000'000'000, 1'000'000'000'000);
    archive.node(0, "node");
    std::vector<std::uint64_t> members;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        archive.process(rank, "MPI Rank " + std::to_string(rank), 0);
        archive.location(rank, "Master thread", rank);
        members.push_back(rank);
    }
    archive.region(step, shape.numbered ? "step" : "iteration");
    archive.region(compute, "compute");
    archive.region(allreduce, "MPI_Allreduce", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI);
    OTF2_GlobalDefWriter* definitions = archive.definitions();
    if (shape.numbered) {
        const OTF2_StringRef name = archive.text("step");
        OTF2_GlobalDefWriter_WriteAttribute(definitions, 0, name, name, OTF2_TYPE_UINT64);
    }
    const OTF2_StringRef world = archive.text("MPI_COMM_WORLD");
    OTF2_GlobalDefWriter_WriteGroup(definitions, 0, world, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, ranks, members.data());
    OTF2_GlobalDefWriter_WriteGroup(definitions, 1, world, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI,
                                    OTF2_GROUP_FLAG_NONE, ranks, members.data());
    OTF2_GlobalDefWriter_WriteComm(definitions, 0, world, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    archive.finish();
}

// Two sets of runs: without noise and with noise.
class Sets {
 public:
    Sets(const fs::path& folder, const Shape& shape) : out_{folder / "out"}
    {
        for (std::uint64_t run = 0; run < 2 * runs_of_a_set; ++run) {
            const fs::path archive = folder / ("run-" + std::to_string(run));
            testing::peak_mb([&] { write_archive(archive, shape, run); });
            archives_.push_back(archive / base::file::anchor);
        }
    }

    double compare_cpu_s() const
    {
        std::vector<std::string> words{CROSSTALK_BIN "/interference", "compare", "--out", out_, "--quiet"};
        words.insert(words.end(), archives_.begin(), archives_.begin() + runs_of_a_set);
        words.emplace_back("--noisy");
        words.insert(words.end(), archives_.begin() + runs_of_a_set, archives_.end());
        fs::remove_all(out_);
        return testing::cost_of_program(words).cpu_s;
    }

    double compare_peak_mb() const
    {
        return testing::peak_mb([&] { compare_cpu_s(); });
    }

    double passes_cpu_s() const
    {
        double all = 0.0;
        for (const std::string& archive : archives_) {
            fs::remove_all(out_);
            all += testing::cost_of_program({CROSSTALK_BIN "/trace-steps", archive, "-o", out_}).cpu_s;
        }
        return all;
    }

 private:
    fs::path out_;
    std::vector<std::string> archives_;
};

void measure(bool numbered, testing::BenchRows& rows)
{
    const testing::Scratch scratch;
    const Sets few{scratch / "few", {250'000, numbered}};
    const Sets many{scratch / "many", {1'000'000, numbered}};
    const std::string steps = numbered ? "numbered steps" : "steps that have to be found";
    const std::string of = "interference compare, 6 runs of 2 ranks, a million events a rank, " + steps;
    rows.add({of + ": CPU", "trace-steps of each", "s"},
             testing::measure_in_pairs(
                 pairs, [&] { return many.compare_cpu_s(); }, [&] { return many.passes_cpu_s(); }),
             testing::at_most(1.3));
    rows.add({.name = of + ": most memory", .unit = "MB"}, many.compare_peak_mb());
    rows.add({.name = of + ": most memory, of a quarter of the events", .unit = "MB"}, few.compare_peak_mb());
}

}  // namespace

int main()
try {
    testing::BenchRows rows{"compare-bench"};
    for (const bool numbered : {true, false}) measure(numbered, rows);
    return base::exit_fine;
} catch (...) {
    return base::report_failure("compare-bench");
}

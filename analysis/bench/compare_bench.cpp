// What `interference compare` of six runs costs beside six single passes (`trace-steps`, which reads an archive once
// and writes its steps), in pairs of CPU time; and its peak memory with four times as many events in as many steps.
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/paired.hpp"
#include "testing/testing.hpp"

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;

constexpr std::size_t pairs = 7;
constexpr int runs_of_a_set = 3;
constexpr std::uint32_t ranks = 2;
constexpr std::uint64_t steps = 2'000;
constexpr double aim = 1.3;

struct Shape {
    std::uint64_t events_of_a_rank = 0;  // about so many
    bool numbered = true;                // steps say their numbers, as ours do
};

enum Region : OTF2_RegionRef { step, compute, allreduce };

// Of each rank in each step: an allreduce after each bit of computing, until there are enough events.
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

fs::path write_archive(const fs::path& directory, const Shape& shape, std::uint64_t seed)
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
    return directory / base::file::anchor;
}

struct Cost {
    double cpu_s = 0.0;  // of the program and of all that it started
    double peak_mb = 0.0;
};

Cost cost_of(const std::vector<std::string>& words)
{
    const pid_t child = base::check_errno(::fork(), "start a process");
    if (child == 0) {
        std::vector<char*> arguments;
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
        ::execv(arguments.front(), arguments.data());
        std::_Exit(127);
    }
    int status = 0;
    rusage used{};
    base::check_errno(::wait4(child, &status, 0, &used), "wait for a process");
    if (status != 0) base::fail(words.front(), " failed");
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return {seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<double>(used.ru_maxrss) / 1e3};
}

class Sets {
 public:
    Sets(const fs::path& folder, const Shape& shape) : out_{folder / "out"}
    {
        for (int run = 0; run < 2 * runs_of_a_set; ++run)
            archives_.push_back(
                write_archive(folder / ("run-" + std::to_string(run)), shape, static_cast<std::uint64_t>(run)));
    }

    Cost compare() const
    {
        std::vector<std::string> words{CROSSTALK_BIN "/interference", "compare", "--out", out_.string(), "--quiet"};
        words.insert(words.end(), archives_.begin(), archives_.begin() + runs_of_a_set);
        words.emplace_back("--noisy");
        words.insert(words.end(), archives_.begin() + runs_of_a_set, archives_.end());
        fs::remove_all(out_);
        return cost_of(words);
    }

    double passes_s() const
    {
        double all = 0.0;
        for (const std::string& archive : archives_) {
            fs::remove_all(out_);
            all += cost_of({CROSSTALK_BIN "/trace-steps", archive, "-o", out_.string()}).cpu_s;
        }
        return all;
    }

 private:
    fs::path out_;
    std::vector<std::string> archives_;
};

}  // namespace

int main()
try {
    const testing::Scratch scratch;
    for (const bool numbered : {true, false}) {
        const std::string how = numbered ? "numbered steps" : "steps that have to be found";
        const Sets few{scratch / ("few" + how), {250'000, numbered}};
        const Sets many{scratch / ("many" + how), {1'000'000, numbered}};
        const testing::Paired cost = testing::measure_in_pairs(
            pairs, [&] { return many.compare().cpu_s; }, [&] { return many.passes_s(); });
        std::cout << "6 runs of 2 x 1,000,000 events, " << how << "\n  compare, s of CPU time      "
                  << cost.first.text() << "\n  six single passes, s        " << cost.second.text()
                  << "\n  ratio of the pairs          " << cost.ratio.text() << ", aim " << aim
                  << "\n  peak memory of compare      " << many.compare().peak_mb
                  << " MB; of a fourth of the events in as many steps " << few.compare().peak_mb << " MB" << std::endl;
    }
    return base::exit_fine;
} catch (...) {
    return base::report_failure("compare-bench");
}

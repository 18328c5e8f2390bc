// SPDX-License-Identifier: Apache-2.0
// Training after a wrong launch, or with a control file that was damaged.
#include "base/files.hpp"
#include "base/system/launcher.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"
#include "testing/train_traces.hpp"
#include "trace-tools/otf2/read/reader.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>

#include <unistd.h>

using testing::Words;

namespace {

testing::Outcome with_environment(const Words& variables, const std::filesystem::path& out)
{
    Words words{"env"};
    words.insert(words.end(), variables.begin(), variables.end());
    const Words small = testing::small();
    const Words program{CROSSTALK_BIN "/ddl-train", "--steps", "3", "--out", out.string()};
    words.insert(words.end(), program.begin(), program.end());
    words.insert(words.end(), small.begin(), small.end());
    return testing::run(words);
}

}  // namespace

TEST_CASE("a training whose control file is cut short continues and completes its trace")
{
    const testing::Scratch scratch;
    Words options = testing::small();
    options.insert(options.end(), {"--duration", "60s", "--control-delay", "1ms"});
    testing::RunningTraining training{2, scratch / "run", options};
    training.wait_for_steps();
    std::filesystem::resize_file(scratch / "run/control" / base::host_name(), 0);
    const std::size_t before = testing::steps_in(scratch / "run").size();
    for (int tries = 0; tries < 600 && testing::steps_in(scratch / "run").size() < before + 10; ++tries)
        ::usleep(50'000);
    CHECK(testing::steps_in(scratch / "run").size() >= before + 10);
    ::kill(training.ranks().back(), SIGTERM);
    CHECK(training.wait() == 0);
    const std::string log = base::read_whole(scratch / "run.log");
    INFO(log);
    CHECK(log.find("ddl-train: the control file was truncated while in use: continuing without it\n") !=
          std::string::npos);
    CHECK_NOTHROW(otf2::Reader{scratch / "run/train/trace/traces.otf2"});
}

TEST_CASE("tasks that MPI does not know of are refused with what to try")
{
    const testing::Scratch scratch;
    const auto refused = [&](const Words& variables, const std::string& words) {
        const testing::Outcome outcome = with_environment(variables, scratch / "run");
        INFO(outcome.err);
        CHECK(outcome.status == 2);
        CHECK(outcome.err == "ddl-train: " + words + "\n");
        CHECK_FALSE(std::filesystem::exists(scratch / "run/train"));
    };
    refused({"SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=2"},
            "srun started 2 tasks but MPI sees 1: try --mpi=pmix (srun --mpi=list)");
    refused({"PMI_RANK=0", "PMI_SIZE=4"},
            "the launcher started 4 tasks but MPI sees 1: try the mpirun of the MPI that this program was built with");
}

TEST_CASE("a node whose name leads elsewhere is refused")
{
    const testing::Scratch scratch;
    const testing::Outcome outcome = with_environment({"SLURMD_NODENAME=../../evil"}, scratch / "a/run");
    INFO(outcome.err);
    CHECK(outcome.status == 2);
    CHECK(outcome.err == "ddl-train: SLURMD_NODENAME: '../../evil' is not the name of a host\n");
    CHECK_FALSE(std::filesystem::exists(scratch / "a/evil"));
}

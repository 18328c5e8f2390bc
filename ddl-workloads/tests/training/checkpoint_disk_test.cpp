// SPDX-License-Identifier: Apache-2.0
// Checkpoints that cannot be written: by their format, on a full disk, and where a write fails half-way.
#include "base/csv.hpp"
#include "base/words.hpp"
#include "ddl-workloads/checkpoint/checkpoint_format.hpp"
#include "testing/testing.hpp"
#include "testing/train_runs.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

using testing::operator+;
using testing::Words;

namespace {

namespace fs = std::filesystem;

// Every format, as a user names it, with every mode.
std::vector<Words> every_format_and_mode()
{
    std::vector<Words> all;
    for (const std::string& format : ddl::checkpoint_formats().names())
        for (const std::string mode : {"sync", "async"})
            all.push_back({"--checkpoint-format", format, "--checkpoint-mode", mode});
    return all;
}

bool contains(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a format that cannot hold the tensors is refused in one line")
{
    const testing::Scratch scratch;
    const Words words{"--model",
                      "emulated[compute=100us,gradients=64kB,buckets=9000]",
                      "--data",
                      "synthetic[samples=160]",
                      "--trace",
                      "off",
                      "--steps",
                      "1",
                      "--checkpoint-every",
                      "1"};
    const testing::TrainRun raw = testing::train_alone(scratch / "raw", words + Words{"--checkpoint-format", "raw"});
    CHECK(raw.status == 2);
    CHECK(raw.err ==
          "ddl-train: --checkpoint-format raw: a file holds at most 9000 tensors, not the 9002 of "
          "emulated[compute=100us,gradients=64kB,buckets=9000]\n");
    CHECK_FALSE(fs::exists(scratch / "raw/train"));
    CHECK(testing::train_alone(scratch / "hdf5", words).status == 0);
}

TEST_CASE("a full disk costs a checkpoint and not the training, nor the checkpoints before it")
{
    if (::geteuid() != 0) return testing::skip("only root may mount");
    const testing::Scratch scratch;
    fs::create_directory(scratch / "disk");
    const std::string disk = scratch / "disk";
    const std::string train = CROSSTALK_BIN
        "/ddl-train --transport self --trace off --model emulated[compute=100us,gradients=4MB] --data "
        "synthetic[samples=160] --checkpoint-every 10 --checkpoint-keep 0 ";
    for (const Words& how : every_format_and_mode()) {
        const std::string options = base::join_words(how, " ");
        INFO(options);
        const std::string again = scratch / ("again " + options);
        const std::string script = "mount -t tmpfs -o size=11M tmpfs " + disk + " || exit 77\n" + train + options +
                                   " --steps 50 --out " + disk + "/run; code=$?; ls " + disk +
                                   "/run/train/checkpoints >&2\n" + train + "--steps 21 --resume " + disk +
                                   "/run --out '" + again + "' >&2 || exit 1\nexit $code";
        const testing::Outcome outcome = testing::run({"unshare", "-m", "sh", "-c", script});
        if (outcome.status == 77) return testing::skip("mounting is not allowed here");
        INFO(outcome.err);
        CHECK(outcome.status == 3);
        CHECK(contains(outcome.err, "ddl-train: the checkpoint of step 30 is lost: cannot write "));
        CHECK(contains(outcome.err, "No space left on device; the training continues\n"));
        CHECK(contains(outcome.err, "ddl-train: 3 checkpoints could not be written\n"));
        CHECK(contains(outcome.err, "step-000000010\nstep-000000020\n"));
        CHECK_FALSE(contains(outcome.err, ".tmp\n"));
        CHECK(contains(outcome.err, "resuming after step 20 of " + disk));
    }
}

TEST_CASE("a file system without a limit takes checkpoints")
{
    if (::geteuid() != 0) return testing::skip("only root may mount");
    const testing::Scratch scratch;
    fs::create_directory(scratch / "disk");
    const std::string disk = scratch / "disk";
    const std::string script = "mount -t tmpfs -o size=0 tmpfs " + disk +
                               " || exit 77\nexec " CROSSTALK_BIN
                               "/ddl-train --transport self --trace off --model emulated[compute=100us,gradients=4MB] "
                               "--data synthetic[samples=160] --steps 2 --checkpoint-every 2 --out " +
                               disk + "/run";
    const testing::Outcome outcome = testing::run({"unshare", "-m", "sh", "-c", script});
    if (outcome.status == 77) return testing::skip("mounting is not allowed here");
    INFO(outcome.err);
    CHECK(outcome.status == 0);
}

TEST_CASE("a write that fails half-way leaves nothing of its checkpoint, and the training goes on")
{
    const testing::Scratch scratch;
    for (const Words& how : every_format_and_mode()) {
        const std::string options = base::join_words(how, " ");
        INFO(options);
        const std::string run = scratch / options;
        // The file may have 2 MB of its 4.
        const std::string script = "trap '' XFSZ; ulimit -f 4000; exec " CROSSTALK_BIN
                                   "/ddl-train --transport self --trace off --model "
                                   "emulated[compute=100us,gradients=4MB] --data synthetic[samples=160] --steps 25 "
                                   "--checkpoint-every 10 " +
                                   options + " --out '" + run + "'";
        const testing::Outcome outcome = testing::run({"sh", "-c", script});
        INFO(outcome.err);
        CHECK(outcome.status == 3);
        CHECK(contains(outcome.err, "ddl-train: the checkpoint of step 20 is lost: cannot write "));
        CHECK(contains(outcome.err, "File too large; the training continues\n"));
        CHECK(contains(outcome.err, "ddl-train: 2 checkpoints could not be written\n"));
        CHECK(fs::is_empty(fs::path{run} / "train/checkpoints"));
        CHECK(base::CsvTable{fs::path{run} / "train/checkpoints.csv"}.rows() == 0);
        CHECK(base::CsvTable{fs::path{run} / "train/steps.csv"}.rows() == 25);
    }
}

// SPDX-License-Identifier: Apache-2.0
// trace-cube with two archives or profiles, and its errors.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/archives/cube_profiles.hpp"
#include "testing/archives/pycubexr.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

namespace fs = std::filesystem;
using cube::CubeMetric;
using cube::CubeProfile;
using testing::check_equal;
using testing::has;
using testing::make;
using testing::profile_of;
using testing::program;
using testing::row;
using testing::write_calls;

TEST_CASE("two archives give quiet, noisy, difference and on demand the slowdown")
{
    const testing::Scratch scratch;
    const std::string quiet = make(scratch, "quiet", R"(ranks 2
region train {
repeat 10 step {
  load 1ms
  forward 10ms
  MPI_Allreduce 2ms
}
}
)");
    const std::string noisy = make(scratch, "noisy", R"(ranks 3
region train {
repeat 10 step {
  forward 10ms, 15ms on 1
  MPI_Allreduce 2ms
  checkpoint 4ms
}
}
)");
    const CubeProfile profile = profile_of(scratch, {quiet, noisy, "--slowdown"});
    const std::string forward = "(all)/train/step/forward";
    CHECK(profile.locations.size() == 3);
    CHECK(row(profile, "quiet_time", forward) == std::vector<double>{0.1, 0.1, 0.0});
    CHECK(row(profile, "noisy_time", forward) == std::vector<double>{0.1, 0.15, 0.1});
    CHECK(row(profile, "difference_time", forward) == std::vector<double>{0.0, 0.15 - 0.1, 0.1});
    CHECK(row(profile, "quiet_time", "(all)/train/step/load") == std::vector<double>{0.01, 0.01, 0.0});
    CHECK(row(profile, "noisy_time", "(all)/train/step/load") == std::vector<double>{0.0, 0.0, 0.0});
    CHECK(row(profile, "difference_time", "(all)/train/step/load") == std::vector<double>{-0.01, -0.01, 0.0});
    CHECK(row(profile, "difference_time", "(all)/train/step/checkpoint") == std::vector<double>{0.04, 0.04, 0.04});
    CHECK(row(profile, "difference_visits", "(all)/train/step/load") == std::vector<double>{-10, -10, 0});
    CHECK(profile.find_metric("difference_visits")->type == CubeMetric::Type::signed_whole);
    CHECK(row(profile, "noisy_mpi_wait_nxn", "(all)/train/step/MPI_Allreduce") == std::vector<double>{0.05, 0.0, 0.05});
    CHECK(profile.metrics[*profile.find_metric("noisy_mpi_wait_nxn")->parent].unique_name == "noisy_time");
    CHECK(profile.find_metric("difference_min_time") == nullptr);
    CHECK(profile.find_metric("quiet_min_time") != nullptr);

    const CubeMetric* const slowdown = profile.find_metric("slowdown");
    REQUIRE(slowdown != nullptr);
    CHECK(slowdown->kind == CubeMetric::Kind::derived);
    CHECK(slowdown->expression == "metric::noisy_time()/metric::quiet_time()");
    CHECK(row(profile, "noisy_time", forward)[1] / row(profile, "quiet_time", forward)[1] == doctest::Approx(1.5));

    const std::string python = testing::python_with_pycubexr();
    const auto check_with_pycubexr = [&](const std::string& option) {
        if (python.empty()) return testing::skip("no python3 with pycubexr");
        check_equal(profile, testing::read_with_pycubexr(python, scratch / "p.cubex", option));
    };
    check_with_pycubexr("-O");
    CHECK(profile_of(scratch, {quiet, noisy}).find_metric("slowdown") == nullptr);
    check_with_pycubexr("-B");
}

TEST_CASE("two archives are told how much they have in common")
{
    const testing::Scratch scratch;
    const std::string one = make(scratch, "one", "ranks 2\nregion train {\nforward 10ms\nload 1ms\n}\n");
    const std::string similar = make(scratch, "similar", "ranks 2\nregion train {\nforward 20ms\n}\n");
    const std::string other = make(scratch, "other", "ranks 2\nregion solve {\nforward 10ms\n}\n");
    const testing::Outcome some = testing::run({program, one, similar, "-o", scratch / "p.cubex"});
    CHECK(some.err == "");
    CHECK(has(some.out, "call paths  2 in both, 1 only in the quiet run, 0 only in the noisy one\n"));
    const testing::Outcome none = testing::run({program, one, other, "-o", scratch / "q.cubex"});
    CHECK(none.status == 0);
    CHECK(none.err == "trace-cube: the archives have no call path in common (3 and 2), so they cannot be compared\n");
    CHECK(testing::run({program, one, "-o", scratch / "s.cubex", "--slowdown"}).status == 2);

    // An artificial root in both profiles does not count as a common call path.
    const std::string gaps = write_calls(scratch, "gaps", false);
    const std::string loose = make(scratch, "loose", "ranks 2\nwork 1ms\nplay 1ms\n");
    CHECK(has(testing::run({program, gaps, loose, "-o", scratch / "r.cubex"}).err, "no call path in common (2 and 2)"));
}

TEST_CASE("a tick a visit and bytes behind the tar's end do not make another run")
{
    const testing::Scratch scratch;
    const std::string spec = "ranks 1\nrepeat 3 train {\nforward 10us\n}\n";
    const std::string anchor = make(scratch, "run", spec);
    const auto against = [&](const std::string& name, const std::string& other) {
        profile_of(scratch, {make(scratch, name, other)});
        return testing::run({program, anchor, "--against", scratch / "p.cubex"});
    };
    CHECK(against("a-tick", "ranks 1\nrepeat 3 train {\nforward 10001ns\n}\n").status == 0);  // a difference of 1e-4
    CHECK(against("two-ticks", "ranks 1\nrepeat 3 train {\nforward 10002ns\n}\n").status == 3);
    CHECK(against("same", spec).status == 0);
    const std::string cubex = base::read_whole(scratch / "p.cubex");
    for (const std::string& behind : {std::string{"x"}, std::string(700, 'x')}) {
        base::write_whole(scratch / "p.cubex", cubex + behind);
        CHECK(testing::run({program, anchor, "--against", scratch / "p.cubex"}).status == 0);
    }
}

TEST_CASE("an archive that is not sound has no profile")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    archive.enter(0, 10, 0);
    archive.leave(0, 20, 0);
    archive.leave(0, 30, 0);
    archive.end_events();
    archive.clock(10, 20);
    archive.process(0, "P", OTF2_UNDEFINED_SYSTEM_TREE_NODE);
    archive.location(0, "main", 0);
    archive.region(0, "work");
    archive.finish();
    const testing::Outcome outcome = testing::run({program, archive.anchor(), "-o", scratch / "p.cubex"});
    CHECK(outcome.status == 1);
    CHECK(has(outcome.err, "is not sound: main (0): 1 regions left without being entered"));
    CHECK_FALSE(fs::exists(scratch / "p.cubex"));
}

TEST_CASE("a profile of another run is told from the archive's own")
{
    const testing::Scratch scratch;
    const std::string spec = "ranks 2\nregion train {\nforward 10ms\nbackward 20ms\n}\n";
    const std::string anchor = make(scratch, "run", spec);
    const auto against = [&](const std::string& name, const std::string& other) {
        profile_of(scratch, {make(scratch, name, other)});
        return testing::run({program, anchor, "--against", scratch / "p.cubex"});
    };
    CHECK(against("same", spec).status == 0);

    const testing::Outcome slower =
        against("slower", "ranks 2\nregion train {\nforward 10ms\nbackward 20ms, 21ms on 1\n}\n");
    CHECK(slower.status == 3);
    CHECK(has(slower.out, "visits      equal\n"));
    CHECK(has(slower.out, "largest relative difference 0.0476 (backward on MPI Rank 1, "));

    const testing::Outcome more =
        against("more", "ranks 2\nregion train {\nforward 10ms\nforward 0ms\nbackward 20ms\n}\n");
    CHECK(more.status == 3);
    CHECK(has(more.out, "visits      largest relative difference 0.5 (forward on "));
    CHECK(has(more.out, "call paths  3 in both"));

    const testing::Outcome other = against("other", "ranks 1\nregion train {\nforward 10ms\nupdate 20ms\n}\n");
    CHECK(other.status == 3);
    CHECK(has(other.out, "call paths  2 in both, 1 only in the archive, 1 only in the profile\n"));
    CHECK(has(other.out, "locations   1 in both, 1 only in the archive, 0 only in the profile\n"));
}

TEST_CASE("a disk that is full and a place that is none leave no file")
{
    const testing::Scratch scratch;
    const std::string anchor = make(scratch, "run", "ranks 2\nwork 1ms\n");
    const testing::Outcome nowhere = testing::run({program, anchor, "-o", scratch / "no/p.cubex"});
    CHECK(nowhere.status == 1);
    CHECK(has(nowhere.err, "trace-cube: cannot create "));
    CHECK(has(nowhere.err, "No such file or directory\n"));

    if (::geteuid() != 0) return testing::skip("only root may mount");
    fs::create_directory(scratch / "disk");
    const std::string disk = scratch / "disk";
    const std::string script = "mount -t tmpfs -o size=4k tmpfs " + disk + " || exit 77\n" + program + " " + anchor +
                               " -o " + disk + "/p.cubex; code=$?; ls -A " + disk + "; exit $code";
    const testing::Outcome full = testing::run({"unshare", "-m", "sh", "-c", script});
    if (full.status == 77) return testing::skip("mounting is not allowed here");
    CHECK(full.status == 1);
    CHECK(has(full.err, "No space left on device\n"));
    CHECK(full.out.empty());  // no file is left on the disk
}

TEST_CASE("wrong usage and wrong files are reported")
{
    const testing::Scratch scratch;
    const std::string anchor = make(scratch, "run", "ranks 1\nwork 1ms\n");
    const auto usage = [&](std::vector<std::string> words, const std::string& why) {
        words.insert(words.begin(), program);
        const testing::Outcome outcome = testing::run(words);
        CHECK(outcome.status == 2);
        CHECK(has(outcome.err, why));
    };
    usage({anchor, "-o", anchor}, anchor + " is already there");
    usage({anchor}, "give --out FILE for the profile");
    usage({anchor, anchor, anchor, "-o", "x"}, "takes X.otf2 [NOISY.otf2], not 3 words");
    usage({anchor, anchor, "-o", "x", "--against", "y"}, "--against takes one archive");
    const testing::Outcome no_archive = testing::run({program, scratch / "none.otf2", "-o", scratch / "p.cubex"});
    CHECK(no_archive.status == 1);
    CHECK(has(no_archive.err, "trace-cube: cannot read trace "));
    const testing::Outcome no_profile = testing::run({program, anchor, "--against", anchor});
    CHECK(no_profile.status == 1);
    CHECK(has(no_profile.err, "trace-cube: cannot read "));
    CHECK(has(no_profile.err, "not a tar archive"));
}

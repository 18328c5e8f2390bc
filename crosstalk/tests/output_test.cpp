// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/sources/output.hpp"

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/programs/child.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

using crosstalk::LineKinds;
using crosstalk::LineTimes;
using testing::Scratch;

namespace {

LineTimes times_of(LineKinds kinds, const std::vector<std::string>& lines, std::size_t least = 1)
{
    std::int64_t at_ns = 0;
    for (const std::string& line : lines) kinds.add(line, at_ns += 10);
    const auto kind = kinds.most_frequent(least);
    return kind ? kind->at_ns : LineTimes{};
}

}  // namespace

TEST_CASE("lines that differ only in their numbers are of one kind and the largest kind counts")
{
    CHECK(times_of({}, {"start", "step 1: loss 2.5", "saved 1", "step 2: loss 2.25", "step 10: loss 1"}) ==
          LineTimes{20, 40, 50});
    CHECK(times_of({}, {"a", "b", "a"}, 2).empty());  // printed at the same time, as by several ranks
    CHECK(times_of({}, {"1", "2", "3"}, 4).empty());
}

TEST_CASE("columns, signs and exponents are part of a number")
{
    const auto are_alike = [](const std::vector<std::string>& lines) {
        return times_of({}, lines).size() == lines.size();
    };
    CHECK(are_alike({"Epoch: [0][  10/5005]\tLoss 6.9e+00", "Epoch: [0][1000/5005]\tLoss -6.91e-05"}));
    CHECK(are_alike({"       1   1.5e-05    -30.1", "     100        12.     3.25", "  100000  0.31D+02    +.5"}));
    CHECK(are_alike({"loss 0.31", "loss nan", "loss -inf"}));
    CHECK(are_alike({"  1%|\u258f         | 1/99", " 55%|\u2588\u2588\u258c  | 54/99",
                     "100%|\u2588\u2588\u2588\u2588\u2588| 99/99"}));
    CHECK(!are_alike({"loss 0.31", "nano 0.31"}));
}

TEST_CASE("equal lines are steps that look alike, unless all come in groups as large")
{
    std::vector<std::string> converged;
    std::vector<std::string> of_two_ranks;
    LineTimes all;
    LineTimes first;
    for (int step = 0; step < 30; ++step) {
        converged.emplace_back(step % 3 == 0 ? "loss 0.32" : "loss 0.31");
        all.push_back(10 * (step + 1));
        of_two_ranks.insert(of_two_ranks.end(), 2, "loss " + std::to_string(step));
        first.push_back(20 * step + 10);
    }
    CHECK(times_of({}, converged) == all);
    CHECK(times_of({}, {"done 1", "done 1", "done 1"}) == LineTimes{10, 20, 30});
    CHECK(times_of({}, of_two_ranks) == first);
}

TEST_CASE("a growing bar of letters is part of no kind")
{
    const auto are_alike = [](const std::vector<std::string>& lines) {
        return times_of({}, lines).size() == lines.size();
    };
    CHECK(are_alike({"1/99 [>.....] - loss: 0.5", "50/99 [==>...] - loss: 0.4", "99/99 [=====] - loss: 0.3"}));
    CHECK(are_alike({"  1%|1         | 1/99", " 56%|#####6    | 55/99", "100%|##########| 99/99"}));
    CHECK(are_alike({"step 1 [##        ]", "step 2 [####      ]", "step 3 [----------]"}));
    CHECK(!are_alike({"step 1 [train]", "step 2 [test]"}));
}

TEST_CASE("lines without a number are steps where none has numbers")
{
    LineKinds constant;
    for (std::int64_t step = 0; step < 5; ++step)
        for (int rank = 0; rank < 3; ++rank) constant.add("done", 20'000'000 * step + 1000 * rank);
    CHECK(constant.most_frequent(2)->at_ns == LineTimes{0, 20'000'000, 40'000'000, 60'000'000, 80'000'000});
    CHECK(constant.most() == 5);
    constant.add("step 1", 1);
    CHECK(constant.most_frequent(2)->at_ns.size() == 5);
    constant.add("step 2", 2);
    CHECK(constant.most_frequent(2)->at_ns == LineTimes{1, 2});
    CHECK(constant.most() == 2);
}

TEST_CASE("a line that other ranks print too counts once")
{
    CHECK(times_of(LineKinds{"step ([0-9]+)"}, {"rank 0 step 1", "rank 1 step 1", "rank 1 step 2", "rank 0 step 2"}) ==
          LineTimes{10, 30});
}

TEST_CASE("an expression without a group counts every line that it finds something in")
{
    CHECK(times_of(LineKinds{"done"}, {"done", "not yet", "done", "done"}) == LineTimes{10, 30, 40});
    CHECK_THROWS_AS(LineKinds{"step ("}, base::UsageError);
}

TEST_CASE("a job prints line by line, is logged byte by byte, and progress bars are lines")
{
    const Scratch scratch;
    crosstalk::Output output{scratch / "log", LineKinds{}};
    const std::string terminal = output.terminal();
    base::Child child{{.words = {"sh", "-c", "test -t 1 && printf 'step 1\\rstep 2\\rstep 3\\nstep 4'"},
                       .output = terminal,
                       .errors = terminal}};
    CHECK(child.wait() == 0);
    const auto kind = output.finish().most_frequent(3);
    REQUIRE(kind);
    CHECK(kind->name == "step #");
    CHECK(kind->at_ns.size() == 3);  // the fourth line has no end
    CHECK(base::read_whole(scratch / "log") == "step 1\rstep 2\rstep 3\nstep 4");
}

TEST_CASE("a step lasts from one line to the next")
{
    const Scratch scratch;
    crosstalk::write_steps(scratch / "steps.csv", {100, 130, 190});
    CHECK(base::read_whole(scratch / "steps.csv") == "rank,step,begin_ns,end_ns\n0,0,100,130\n0,1,130,190\n");
}

TEST_CASE("lines that were read at once are steps of their own, evenly since the line before")
{
    const Scratch scratch;
    crosstalk::write_steps(scratch / "steps.csv", {100, 130, 130, 130, 190, 190});
    CHECK(base::read_whole(scratch / "steps.csv") ==
          "rank,step,begin_ns,end_ns\n0,0,100,110\n0,1,110,120\n0,2,120,130\n0,3,130,160\n0,4,160,190\n");
    CHECK(crosstalk::spread({7, 7, 9}) == LineTimes{7, 7, 9});  // the time of the previous line is unknown
    CHECK(crosstalk::spread({}).empty());
}

TEST_CASE("an expression is one of POSIX that knows digits by their letter")
{
    const std::vector<std::string> lines{"step 1: loss 2", "step 2: loss 1", "epoch 3", "step 2: loss 0"};
    CHECK(times_of(LineKinds{R"(step (\d+))"}, lines) == LineTimes{10, 20});
    CHECK(times_of(LineKinds{R"(^[\w]+ [\d]+$)"}, lines) == LineTimes{30});
    CHECK(times_of(LineKinds{R"(step\s+[0-9]+:)"}, lines) == LineTimes{10, 20, 40});
    CHECK(times_of(LineKinds{"[]]|^epoch"}, lines) == LineTimes{30});
    for (const char* wrong : {"(", "step (?:[0-9]+)", "step.*?([0-9])", R"([\]a])", "["})
        CHECK_THROWS_AS(LineKinds{wrong}, base::UsageError);
}

TEST_CASE("an expression or a line of any length takes no stack")
{
    CHECK_THROWS_AS(LineKinds{std::string(100'000, 'a')}, base::UsageError);
    CHECK(times_of(LineKinds{"(a*)*b"}, {std::string(4096, 'a'), std::string(4096, 'a') + "b"}) == LineTimes{20});
}

// SPDX-License-Identifier: Apache-2.0
// The planner against published and hand-calculated numbers, and the program ddl-code.
#include "ddl-workloads/codes/planning/plan.hpp"

#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace {

const ddl::PlannedScheme& scheme(const std::vector<ddl::PlannedScheme>& schemes, const std::string& text)
{
    const auto found = std::ranges::find(schemes, text, &ddl::PlannedScheme::scheme);
    REQUIRE_MESSAGE(found != schemes.end(), text);
    return *found;
}

constexpr auto copies = "replication[copies=2,grid=5x4]";
constexpr auto codenet = "codenet[grid=5x4,parity=2x2]";

testing::Outcome ddl_code(std::vector<std::string> words)
{
    words.insert(words.begin(), CROSSTALK_BIN "/ddl-code");
    return testing::run(words);
}

}  // namespace

TEST_CASE("at 3e-4 errors two copies roll back in 10 % of all iterations and codenet in 0.2 %")
{
    ddl::PlanRequest request;
    request.simulate = 0;
    const std::vector<ddl::PlannedScheme> schemes = ddl::plan(request);
    const ddl::PlannedScheme& two = scheme(schemes, copies);
    const ddl::PlannedScheme& coded = scheme(schemes, codenet);
    CHECK(*two.rollback == doctest::Approx(0.1024).epsilon(0.001));
    CHECK(*coded.rollback == doctest::Approx(0.0017).epsilon(0.01));
    CHECK(*two.executed_5 == doctest::Approx(7.0).epsilon(0.01));
    CHECK(*two.executed_10 == doctest::Approx(19.0).epsilon(0.01));
    CHECK(*two.executed_20 == doctest::Approx(75.0).epsilon(0.01));
    CHECK(*two.executed_50 == doctest::Approx(2154.0).epsilon(0.01));
    CHECK(*coded.executed_5 == doctest::Approx(5.03).epsilon(0.001));
    CHECK(*coded.executed_10 == doctest::Approx(10.1).epsilon(0.001));
    CHECK(*coded.executed_20 == doctest::Approx(20.4).epsilon(0.002));
    CHECK(*coded.executed_50 == doctest::Approx(52.2).epsilon(0.001));
    CHECK_FALSE(scheme(schemes, "uncoded[grid=5x4]").rollback);
    CHECK(*scheme(schemes, "uncoded[grid=5x4]").unnoticed == doctest::Approx(0.0526).epsilon(0.001));
}

TEST_CASE("at 1 % late ranks a product of codenet waits a hundredth as often as an uncoded one")
{
    ddl::PlanRequest request;
    request.simulate = 0;
    const std::vector<ddl::PlannedScheme> schemes = ddl::plan(request);
    CHECK(*scheme(schemes, "uncoded[grid=5x4]").wait_forward == doctest::Approx(0.182).epsilon(0.003));
    CHECK(*scheme(schemes, "uncoded[grid=5x8]").wait_forward == doctest::Approx(0.331).epsilon(0.003));
    CHECK_FALSE(scheme(schemes, "uncoded[grid=5x4]").wait_forward_spare);
    CHECK(*scheme(schemes, copies).wait_forward == doctest::Approx(0.0077).epsilon(0.01));
    CHECK(*scheme(schemes, codenet).wait_forward == doctest::Approx(0.0019).epsilon(0.03));
    CHECK(*scheme(schemes, codenet).wait_forward_spare == doctest::Approx(0.0286).epsilon(0.003));
}

TEST_CASE("the simulated decoder rolls back as often as copies must and less often than codenet's bound")
{
    ddl::PlanRequest request;
    request.simulate = 50'000;
    const std::vector<ddl::PlannedScheme> schemes = ddl::plan(request);
    const ddl::PlannedScheme& two = scheme(schemes, copies);
    CHECK(*two.simulated_low < 0.1024 + 0.003);
    CHECK(*two.simulated_high > 0.1024 - 0.003);
    const ddl::PlannedScheme& coded = scheme(schemes, codenet);
    CHECK(*coded.rollback_simulated > 0.0);
    CHECK(*coded.simulated_high < *coded.rollback);
}

TEST_CASE("memory and words count blocks and segments")
{
    ddl::PlanRequest request{.layers = 1, .width = 20, .batch = 1, .simulate = 0};
    const std::vector<ddl::PlannedScheme> schemes = ddl::plan(request);
    // Blocks of 4 x 5 on 38 ranks. Forward 7 symbols of 4: 3 sums and 37 receivers; backward 6 of 5: 4 sums.
    CHECK(scheme(schemes, codenet).memory_bytes == 38 * 4 * 5 * 4);
    CHECK(scheme(schemes, codenet).words_sent == 7 * 4 * (3 + 37) + 6 * 5 * (4 + 37));
    CHECK(scheme(schemes, "uncoded[grid=5x4]").memory_bytes == 20 * 20 * 4);
}

TEST_CASE("the best interval between checkpoints costs least")
{
    ddl::PlanRequest request;
    request.simulate = 0;
    request.late = 0.0;
    for (const ddl::PlannedScheme& one : ddl::plan(request)) {
        if (!one.interval || one.scheme.starts_with("spare")) continue;
        CAPTURE(one.scheme);
        const auto time = [&](std::int64_t kept) {
            const double executed = ddl::executed_iterations(*one.rollback, static_cast<double>(kept));
            return (executed * (0.08 + *one.rollback * 0.4) + 0.4) / static_cast<double>(kept) * 1e9;
        };
        CHECK(*one.kept_iteration_ns == doctest::Approx(time(*one.interval)));
        for (std::int64_t kept = 1; kept < 2'000; ++kept) CHECK_FALSE(time(kept) < time(*one.interval) * (1.0 - 1e-9));
    }
}

TEST_CASE("without errors nothing is rolled back")
{
    ddl::PlanRequest request;
    request.simulate = 0;
    request.error_rate = 0.0;
    for (const ddl::PlannedScheme& one : ddl::plan(request)) {
        CAPTURE(one.scheme);
        CHECK(one.rollback.value_or(0.0) == 0.0);
        CHECK_FALSE(std::signbit(one.rollback.value_or(0.0)));
        CHECK_FALSE(std::signbit(one.unnoticed.value_or(0.0)));
    }
}

TEST_CASE("SPARe plans the redundancy, the restarts and the checkpoints of its paper")
{
    // floor(log2 600 + 0.833) = 10
    const ddl::Spare plan = ddl::spare(600, 300.0, 60.0, 3600.0);
    CHECK(plan.redundancy == 10);
    CHECK(plan.endured == doctest::Approx(300.7).epsilon(0.005));  // Gamma(0.1)/10 600^0.9 = 0.951351 * 316.09
    // T_s + sqrt(T_s^2 + 2 T_s (T_f + T_r)) with T_f = 300.7 * 300 s
    CHECK(plan.interval_s ==
          doctest::Approx(60.0 + std::sqrt(3600.0 + 120.0 * (300.7 * 300.0 + 3600.0))).epsilon(0.005));
    CHECK(plan.computation > 1.0);
    CHECK(plan.computation < 2.0);
    CHECK(ddl::spare(1, 300.0, 60.0, 3600.0).endured == doctest::Approx(1.0));
}

TEST_CASE("ddl-code plan writes its table once and info describes a code")
{
    const testing::Scratch scratch;
    const std::string table = scratch / "plan.csv";
    const testing::Outcome planned = ddl_code({"plan", "--simulate", "0", "--out", table});
    CHECK(planned.err == "");
    CHECK(planned.status == 0);
    CHECK(planned.out.find("codenet[grid=5x4,parity=2x2]") != std::string::npos);
    const base::CsvTable read{table};
    CHECK(read.columns() == base::names_of(ddl::plan_columns()));
    CHECK(read.rows() == 7);
    CHECK(ddl_code({"plan", "--simulate", "0", "--out", table}).status != 0);
    CHECK(ddl_code({"plan", "--late", "1%"}).status == 2);
    CHECK(ddl_code({"plan", "--error-rate", "0.9"}).status == 2);
    CHECK(ddl_code({"plan", "--grid", "30x4", "--width", "20"}).status == 2);

    const testing::Outcome coded = ddl_code({"info", "codenet[grid=5x4,parity=2x2]"});
    CHECK(coded.status == 0);
    CHECK(coded.out.find("ranks   38\n") != std::string::npos);
    const testing::Outcome polydot = ddl_code({"info", "polydot[t=5,s=4,columns=1]"});
    CHECK(polydot.status == 0);
    CHECK(polydot.out.find("1.2e+13") != std::string::npos);
    CHECK(polydot.out.find("refused") != std::string::npos);
    const testing::Outcome few = ddl_code({"info", "polydot[t=1,s=2]", "--ranks", "2"});
    CHECK(few.status == 2);
    CHECK(few.out == "");
    CHECK(few.err.find("takes 3 ranks or more, not 2") != std::string::npos);
    const testing::Outcome many = ddl_code({"info", "polydot[t=100,s=100]"});
    CHECK(many.status == 2);
    CHECK(many.err.find("takes 1000099 ranks: more than 1000") != std::string::npos);
    const testing::Outcome wide = ddl_code({"plan", "--grid", "100x100", "--parity", "1x1"});
    CHECK(wide.status == 2);
    CHECK(wide.err.find("the columns of --grid must be at most 50, not 100") != std::string::npos);
}

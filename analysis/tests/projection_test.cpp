// SPDX-License-Identifier: Apache-2.0
// Projections to many ranks, against plain simulations that share no code with them.
#include "analysis/predict/projection.hpp"

#include "analysis/predict/projected.hpp"
#include "base/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace {

using analysis::OwnTimes;

// The parts of a delay that are common to a node, and of each rank, in ms.
struct World {
    const char* name;
    std::function<double(std::mt19937_64&)> node;
    std::function<double(std::mt19937_64&)> rank;
};

const std::vector<World> worlds{
    {"normal",
     [](auto& engine) {
         return std::normal_distribution{0.0, 1.0}(engine);
     },
     [](auto& engine) {
         return std::normal_distribution{0.0, 2.0}(engine);
     }},
    {"exponential", [](auto& engine) { return std::exponential_distribution{0.5}(engine); },
     [](auto& engine) { return std::exponential_distribution{0.4}(engine); }},
    {"lognormal",
     [](auto& engine) {
         return 0.5 * std::lognormal_distribution{0.5, 0.8}(engine);
     },
     [](auto& engine) {
         return std::lognormal_distribution{0.5, 0.8}(engine);
     }},
    {"rare interrupts",
     [](auto& engine) {
         return std::normal_distribution{0.0, 0.3}(engine);
     },
     [](auto& engine) {
         const double usual = std::normal_distribution{0.0, 0.5}(engine);
         return std::bernoulli_distribution{0.02}(engine) ? usual + std::uniform_real_distribution{0.0, 20.0}(engine)
                                                          : usual;
     }},
};

OwnTimes measured(const World& world, int nodes, int ranks_a_node, int steps, std::mt19937_64& engine)
{
    OwnTimes times{Eigen::MatrixXd(steps, nodes * ranks_a_node),
                   Eigen::VectorXd::Constant(steps, 5.0),
                   Eigen::VectorXd::Ones(steps),
                   {}};
    for (int node = 0; node < nodes; ++node)
        for (int rank = 0; rank < ranks_a_node; ++rank) times.node.push_back(static_cast<std::size_t>(node));
    for (int step = 0; step < steps; ++step)
        for (int node = 0; node < nodes; ++node) {
            const double shared = 40.0 + world.node(engine);
            for (int rank = 0; rank < ranks_a_node; ++rank)
                times.own_ms(step, node * ranks_a_node + rank) = shared + world.rank(engine);
        }
    return times;
}

struct Simulated {
    double last = 0.0;  // mean time of the slowest rank
    double mean = 0.0;
};

Simulated simulated(const World& world, int nodes, int ranks_a_node, std::mt19937_64& engine)
{
    constexpr int steps = 20'000;
    Simulated all;
    for (int step = 0; step < steps; ++step) {
        double last = 0.0;
        for (int node = 0; node < nodes; ++node) {
            const double shared = 40.0 + world.node(engine);
            for (int rank = 0; rank < ranks_a_node; ++rank) {
                const double own = shared + world.rank(engine);
                last = std::max(last, own);
                all.mean += own / steps / nodes / ranks_a_node;
            }
        }
        all.last += last / steps;
    }
    return all;
}

}  // namespace

TEST_CASE("a projection to 64 ranks is within 10 % of simulating them")
{
    std::mt19937_64 engine{11};
    for (const World& world : worlds) {
        CAPTURE(world.name);
        const Simulated truth = simulated(world, 16, 4, engine);
        for (const int nodes : {1, 2}) {
            CAPTURE(nodes);
            const analysis::ProjectedStep step = analysis::project(measured(world, nodes, 4, 2000, engine), 64, 4);
            CHECK(step.step_ms == doctest::Approx(truth.last + 5.0).epsilon(0.1));
            CHECK(step.slack_ms == doctest::Approx(truth.last - truth.mean).epsilon(0.1));  // the projected quantity
            CHECK(!step.beyond_data);
        }
    }
}

TEST_CASE("ranks of a node that vary together make a step less slow than ranks that do not")
{
    std::mt19937_64 engine{12};
    const World together{"node", [](auto& e) { return std::exponential_distribution{0.5}(e); },
                         [](auto&) { return 0.0; }};
    const World apart{"rank", [](auto&) { return 0.0; }, [](auto& e) { return std::exponential_distribution{0.5}(e); }};
    const OwnTimes alike = measured(together, 1, 4, 4000, engine);
    const OwnTimes unlike = measured(apart, 1, 4, 4000, engine);
    CHECK(analysis::correlation_inside_nodes(alike) == doctest::Approx(1.0).epsilon(0.01));
    CHECK(analysis::correlation_inside_nodes(unlike) < 0.05);
    // Largest of n exponential delays of 2 ms: 2 times the n-th harmonic number. 16 nodes: 6.76 ms; 64 ranks: 9.49 ms.
    CHECK(analysis::project(alike, 64, 4).slack_ms == doctest::Approx(2.0 * 3.3807 - 2.0).epsilon(0.1));
    CHECK(analysis::project(unlike, 64, 4).slack_ms == doctest::Approx(2.0 * 4.7439 - 2.0).epsilon(0.1));
}

TEST_CASE("on the ranks that were measured a projection is what was measured")
{
    std::mt19937_64 engine{13};
    const OwnTimes times = measured(worlds[1], 1, 4, 1000, engine);
    const double last = times.own_ms.rowwise().maxCoeff().mean();
    CHECK(analysis::project(times, 4, 4).step_ms == doctest::Approx(last + 5.0).epsilon(0.01));
    CHECK(analysis::project(times, 1, 4).step_ms == doctest::Approx(times.own_ms.mean() + 5.0).epsilon(0.005));
    double pairs = 0.0;  // sum over every choice of two ranks
    for (int a = 0; a < 4; ++a)
        for (int b = 0; b < a; ++b) pairs += times.own_ms.col(a).cwiseMax(times.own_ms.col(b)).mean() / 6.0;
    CHECK(analysis::project(times, 2, 4).step_ms == doctest::Approx(pairs + 5.0).epsilon(0.005));
}

TEST_CASE("with more ranks a node than were measured a projection is near")
{
    std::mt19937_64 engine{14};
    for (const std::size_t world : {0U, 1U, 3U}) {
        CAPTURE(worlds[world].name);
        const Simulated truth = simulated(worlds[world], 1, 4, engine);
        const analysis::ProjectedStep step = analysis::project(measured(worlds[world], 1, 2, 3000, engine), 4, 4);
        CHECK(step.slack_ms == doctest::Approx(truth.last - truth.mean).epsilon(0.1));
    }
}

TEST_CASE("what varies alike on all nodes is waited for by nobody")
{
    // Two nodes that vary only together: on 1,024 nodes a step takes no longer.
    OwnTimes times{Eigen::MatrixXd(400, 2), Eigen::VectorXd::Zero(400), Eigen::VectorXd::Ones(400), {0, 1}};
    for (int step = 0; step < 400; ++step)
        for (int node = 0; node < 2; ++node) times.own_ms(step, node) = 40.0 + 10.0 * std::sin(step / 20.0);
    CHECK(analysis::project(times, 1024, 1).slack_ms < 0.1);
}

TEST_CASE("of two independent ranks a delay of one is absorbed where the other is slower")
{
    // Each rank takes 40 or 50 ms at random. A delay of 5 ms, the standard deviation, is fully visible except where the
    // rank takes 40 ms and the other one 50 ms.
    OwnTimes times{Eigen::MatrixXd(400, 2), Eigen::VectorXd::Zero(400), Eigen::VectorXd::Ones(400), {0, 1}};
    std::mt19937_64 engine{15};
    for (int step = 0; step < 400; ++step)
        for (int rank = 0; rank < 2; ++rank)
            times.own_ms(step, rank) = std::bernoulli_distribution{0.5}(engine) ? 50.0 : 40.0;
    const analysis::ProjectedStep two = analysis::project(times, 2, 1);
    CHECK(two.absorbed_percent == doctest::Approx(25.0).epsilon(0.2));
    CHECK(analysis::project(times, 1, 1).absorbed_percent == 0.0);
}

TEST_CASE("too few steps are no ground for a projection")
{
    std::mt19937_64 engine{16};
    CHECK_THROWS_AS(static_cast<void>(analysis::project(measured(worlds[0], 1, 2, 20, engine), 4, 2)), base::Error);
}

TEST_CASE("numbers of ranks are read as lists and as ranges of powers of two")
{
    CHECK(analysis::parse_ranks("64") == std::vector{64});
    CHECK(analysis::parse_ranks("1..8") == std::vector{1, 2, 4, 8});
    CHECK(analysis::parse_ranks("3..20,512") == std::vector{3, 4, 8, 16, 20, 512});
    for (const char* wrong : {"", "0", "8..4", "many", "1..99999999999"})
        CHECK_THROWS_AS(static_cast<void>(analysis::parse_ranks(wrong)), base::UsageError);
}

namespace {

// Two ranks on a node under quiet and mem, 800 steps of each; block(step) is the block of a step.
analysis::MeasuredTimes measured_in_blocks(const std::function<int(int step)>& block, double slower)
{
    std::mt19937_64 engine{23};
    analysis::MeasuredTimes times{.treatments = {}, .ranks = 2, .nodes = 1, .ranks_per_node = 2, .notes = {}};
    for (const char* name : {"quiet", "mem"}) {
        analysis::TreatedTimes& treated = times.treatments.emplace_back();
        treated.treatment = name;
        treated.times = measured(worlds.front(), 1, 2, 800, engine);
        for (int step = 0; step < 800; ++step) {
            treated.block.push_back(block(step));
            if (block(step) == 1) treated.times.own_ms.row(step).array() += slower;
        }
    }
    return times;
}

}  // namespace

TEST_CASE("a single block gives a projection without an interval, and the reason")
{
    const auto rows = analysis::projected(measured_in_blocks([](int) { return 0; }, 0.0), {4, 64}, 2);
    REQUIRE(rows.size() == 4);
    for (const analysis::ProjectedRow& row : rows) {
        CHECK(row.step_ms > 40.0);
        CHECK_FALSE(analysis::step_interval(row, 0.95));
        CHECK_FALSE(analysis::slowdown_interval(row, 0.95));
        CHECK(row.no_interval ==
              "all steps under quiet lie in one group of neighbouring blocks, but an interval needs two groups");
    }
    // The other block has 10 of the 800 steps, too few to project from alone.
    const auto uneven =
        analysis::projected(measured_in_blocks([](int step) { return step < 790 ? 0 : 1; }, 0.0), {4}, 2);
    CHECK(uneven.at(0).no_interval ==
          "without one group of neighbouring blocks, 10 steps under quiet are left, fewer than the required 40");
}

TEST_CASE("no projected time is negative, however wide the interval of two blocks is")
{
    // Half of the steps take 200 ms more: steps of one block take about 50 ms, of the other 250 ms. The standard error
    // of the logarithm is about 0.8, and t(0.975, 1) = 12.7. On the scale of times it would be 100 ms, and the bound
    // 150 - 1270 ms.
    const auto rows =
        analysis::projected(measured_in_blocks([](int step) { return step < 400 ? 0 : 1; }, 200.0), {4}, 2);
    REQUIRE(rows.size() == 2);
    for (const analysis::ProjectedRow& row : rows) {
        CHECK(row.at.slack_ms >= 0.0);
        const auto step = analysis::step_interval(row, 0.95);
        REQUIRE(step);
        CHECK(step->low > 0.0);
        CHECK(step->low < 50.0);
        CHECK(step->high > 250.0);
        // Symmetric around the step on a logarithmic scale.
        CHECK(step->low * step->high == doctest::Approx(row.step_ms * row.step_ms));
        if (const auto slowdown = analysis::slowdown_interval(row, 0.95)) CHECK(slowdown->low > -100.0);
    }
}

TEST_CASE("intervals of projected steps and slowdowns hold the truth of simulated ranks")
{
    // Noise adds an exponential delay of 3 ms to each rank's own work; 20 blocks of 40 steps each.
    std::mt19937_64 engine{17};
    const World calm{"calm", [](auto&) { return 0.0; }, [](auto& e) { return std::normal_distribution{0.0, 1.0}(e); }};
    const World noisy{"noisy", [](auto&) { return 0.0; },
                      [](auto& e) {
                          return std::normal_distribution{0.0, 1.0}(e) + std::exponential_distribution{1.0 / 3.0}(e);
                      }};
    const double quiet = simulated(calm, 8, 2, engine).last + 5.0;
    const double slow = simulated(noisy, 8, 2, engine).last + 5.0;
    int held = 0;
    constexpr int cases = 60;
    for (int c = 0; c < cases; ++c) {
        analysis::MeasuredTimes times{.treatments = {}, .ranks = 2, .nodes = 1, .ranks_per_node = 2, .notes = {}};
        for (const World* world : {&calm, &noisy}) {
            analysis::TreatedTimes& treated = times.treatments.emplace_back();
            treated.treatment = world->name;
            treated.times = measured(*world, 1, 2, 800, engine);
            for (int step = 0; step < 800; ++step) treated.block.push_back(step / 40);
        }
        const auto rows = analysis::projected(times, {16}, 2);
        REQUIRE(rows.size() == 2);
        REQUIRE(rows[1].slowdown_percent);
        held += analysis::slowdown_interval(rows[1], 0.95)->contains(100.0 * (slow / quiet - 1.0)) ? 1 : 0;
        CHECK(*rows[1].slowdown_percent == doctest::Approx(100.0 * (slow / quiet - 1.0)).epsilon(0.2));
        // The amplification is 1.5 to 2.5 times the 3 ms of a single rank.
        REQUIRE(rows[1].amplification);
        CHECK(*rows[1].amplification == doctest::Approx((slow - quiet) / 3.0).epsilon(0.2));
    }
    CHECK(held >= 50);  // 57 of 60 expected
}

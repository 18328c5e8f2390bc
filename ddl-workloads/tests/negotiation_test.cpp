// SPDX-License-Identifier: Apache-2.0
// Negotiation between many ranks in one process; the test itself carries out AND, gather and broadcast between them.
#include "ddl-workloads/strategies/negotiation.hpp"

#include "ddl-workloads/strategies/fusion.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <random>

namespace {

using ddl::FusedRange;
using ddl::TensorRequest;
using Words = std::vector<std::string>;

class Ranks {
 public:
    explicit Ranks(int ranks, std::size_t cache = 1024, std::int64_t stall_ns = 0)
    {
        for (int rank = 0; rank < ranks; ++rank)
            ranks_.emplace_back(
                ddl::NegotiationPlan{.rank = rank, .ranks = ranks, .cache = cache, .stall_ns = stall_ns});
    }

    ddl::Negotiator& operator[](std::size_t rank) { return ranks_[rank]; }
    std::size_t count() const { return ranks_.size(); }

    void ask(std::size_t rank, const std::string& name, std::int64_t floats = 1)
    {
        ranks_[rank].ask({name, floats}, now_ns);
    }

    // Runs one round and returns what was agreed, which must be the same on all ranks.
    std::vector<ddl::TensorResponse> round(const std::vector<bool>& calls = {})
    {
        std::vector<std::uint64_t> combined;
        for (std::size_t rank = 0; rank < count(); ++rank) {
            const auto offer = ranks_[rank].offer(!calls.empty() && calls[rank], now_ns);
            if (combined.empty()) combined = offer;
            REQUIRE(offer.size() == combined.size());
            for (std::size_t word = 0; word < offer.size(); ++word) combined[word] &= offer[word];
        }
        for (ddl::Negotiator& rank : ranks_) rank.agree(combined);
        const bool slow = ranks_.front().asks_coordinator();
        Words questions;
        for (ddl::Negotiator& rank : ranks_) {
            REQUIRE(rank.asks_coordinator() == slow);
            if (slow) questions.push_back(rank.questions(now_ns));
        }
        if (slow) {
            ++slow_rounds;
            const std::string answer = ranks_.front().answer(questions, now_ns);
            for (ddl::Negotiator& rank : ranks_) rank.learn(answer);
        }
        const std::vector<ddl::TensorResponse> agreed = ranks_.front().take_agreed();
        for (std::size_t rank = 1; rank < count(); ++rank) REQUIRE(ranks_[rank].take_agreed() == agreed);
        return agreed;
    }

    Words names_of_round()
    {
        Words names;
        for (const ddl::TensorResponse& response : round()) names.push_back(response.tensor.name);
        return names;
    }

    std::int64_t now_ns = 0;
    int slow_rounds = 0;

 private:
    std::vector<ddl::Negotiator> ranks_;
};

// Runs steps in which each rank becomes ready for the tensors in a different order, a few in each round.
void train_in_random_orders(Ranks& ranks, const Words& tensors, int steps, unsigned seed)
{
    std::mt19937 random{seed};
    for (int step = 0; step < steps; ++step) {
        std::vector<std::deque<std::string>> to_come(ranks.count());
        for (auto& mine : to_come) {
            mine.assign(tensors.begin(), tensors.end());
            std::shuffle(mine.begin(), mine.end(), random);
        }
        Words agreed;
        for (int round = 0; agreed.size() < tensors.size(); ++round) {
            REQUIRE(round < 1000);
            for (std::size_t rank = 0; rank < ranks.count(); ++rank) {
                for (auto more = random() % 4; more > 0 && !to_come[rank].empty(); --more) {
                    ranks.ask(rank, to_come[rank].front());
                    to_come[rank].pop_front();
                }
            }
            for (const std::string& name : ranks.names_of_round()) {
                for (const auto& mine : to_come) REQUIRE(std::find(mine.begin(), mine.end(), name) == mine.end());
                agreed.push_back(name);
            }
        }
        Words sorted = agreed;
        std::sort(sorted.begin(), sorted.end());
        REQUIRE(sorted == tensors);
        CHECK(ranks.round().empty());
    }
}

Words some_tensors(int count)
{
    Words names;
    for (int i = 0; i < count; ++i) names.push_back("tensor " + std::to_string(100 + i));
    return names;
}

}  // namespace

TEST_CASE("ranks in random orders agree on each tensor once and only when all have it ready")
{
    for (const std::size_t cache : {0U, 1U, 7U, 20U, 1024U})
        for (const int count : {1, 2, 5, 16}) {
            CAPTURE(cache);
            CAPTURE(count);
            Ranks ranks{count, cache};
            train_in_random_orders(ranks, some_tensors(70), 2, 11U * static_cast<unsigned>(count));
        }
}

TEST_CASE("what the cache holds needs no coordinator")
{
    Ranks ranks{4};
    const Words tensors = some_tensors(130);  // needs three words of bits
    train_in_random_orders(ranks, tensors, 1, 1);
    CHECK(ranks.slow_rounds > 0);
    ranks.slow_rounds = 0;
    train_in_random_orders(ranks, tensors, 5, 2);
    CHECK(ranks.slow_rounds == 0);
}

TEST_CASE("agreed tensors come in the order of the cache whatever the order of the ranks")
{
    Ranks ranks{2};
    for (const char* name : {"a", "b", "c"}) ranks.ask(0, name);
    for (const char* name : {"c", "a", "b"}) ranks.ask(1, name);
    const Words first = ranks.names_of_round();
    CHECK(first == Words{"c", "a", "b"});  // the order in which the last rank completed them
    for (const char* name : {"b", "c"}) ranks.ask(0, name);
    for (const char* name : {"c", "a", "b"}) ranks.ask(1, name);
    CHECK(ranks.names_of_round() == Words{"c", "b"});
    CHECK(ranks.names_of_round().empty());
    ranks.ask(0, "a");
    CHECK(ranks.names_of_round() == Words{"a"});
}

TEST_CASE("a tensor of another size makes all ranks forget its response")
{
    Ranks ranks{3};
    for (const std::int64_t floats : {10, 10, 20}) {
        ranks.slow_rounds = 0;
        for (std::size_t rank = 0; rank < 3; ++rank) ranks.ask(rank, "a", floats);
        const auto agreed = ranks.round();
        REQUIRE(agreed.size() == 1);
        CHECK(agreed.front() == ddl::TensorResponse{.tensor = {"a", floats}, .error = {}});
    }
    CHECK(ranks.slow_rounds == 1);
}

TEST_CASE("ranks that contradict each other all hear of it")
{
    Ranks ranks{3};
    for (std::size_t rank = 0; rank < 3; ++rank) ranks.ask(rank, "a", 10);
    ranks.round();
    for (std::size_t rank = 0; rank < 3; ++rank) ranks.ask(rank, "a", rank == 2 ? 11 : 10);
    const auto agreed = ranks.round();
    REQUIRE(agreed.size() == 1);
    CHECK(agreed.front().error == "gradient a has 10 numbers on rank 0 and 11 on rank 2");
}

TEST_CASE("a call waits until it waits on all ranks")
{
    Ranks ranks{2};
    ranks.round({true, false});
    CHECK_FALSE(ranks[0].call_waits_everywhere());
    CHECK_FALSE(ranks[1].call_waits_everywhere());
    ranks.round({true, true});
    CHECK(ranks[0].call_waits_everywhere());
    CHECK(ranks[1].call_waits_everywhere());
    ranks.round();
    CHECK_FALSE(ranks[0].call_waits_everywhere());
}

TEST_CASE("tensors that some ranks wait for are reported once with the ranks that are missing, cached or not")
{
    constexpr std::int64_t stall_ns = 1000;
    for (const bool cached : {false, true}) {
        CAPTURE(cached);
        Ranks ranks{3, 1024, stall_ns};
        if (cached) {
            for (std::size_t rank = 0; rank < 3; ++rank)
                for (const char* name : {"a", "b"}) ranks.ask(rank, name);
            CHECK(ranks.round().size() == 2);
        }
        for (const char* name : {"a", "b"}) ranks.ask(0, name);
        ranks.ask(2, "a");
        ranks.round();
        ranks.now_ns += stall_ns - 1;
        ranks.round();
        CHECK(ranks[0].stalled(ranks.now_ns).empty());
        ranks.now_ns += 1;
        ranks.round();
        const auto stalled = ranks[0].stalled(ranks.now_ns);
        REQUIRE(stalled.size() == 2);
        CHECK(stalled[0].missing == std::vector<int>{1});
        CHECK(stalled[0].names == Words{"a"});
        CHECK(stalled[1].missing == std::vector<int>{1, 2});
        CHECK(stalled[1].names == Words{"b"});
        ranks.round();
        CHECK(ranks[0].stalled(ranks.now_ns).empty());
        ranks.ask(1, "b");
        for (const std::size_t rank : {1U, 2U}) ranks.ask(rank, rank == 1 ? "a" : "b");
        CHECK(ranks.round().size() == 2);
    }
}

TEST_CASE("a warning of a stall names ranks and tensors but not too many")
{
    CHECK(ddl::stall_warning({.missing = {1}, .names = {"a", "b"}}, 60'000'000'000) ==
          "rank 1 is not ready for a, b, for which other ranks have waited 60s");
    CHECK(ddl::stall_warning({.missing = {0, 3}, .names = some_tensors(10)}, 1'000'000) ==
          "ranks 0, 3 are not ready for tensor 100, tensor 101, tensor 102, tensor 103, tensor 104, tensor 105, "
          "tensor 106, tensor 107 and 2 more tensors, for which other ranks have waited 1ms");
}

TEST_CASE("tensors are fused as far as they fit")
{
    const auto plan = [](const std::vector<std::int64_t>& bytes) { return ddl::fusion_plan(bytes, 100); };
    CHECK(plan({}).empty());
    CHECK(plan({40, 60, 1}) == std::vector<FusedRange>{{0, 2}, {2, 3}});
    CHECK(plan({200, 40, 70, 30}) == std::vector<FusedRange>{{0, 1}, {1, 2}, {2, 4}});
    CHECK(plan({0, 100, 0, 1}) == std::vector<FusedRange>{{0, 3}, {3, 4}});
    CHECK(ddl::fusion_plan(std::vector<std::int64_t>{4, 4}, 0) == std::vector<FusedRange>{{0, 1}, {1, 2}});
}

// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/exchange_thread.hpp"

#include "base/error.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <bit>
#include <chrono>
#include <numeric>
#include <set>
#include <thread>

namespace {

// Emulates a second rank that always contributes the same numbers as this one.
class TwinTransport : public ddl::Transport {
 public:
    explicit TwinTransport(std::set<std::thread::id>& threads) : threads_{threads} { called(); }
    ~TwinTransport() override { called(); }

    int rank() const override { return 0; }
    int size() const override { return 2; }
    void sum(std::span<float> values) override
    {
        called();
        for (float& value : values) value *= 2.0F;
    }
    void sum(std::span<ddl::Half> values) override
    {
        called();
        for (ddl::Half& value : values) value = ddl::to_half(2.0F * ddl::to_float(value));
    }
    void bitwise_and(std::span<std::uint64_t>) override { called(); }
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override
    {
        called();
        std::copy(mine.begin(), mine.end(), all.begin());
        std::copy(mine.begin(), mine.end(), all.begin() + static_cast<std::ptrdiff_t>(mine.size()));
    }
    void all_to_all(std::span<const std::byte> mine, std::span<const int> sent_bytes, std::span<std::byte> all,
                    std::span<const int>) override
    {
        called();
        const auto part = mine.first(static_cast<std::size_t>(sent_bytes[0]));
        std::copy(part.begin(), part.end(), all.begin());
        std::copy(part.begin(), part.end(), all.begin() + sent_bytes[0]);
    }
    void broadcast(std::span<std::byte>, int) override { called(); }
    void barrier() override { called(); }
    std::vector<std::string> gather(const std::string& text) override
    {
        called();
        return {text, text};
    }
    std::unique_ptr<otf2::Team> team() override { return std::make_unique<otf2::SoloTeam>(); }
    void record(otf2::LocationRecorder*) override {}
    void abort(int code) noexcept override { std::_Exit(code); }
    nlohmann::ordered_json describe() const override { return "twin"; }

 private:
    void called() const { threads_.insert(std::this_thread::get_id()); }
    std::set<std::thread::id>& threads_;
};

struct Twin {
    std::set<std::thread::id> threads;
    ddl::ExchangeThread exchanges{[this] { return std::make_unique<TwinTransport>(threads); }};
};

struct Heard : ddl::ExchangeObserver {
    std::vector<std::string> what;
    void exchange_begins(ddl::BucketTag tag, std::int64_t bytes) override
    {
        what.push_back(base::join("step ", tag.step, " bucket ", tag.bucket, " bytes ", bytes));
    }
    void exchange_ends() override { what.emplace_back("end"); }
};

}  // namespace

TEST_CASE("what is asked first is done first")
{
    Twin twin;
    std::vector<int> done;
    std::vector<int> asked(200);
    std::iota(asked.begin(), asked.end(), 0);
    std::future<void> last;
    for (const int number : asked)
        last = twin.exchanges.post([&done, number](ddl::Transport&) { done.push_back(number); });
    last.get();
    CHECK(done == asked);
}

TEST_CASE("one thread that is not the caller's makes all calls of a transport from its making to its end")
{
    std::set<std::thread::id> threads;
    {
        ddl::ExchangeThread exchanges{[&] { return std::make_unique<TwinTransport>(threads); }};
        std::array<float, 3> values{};
        exchanges.barrier().get();
        exchanges.average(values, {}).get();
        exchanges.gather("text").get();
    }
    CHECK(threads.size() == 1);
    CHECK_FALSE(threads.contains(std::this_thread::get_id()));
}

TEST_CASE("the mean of equal numbers is the number")
{
    Twin twin;
    std::array<float, 3> values{1.5F, -2.0F, 0.1F};
    bool reported = false;
    twin.exchanges.average(values, {}, [&](std::exception_ptr failure) { reported = !failure; }).get();
    CHECK(values == std::array<float, 3>{1.5F, -2.0F, 0.1F});
    CHECK(reported);
    CHECK(twin.exchanges.bytes_averaged() == 12);
}

TEST_CASE("NaN is one in every mean, whatever its sign and payload")
{
    Twin twin;
    for (const ddl::Precision precision : {ddl::Precision::full, ddl::Precision::half}) {
        std::array<float, 3> values{std::bit_cast<float>(0xffc00000U), std::bit_cast<float>(0x7fc12345U), 1.0F};
        twin.exchanges.average(values, {}, {}, precision).get();
        CHECK(std::bit_cast<std::uint32_t>(values[0]) == 0x7fc00000U);
        CHECK(std::bit_cast<std::uint32_t>(values[1]) == 0x7fc00000U);
        CHECK(values[2] == 1.0F);
    }
}

TEST_CASE("an all-to-all brings what each rank has for this one")
{
    struct Heard : ddl::ExchangeObserver {
        std::vector<std::int64_t> what;
        void all_to_all_begins(std::int64_t bytes) override { what.push_back(bytes); }
        void all_to_all_ends() override { what.push_back(-1); }
    } heard;
    Twin twin;
    twin.exchanges.observe(&heard);
    const std::array<float, 3> mine{1.0F, 2.0F, 3.0F};
    std::array<float, 2> all{};
    twin.exchanges.all_to_all(std::as_bytes(std::span{mine}), {4, 8}, std::as_writable_bytes(std::span{all}), {4, 4})
        .get();
    twin.exchanges.observe(nullptr);
    CHECK(all == std::array<float, 2>{1.0F, 1.0F});
    CHECK(heard.what == std::vector<std::int64_t>{12, -1});
}

TEST_CASE("the mean in half precision is rounded to it and moves half the bytes")
{
    Twin twin;
    std::array<float, 3> values{1.5F, -2.0F, 0.1F};
    twin.exchanges.average(values, {}, {}, ddl::Precision::half).get();
    CHECK(values == std::array<float, 3>{1.5F, -2.0F, 0.0999755859375F});
    CHECK(twin.exchanges.bytes_averaged() == 6);
}

TEST_CASE("numbers of a bucket are packed by shard and come back to where they were")
{
    const std::vector<ddl::ShardPart> parts{{2, 0, 1}, {0, 1, 2}, {2, 3, 1}, {1, 4, 1}};
    const std::array<float, 5> bucket{1.0F, 2.0F, 3.0F, 4.0F, 5.0F};
    CHECK(ddl::shard_lengths(parts, 4) == std::vector<int>{2, 1, 2, 0});
    std::vector<float> packed;
    ddl::pack(bucket, parts, 4, packed, [](float x) { return 10.0F * x; });
    CHECK(packed == std::vector<float>{20.0F, 30.0F, 50.0F, 10.0F, 40.0F});
    std::array<float, 5> back{};
    ddl::unpack(packed.data() + 3, parts, 2, back, [](float x) { return x; });
    CHECK(back == std::array<float, 5>{10.0F, 0.0F, 0.0F, 40.0F, 0.0F});
}

TEST_CASE("the mean of a shard changes what lies in it and nothing else")
{
    Twin twin;
    Heard heard;
    twin.exchanges.observe(&heard);
    std::array<float, 4> values{0.1F, 0.1F, 0.1F, 0.1F};
    const std::vector<ddl::ShardPart> parts{{1, 0, 1}, {0, 1, 2}, {1, 3, 1}};
    twin.exchanges.average_shard(values, parts, {.step = 2, .bucket = 1}, {}, ddl::Precision::half).get();
    twin.exchanges.observe(nullptr);
    constexpr float rounded = 0.0999755859375F;
    CHECK(values == std::array<float, 4>{0.1F, rounded, rounded, 0.1F});
    CHECK(heard.what == std::vector<std::string>{"step 2 bucket 1 bytes 8", "end"});
    CHECK(twin.exchanges.bytes_averaged() == 8);
}

TEST_CASE("an observer hears of each exchange with its step and bucket")
{
    Twin twin;
    Heard heard;
    std::array<float, 2> values{};
    twin.exchanges.observe(&heard);
    twin.exchanges.average(values, {.step = 4, .bucket = 1}).get();
    twin.exchanges.observe(nullptr);
    twin.exchanges.average(values, {.step = 5, .bucket = 0}).get();
    CHECK(heard.what == std::vector<std::string>{"step 4 bucket 1 bytes 8", "end"});
}

TEST_CASE("what a call throws comes out of its future and the queue continues")
{
    Twin twin;
    auto bad = twin.exchanges.post([](ddl::Transport&) { base::fail("no"); });
    auto good = twin.exchanges.barrier();
    CHECK_THROWS_AS(bad.get(), base::Error);
    CHECK_NOTHROW(good.get());
}

TEST_CASE("an exchange that fails is reported to who waits for it")
{
    struct Failing : ddl::ExchangeObserver {
        void exchange_begins(ddl::BucketTag, std::int64_t) override { base::fail("no"); }
    } failing;
    Twin twin;
    std::array<float, 1> values{};
    twin.exchanges.observe(&failing);
    bool reported = false;
    auto exchange =
        twin.exchanges.average(values, {}, [&](std::exception_ptr failure) { reported = failure != nullptr; });
    CHECK_THROWS_AS(exchange.get(), base::Error);
    CHECK(reported);
    twin.exchanges.observe(nullptr);
}

TEST_CASE("a transport that cannot connect is reported to who made the transport")
{
    CHECK_THROWS_AS((ddl::ExchangeThread{[]() -> std::unique_ptr<ddl::Transport> { base::unavailable("no network"); }}),
                    base::Unavailable);
}

TEST_CASE("all that is in the line is done before the transport ends")
{
    int done = 0;
    {
        Twin twin;
        for (int i = 0; i < 50; ++i) twin.exchanges.post([&done](ddl::Transport&) { ++done; });
    }
    CHECK(done == 50);
}

TEST_CASE("while rounds go on a call waits for one that finds a call on every rank")
{
    struct Counting : ddl::Rounds {
        int with_call = 0;
        std::chrono::steady_clock::time_point due() const override
        {
            return std::chrono::steady_clock::now() + std::chrono::microseconds{100};
        }
        bool round(ddl::Transport&, bool call_waits) override { return call_waits && ++with_call % 3 == 0; }
    } rounds;
    Twin twin;
    twin.exchanges.go_round(&rounds);
    int seen = 0;
    for (const int expected : {3, 6}) {
        twin.exchanges.post([&](ddl::Transport&) { seen = rounds.with_call; }).get();
        CHECK(seen == expected);
    }
    twin.exchanges.go_round(nullptr);
    twin.exchanges.barrier().get();
    CHECK(rounds.with_call == 9);
}

TEST_CASE("progress policies are written as they are read")
{
    for (const char* text : {"auto", "spin", "yield", "sleep=50us", "sleep=2ms"})
        CHECK(ddl::format(ddl::parse_progress(text)) == text);
    for (const char* wrong : {"", "spinn", "sleep=", "sleep=0s", "sleep=-1us", "yield=1us", "automatic"})
        CHECK_THROWS_AS(ddl::parse_progress(wrong), base::UsageError);
}

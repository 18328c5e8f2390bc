// SPDX-License-Identifier: Apache-2.0
// Sends random messages between ranks. All ranks draw the same senders, tags, sizes and order, so each can check what
// arrives. Usage: message-traffic TRANSPORT DIRECTORY SEED [dies|news]; writes its trace to DIRECTORY/trace. With
// `dies` a rank dies; with `news` the ranks exchange news and rest at random.
#include "base/error.hpp"
#include "base/random.hpp"
#include "ddl-workloads/step/news_board.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <algorithm>
#include <csignal>
#include <deque>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

using ddl::ExchangeThread;
using ddl::Mailbox;
using ddl::Transport;

constexpr std::chrono::milliseconds brief{2};

struct Message {
    int from = 0;
    int to = 0;
    int tag = 0;
    std::size_t bytes = 0;
};

std::byte content(std::size_t number, std::size_t place)
{
    return static_cast<std::byte>((number * 131 + place * 7) & 0xff);
}

std::vector<Message> drawn(std::uint64_t seed, int ranks)
{
    base::Random random{seed};
    const auto below = [&](std::uint64_t end) { return random() % end; };
    std::vector<Message> messages(200);
    for (Message& one : messages) {
        const auto size = static_cast<std::uint64_t>(ranks);
        const std::size_t most = below(10) == 0 ? 300'000 : 2'000;  // above or below MPI's eager limit
        one = {.from = static_cast<int>(below(size)),
               .to = static_cast<int>(below(size)),
               .tag = static_cast<int>(below(3)),
               .bytes = below(most)};
    }
    return messages;
}

void expect(bool holds, const std::string& what)
{
    if (!holds) base::fail("not as drawn: ", what);
}

class Traffic {
 public:
    Traffic(const std::vector<Message>& messages, std::uint64_t seed, ExchangeThread& exchanges)
        : messages_{messages}, random_{seed}, exchanges_{exchanges}, received_(messages.size())
    {
        for (std::size_t i = 0; i < messages.size(); ++i) {
            if (messages[i].from == exchanges.rank()) to_send_.push_back(i);
            if (messages[i].to == exchanges.rank()) to_post_.push_back(i);
        }
    }

    // Makes its sends, receives and waits in a random order.
    void run()
    {
        while (!to_send_.empty() || !to_post_.empty() || !posted_.empty()) {
            const std::uint64_t what = random_() % 3;
            if (what == 0 && !to_send_.empty()) send(taken(to_send_));
            if (what == 1 && !to_post_.empty()) post(taken(to_post_));
            if (what == 2 && !posted_.empty()) wait_for_some();
        }
    }

 private:
    static std::size_t taken(std::deque<std::size_t>& from)
    {
        const std::size_t first = from.front();
        from.pop_front();
        return first;
    }

    void send(std::size_t number)
    {
        std::vector<std::byte> bytes(messages_[number].bytes);
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = content(number, i);
        exchanges_.mailbox().send(messages_[number].to, messages_[number].tag, bytes);
    }

    void post(std::size_t number)
    {
        received_[number].resize(messages_[number].bytes);
        exchanges_.mailbox().post_receive(number, messages_[number].from, messages_[number].tag, received_[number]);
        posted_.push_back(number);
    }

    void wait_for_some()
    {
        std::vector<Mailbox::Ticket> some;
        for (const std::size_t number : posted_)
            if (some.empty() || random_() % 2 == 0) some.push_back(number);
        // While this rank still has messages to send, it only waits briefly: other ranks may wait for them.
        const bool may_wait = to_send_.empty();
        const auto ended = may_wait ? exchanges_.mailbox().wait_any(some) : exchanges_.mailbox().wait_any(some, brief);
        expect(ended || !may_wait, "a wait without end ended without a message");
        if (!ended) return;
        expect(std::find(some.begin(), some.end(), *ended) != some.end(), "a receive that was not waited for");
        std::erase(posted_, *ended);
        const std::vector<std::byte>& bytes = received_[*ended];
        for (std::size_t i = 0; i < bytes.size(); ++i)
            expect(bytes[i] == content(*ended, i), base::join("byte ", i, " of message ", *ended));
    }

    const std::vector<Message>& messages_;
    base::Random random_;
    ExchangeThread& exchanges_;
    std::deque<std::size_t> to_send_;
    std::deque<std::size_t> to_post_;
    std::vector<std::size_t> posted_;
    std::vector<std::vector<std::byte>> received_;
};

void cancel_receives(ExchangeThread& exchanges)
{
    constexpr Mailbox::Ticket never = 1'000'001;
    constexpr Mailbox::Ticket late = 1'000'002;
    constexpr int tag_of_none = 77;
    constexpr int tag_of_one = 78;
    Mailbox& mailbox = exchanges.mailbox();
    const int next = (exchanges.rank() + 1) % exchanges.size();
    const int before = (exchanges.rank() + exchanges.size() - 1) % exchanges.size();
    std::vector<std::byte> bytes(100);
    mailbox.post_receive(never, before, tag_of_none, bytes);
    expect(!mailbox.wait_any(std::vector{never}, brief), "a message that nobody sent");
    expect(mailbox.cancel(never), "a receive without a message that is not cancelled");
    mailbox.send(next, tag_of_one, std::vector<std::byte>(100, std::byte{42}));
    // Posts and cancels the receive until the message has arrived.
    do {
        mailbox.post_receive(late, before, tag_of_one, bytes);
    } while (mailbox.cancel(late));
    expect(mailbox.wait_any(std::vector{late}) == late, "a receive that had its message when it was to be cancelled");
    expect(bytes == std::vector<std::byte>(100, std::byte{42}), "the bytes of that message");
}

// Two groups: ranks with even and ranks with odd numbers, each listed from the last rank to the first.
void use_groups(ExchangeThread& exchanges)
{
    std::vector<int> members;
    float sum_of_ranks = 0.0F;
    for (int rank = exchanges.size() - 1; rank >= 0; --rank) {
        if (rank % 2 != exchanges.rank() % 2) continue;
        members.push_back(rank);
        sum_of_ranks += static_cast<float>(rank);
    }
    for (int times = 0; times < 2; ++times) {
        Transport& group = exchanges.group(members);
        exchanges
            .post([&](Transport& all) {
                expect(group.size() == static_cast<int>(members.size()), "the size of a group");
                expect(members.at(static_cast<std::size_t>(group.rank())) == all.rank(), "a rank's place in its group");
                std::vector<float> values(1000, static_cast<float>(all.rank()));
                group.sum(values);
                expect(values == std::vector<float>(1000, sum_of_ranks), "a sum over a group");
                const int next = (group.rank() + 1) % group.size();
                const int before = (group.rank() + group.size() - 1) % group.size();
                const auto mine = static_cast<std::byte>(group.rank());
                std::byte theirs{};
                group.mailbox().send(next, 5, std::span{&mine, 1});
                group.mailbox().post_receive(1, before, 5, std::span{&theirs, 1});
                expect(group.mailbox().wait_any(std::vector<Mailbox::Ticket>{1}) == 1, "a message in a group");
                expect(theirs == static_cast<std::byte>(before), "a message of the rank before in a group");
            })
            .get();
    }
}

// Rank r reports 1000 k + r in exchange k; exchange k receives the reports of exchange k - lag, all of them.
void exchange_news(ExchangeThread& exchanges, std::uint64_t seed)
{
    constexpr int lag = 4;
    constexpr int times = 200;
    base::Random random{seed};
    ddl::NewsBoard board{exchanges};
    board.wait_less(lag);
    auto numbers = board.add<int>();
    const auto reports = [&](int time) {
        std::vector<int> all;
        for (int rank = 0; rank < exchanges.size(); ++rank) all.push_back(1000 * time + rank);
        return all;
    };
    for (int time = 0; time < times; ++time) {
        if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds{random() % 3000});
        numbers.post(1000 * time + exchanges.rank());
        board.exchange();
        expect(numbers.received() == (time < lag ? std::vector<int>{} : reports(time - lag)), "news of a step");
    }
    for (int time = times - lag; time < times; ++time) {
        expect(board.settle(), "news that are under way");
        expect(numbers.received() == reports(time), "the last news");
    }
    expect(!board.settle(), "no more news");
}

void die_beside_the_others(ExchangeThread& exchanges)
{
    std::byte byte{};
    exchanges.mailbox().post_receive(1, exchanges.size() - 1, 0, std::span{&byte, 1});
    exchanges.barrier().get();
    if (exchanges.rank() == exchanges.size() - 1) ::raise(SIGKILL);
    exchanges.mailbox().wait_any(std::vector<Mailbox::Ticket>{1});
}

}  // namespace

int main(int argc, char** argv)
{
    const std::vector<std::string> words(argv + 1, argv + argc);
    const std::filesystem::path directory = words.at(1);
    ExchangeThread exchanges{ddl::connector(words.at(0), {.progress = {}, .run = directory})};
    try {
        if (words.size() > 3 && words[3] == "dies") die_beside_the_others(exchanges);
        std::optional<otf2::Recorder> recorder;
        const auto record = [&](Transport& transport) {
            recorder.emplace(directory / "trace", transport.team());
            transport.record(&recorder->location("transport"));
        };
        exchanges.post(record).get();
        const auto seed = base::parse<std::uint64_t>(words.at(2));
        if (words.size() > 3) exchange_news(exchanges, seed + static_cast<std::uint64_t>(exchanges.rank()));
        const std::vector<Message> messages = drawn(seed, exchanges.size());
        Traffic{messages, seed + static_cast<std::uint64_t>(exchanges.rank()) + 1, exchanges}.run();
        cancel_receives(exchanges);
        use_groups(exchanges);
        exchanges.barrier().get();
        const auto finish = [&](Transport& transport) {
            transport.record(nullptr);
            recorder->finish();
        };
        exchanges.post(finish).get();
        if (exchanges.rank() == 0) std::cout << "as drawn\n";
        return 0;
    } catch (...) {
        exchanges.abort(base::report_failure("message-traffic"));
    }
}

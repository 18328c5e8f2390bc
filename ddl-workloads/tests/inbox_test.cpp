// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/inbox.hpp"

#include "base/error.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using ddl::Inbox;
using ddl::Mailbox;
using Bytes = std::vector<std::byte>;

namespace {

constexpr std::chrono::milliseconds brief{1};

std::vector<Mailbox::Ticket> one(Mailbox::Ticket ticket)
{
    return {ticket};
}

}  // namespace

TEST_CASE("messages of one sender and tag go to its receives in order, whichever came first")
{
    Inbox inbox;
    Bytes first(1);
    Bytes second(1);
    Bytes other(1);
    inbox.deliver(3, 7, Bytes{std::byte{1}});
    inbox.post(10, 3, 7, first);
    inbox.post(11, 3, 7, second);
    inbox.post(12, 3, 8, other);
    CHECK_FALSE(inbox.wait_any(std::vector<Mailbox::Ticket>{11, 12}, brief));
    inbox.deliver(2, 8, Bytes{std::byte{9}});  // from another sender
    inbox.deliver(3, 7, Bytes{std::byte{2}});
    CHECK_FALSE(inbox.wait_any(one(12), brief));
    CHECK(inbox.wait_any(std::vector<Mailbox::Ticket>{12, 11}, {})->ticket == 11);
    CHECK(inbox.wait_any(one(10), {})->ticket == 10);
    CHECK(first.front() == std::byte{1});
    CHECK(second.front() == std::byte{2});
    CHECK_THROWS_AS(inbox.wait_any(one(10), {}), base::Error);  // the receive has ended
    CHECK_THROWS_AS(inbox.post(12, 3, 8, other), base::Error);  // the ticket is in use
}

TEST_CASE("a receive is cancelled until it has its message")
{
    Inbox inbox;
    Bytes byte(1);
    inbox.post(1, 0, 0, byte);
    CHECK(inbox.cancel(1));
    CHECK_THROWS_AS(inbox.cancel(1), base::Error);
    inbox.deliver(0, 0, Bytes{std::byte{5}});  // kept until a receive is posted
    inbox.post(2, 0, 0, byte);
    CHECK_FALSE(inbox.cancel(2));
    CHECK(inbox.wait_any(one(2), {})->bytes == 1);
    CHECK(byte.front() == std::byte{5});
}

TEST_CASE("a wait ends with the message or with the loss of its sender, on whatever thread they come")
{
    Inbox inbox;
    Bytes byte(1);
    Bytes other(1);
    inbox.post(1, 1, 0, byte);
    inbox.post(2, 2, 0, other);
    std::thread deliverer{[&] { inbox.deliver(2, 0, Bytes{std::byte{6}}); }};
    CHECK(inbox.wait_any(std::vector<Mailbox::Ticket>{1, 2}, {})->ticket == 2);
    deliverer.join();
    std::thread loser{[&] { inbox.lose(1, std::make_exception_ptr(base::Error{"rank 1 is gone"})); }};
    CHECK_THROWS_WITH(inbox.wait_any(one(1), {}), "rank 1 is gone");
    loser.join();
    // Messages that the rank sent before it was lost are still delivered.
    inbox.deliver(1, 9, Bytes{std::byte{7}});
    inbox.post(3, 1, 9, other);
    CHECK(inbox.wait_any(one(3), {})->ticket == 3);
}

TEST_CASE("a message may be shorter than its receive, not longer")
{
    Inbox inbox;
    Bytes two(2);
    inbox.post(1, 4, 0, two);
    CHECK_THROWS_WITH(inbox.deliver(4, 0, Bytes(3)),
                      "a message of 3 bytes from rank 4, tag 0, where at most 2 are expected");
    Inbox other;
    other.post(1, 4, 0, two);
    other.deliver(4, 0, Bytes{std::byte{8}});
    CHECK(other.wait_any(one(1), {})->bytes == 1);
    CHECK(two == Bytes{std::byte{8}, std::byte{0}});
}

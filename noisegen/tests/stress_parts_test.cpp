// SPDX-License-Identifier: Apache-2.0
// Building blocks of stressors: sockets, and sleep that can be interrupted.
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "noisegen/execution/threads/stop_event.hpp"
#include "noisegen/stressors/network/sockets.hpp"

#include <doctest/doctest.h>

#include <array>
#include <thread>

TEST_CASE("sockets speak over loopback and notice when the other side goes")
{
    const noisegen::Socket listener = noisegen::listen_on(0, noisegen::loopback_address);
    noisegen::Socket here = noisegen::connect_to("127.0.0.1", noisegen::port_of(listener));
    REQUIRE(here.open());
    auto there = noisegen::accept_from(listener);
    REQUIRE(there.has_value());
    CHECK(there->address == "127.0.0.1");
    std::array<char, 8> text{};
    CHECK(there->socket.receive(text.data(), text.size()) == 0);
    CHECK(here.send("noise", 5) == 5);
    CHECK(there->socket.receive(text.data(), text.size()) == 5);
    here = noisegen::Socket{};
    CHECK(!there->socket.receive(text.data(), text.size()).has_value());
    CHECK(!noisegen::listen_on(noisegen::port_of(listener), noisegen::loopback_address).open());
    CHECK_THROWS_AS(noisegen::addresses_of("no such host"), base::Error);
}

TEST_CASE("a bell cuts sleep short for all who sleep and who come later")
{
    noisegen::StopEvent stop_event;
    CHECK(stop_event.sleep_until(base::now_ns() + 1'000'000));
    bool slept = true;
    std::thread sleeper{[&] { slept = stop_event.sleep_until(base::now_ns() + 3'600'000'000'000); }};
    stop_event.set();
    sleeper.join();
    CHECK(!slept);
    CHECK(stop_event.is_set());
    CHECK(!stop_event.sleep_until(base::now_ns() + 3'600'000'000'000));
}

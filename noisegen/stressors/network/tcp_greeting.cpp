// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/network/tcp_greeting.hpp"

#include "base/system/clock.hpp"

#include <algorithm>
#include <array>

namespace noisegen {

Greeting::State Greeting::say(Socket& socket, const JobToken::Half& half)
{
    if (said_ == half.size()) return State::well;
    const auto sent = socket.send(half.data() + said_, half.size() - said_);
    if (!sent) return State::refused;
    said_ += *sent;
    return said_ == half.size() ? State::well : State::going_on;
}

Greeting::State Greeting::hear(Socket& socket, const JobToken::Half& half)
{
    if (heard_ == half.size()) return State::well;
    JobToken::Half bytes{};
    const auto received = socket.receive(bytes.data(), half.size() - heard_);
    if (!received || !std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(*received),
                                 half.begin() + static_cast<std::ptrdiff_t>(heard_)))
        return State::refused;
    heard_ += *received;
    return heard_ == half.size() ? State::well : State::going_on;
}

Greeting::State Greeting::say_hello(Socket& socket, const JobToken& token)
{
    const State state = say(socket, token.hello);
    return state == State::well ? hear(socket, token.answer) : state;
}

Greeting::State Greeting::await_hello(Socket& socket, const JobToken& token)
{
    const State state = hear(socket, token.hello);
    return state == State::well ? say(socket, token.answer) : state;
}

void Arrivals::admit(const Socket& listener, const std::vector<std::string>& welcome, const JobToken& token,
                     std::vector<Socket>& inlets)
{
    constexpr std::int64_t patience_ns = 1'000'000'000;
    constexpr int most_at_once = 64;  // limited, since this happens between two messages
    const std::int64_t now = base::now_ns();
    for (int i = 0; i < most_at_once; ++i) {
        auto accepted = accept_from(listener);
        if (!accepted) break;
        if (std::find(welcome.begin(), welcome.end(), accepted->address) == welcome.end())
            ++turned_away_;
        else
            guests_.push_back({std::move(accepted->socket), now + patience_ns, {}});
    }
    std::vector<Guest> waiting;
    for (Guest& guest : guests_) {
        const Greeting::State state = guest.greeting.await_hello(guest.socket, token);
        if (state == Greeting::State::well)
            inlets.push_back(std::move(guest.socket));
        else if (state == Greeting::State::refused || now > guest.until_ns)
            ++turned_away_;
        else
            waiting.push_back(std::move(guest));
    }
    if (waiting.size() > most) {
        turned_away_ += waiting.size() - most;
        waiting.erase(waiting.begin(), waiting.end() - most);
    }
    guests_ = std::move(waiting);
}

}  // namespace noisegen

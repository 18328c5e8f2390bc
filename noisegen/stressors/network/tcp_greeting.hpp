// SPDX-License-Identifier: Apache-2.0
// Authentication of a connection: each side sends its half of the job's token first.
#pragma once

#include "noisegen/stressors/network/job_token.hpp"
#include "noisegen/stressors/network/sockets.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace noisegen {

// State of the greeting on one side.
class Greeting {
 public:
    enum class State { going_on, well, refused };  // refused: the peer is gone or sent the wrong half

    // For the side that connects: sends `hello` and receives `answer`.
    State say_hello(Socket& socket, const JobToken& token);
    // For the side that listens: receives `hello`, and only then sends `answer`.
    State await_hello(Socket& socket, const JobToken& token);

 private:
    State say(Socket& socket, const JobToken::Half& half);
    State hear(Socket& socket, const JobToken::Half& half);

    std::size_t said_ = 0;
    std::size_t heard_ = 0;
};

// Accepted connections that have not sent `hello` yet: a limited number of them, each for a second.
class Arrivals {
 public:
    static constexpr std::size_t most = 64;

    // Accepts connections from the addresses in `welcome`; those whose greeting succeeded are moved to `inlets`.
    void admit(const Socket& listener, const std::vector<std::string>& welcome, const JobToken& token,
               std::vector<Socket>& inlets);

    std::size_t turned_away() const { return turned_away_; }

 private:
    struct Guest {
        Socket socket;
        std::int64_t until_ns = 0;
        Greeting greeting;
    };
    std::vector<Guest> guests_;  // oldest first
    std::size_t turned_away_ = 0;
};

}  // namespace noisegen

// SPDX-License-Identifier: Apache-2.0
// Authentication of the other end of a connection: each side sends its half of the job's token first.
#pragma once

#include "noisegen/stressors/network/job_token.hpp"
#include "noisegen/stressors/network/sockets.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace noisegen {

// Progress of one side's greeting.
class Greeting {
 public:
    enum class State { going_on, well, refused };  // refused: gone, or the wrong half

    // The side that connects says hello, and receives the answer.
    State say_hello(Socket& socket, const JobToken& token);
    // The other one receives hello, and only then answers.
    State await_hello(Socket& socket, const JobToken& token);

 private:
    State say(Socket& socket, const JobToken::Half& half);
    State hear(Socket& socket, const JobToken::Half& half);

    std::size_t said_ = 0;
    std::size_t heard_ = 0;
};

// Connections that came in and have not said hello yet: a bounded number of them, each for a second.
class Arrivals {
 public:
    static constexpr std::size_t most = 64;

    // Takes new ones from these addresses; those that have greeted well go to `inlets`.
    void admit(const Socket& listener, const std::vector<std::string>& welcome, const JobToken& token,
               std::vector<Socket>& inlets);

    std::size_t turned_away() const { return turned_away_; }

 private:
    struct Guest {
        Socket socket;
        std::int64_t until_ns = 0;
        Greeting greeting;
    };
    std::vector<Guest> guests_;  // the oldest first
    std::size_t turned_away_ = 0;
};

}  // namespace noisegen

// SPDX-License-Identifier: Apache-2.0
// Noise processes recognise each other over TCP, and refuse other programs.
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/clock.hpp"
#include "noisegen/stressors/network/job_token.hpp"
#include "noisegen/stressors/network/tcp_greeting.hpp"
#include "testing/child.hpp"
#include "testing/made_stressor.hpp"
#include "testing/noise_runs.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <thread>

#include <sys/stat.h>

namespace {

namespace fs = std::filesystem;
using namespace testing;
using noisegen::Arrivals;
using noisegen::Greeting;
using noisegen::job_token;
using noisegen::JobToken;
using noisegen::listen_on;
using noisegen::port_of;
using noisegen::Socket;

Socket connected(const Socket& listener)
{
    Socket socket = noisegen::connect_to("127.0.0.1", port_of(listener));
    REQUIRE(socket.open());
    return socket;
}

bool closed(Socket& socket)
{
    char byte = 0;
    return !socket.receive(&byte, 1).has_value();
}

// Ports of this host on which some process listens.
std::vector<std::uint16_t> open_ports()
{
    std::vector<std::uint16_t> ports;
    std::ifstream file{"/proc/net/tcp"};
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::istringstream words{line};
        std::string slot, local, remote, state;
        words >> slot >> local >> remote >> state;
        if (state == "0A") ports.push_back(static_cast<std::uint16_t>(std::stoi(local.substr(9), nullptr, 16)));
    }
    return ports;
}

void step_for(noisegen::Stressor& stressor, std::int64_t ns, noisegen::Work& all)
{
    for (const std::int64_t end = base::now_ns() + ns; base::now_ns() < end;) all.bytes += stressor.step().bytes;
}

// Holds a port on this host, and treats incoming connections as the test says.
class Holder {
 public:
    explicit Holder(bool closes)
        : thread_{[this, closes] {
              std::vector<Socket> kept;
              while (!over_) {
                  auto accepted = noisegen::accept_from(listener_);
                  if (accepted && !closes) kept.push_back(std::move(accepted->socket));
                  std::this_thread::sleep_for(std::chrono::milliseconds{1});
              }
          }}
    {
    }
    ~Holder() { over_ = true; }
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;

    std::string port() const { return std::to_string(port_of(listener_)); }

 private:
    Socket listener_ = listen_on(0, noisegen::any_address);
    std::atomic<bool> over_ = false;
    std::jthread thread_;
};

}  // namespace

TEST_CASE("all processes of a run have one token, and no two runs the same")
{
    const Scratch one;
    const Scratch other;
    const JobToken token = job_token(one.path());
    CHECK(token.hello != token.answer);
    CHECK(job_token(one.path()) == token);
    CHECK_FALSE(job_token(other.path()) == token);
    struct stat status {};
    REQUIRE(::stat((one / "token").c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    CHECK(std::distance(fs::directory_iterator{one.path()}, {}) == 1);
}

TEST_CASE("a token that others can read or have planted is refused")
{
    const Scratch scratch;
    base::write_whole(scratch / "token", std::string(32, 'x'));
    CHECK_THROWS_WITH_AS(job_token(scratch.path()), doctest::Contains("readable by other users"), base::Error);
    fs::remove(scratch / "token");
    base::write_whole(scratch / "planted", std::string(32, 'x'));
    fs::permissions(scratch / "planted", fs::perms::owner_read);
    fs::create_symlink(scratch / "planted", scratch / "token");
    CHECK_THROWS_WITH_AS(job_token(scratch.path()), doctest::Contains("readable by other users"), base::Error);
    fs::remove(scratch / "token");
    base::write_whole(scratch / "token", "short");
    fs::permissions(scratch / "token", fs::perms::owner_read);
    CHECK_THROWS_WITH_AS(job_token(scratch.path()), doctest::Contains("is not a token"), base::Error);
}

TEST_CASE("who says the token is let in and answered, others are closed")
{
    const JobToken token = job_token({});
    const Socket listener = listen_on(0, noisegen::loopback_address);
    const std::vector<std::string> welcome{"127.0.0.1"};
    Arrivals arrivals;
    std::vector<Socket> inlets;
    Socket friendly = connected(listener);
    Socket wrong = connected(listener);
    Socket silent = connected(listener);
    Greeting greeting;
    CHECK(greeting.say_hello(friendly, token) == Greeting::State::going_on);
    CHECK(wrong.send("hello, noisegen!", 16) == 16);

    CHECK(testing::eventually([&] {
        arrivals.admit(listener, welcome, token, inlets);
        return inlets.size() == 1 && arrivals.turned_away() == 1;
    }));
    CHECK(testing::eventually([&] { return greeting.say_hello(friendly, token) == Greeting::State::well; }));
    CHECK(testing::eventually([&] { return closed(wrong); }));
    CHECK(testing::eventually([&] {
        arrivals.admit(listener, welcome, token, inlets);
        return arrivals.turned_away() == 2;  // its second has passed
    }));
    CHECK(testing::eventually([&] { return closed(silent); }));
    CHECK(inlets.size() == 1);
}

TEST_CASE("guests that say nothing are a bounded number, and keep no peer out")
{
    const JobToken token = job_token({});
    const Socket listener = listen_on(0, noisegen::loopback_address);
    const std::vector<std::string> welcome{"127.0.0.1"};
    Arrivals arrivals;
    std::vector<Socket> inlets;
    std::vector<Socket> silent;
    for (int i = 0; i < 200; ++i) silent.push_back(connected(listener));
    Socket friendly = connected(listener);
    Greeting greeting;
    greeting.say_hello(friendly, token);
    for (int i = 0; i < 10; ++i) arrivals.admit(listener, welcome, token, inlets);
    CHECK(inlets.size() == 1);
    CHECK(arrivals.turned_away() >= 200 - Arrivals::most);
}

TEST_CASE("connections from elsewhere are closed whatever they say")
{
    const JobToken token = job_token({});
    const Socket listener = listen_on(0, noisegen::loopback_address);
    Arrivals arrivals;
    std::vector<Socket> inlets;
    Socket stranger = connected(listener);
    Greeting greeting;
    greeting.say_hello(stranger, token);
    CHECK(testing::eventually([&] {
        arrivals.admit(listener, {"192.0.2.1"}, token, inlets);
        return arrivals.turned_away() == 1;
    }));
    CHECK(inlets.empty());
}

TEST_CASE("noise over loopback has both of its own ends though other programs connect to every port")
{
    std::atomic<bool> over = false;
    std::atomic<int> tries = 0;
    std::jthread stranger{[&] {
        const std::vector<std::uint16_t> before = open_ports();
        while (!over)
            for (const std::uint16_t port : open_ports())
                if (std::find(before.begin(), before.end(), port) == before.end()) {
                    const Socket socket = noisegen::connect_to("127.0.0.1", port);
                    ++tries;
                }
    }};
    for (int run = 0; run < 200; ++run) {
        const Made made{"network.stream", {{"connections", "8"}}};
        noisegen::Work work;
        for (int turn = 0; turn < 2; ++turn) {
            made.stressor->begin({});
            step_for(*made.stressor, 1'000'000, work);
            made.stressor->end();
        }
        CHECK(work.bytes > 0);
        CHECK(made.stressor->note().find("disconnected") == std::string::npos);
    }
    over = true;
    MESSAGE("another program connected " << tries.load() << " times");
}

TEST_CASE("nothing is sent to a listener that is no noisegen of the run")
{
    const Holder mute{false};
    const Made made{"network.stream", {{"hosts", "127.0.0.1"}, {"port", mute.port()}}};
    noisegen::Work work;
    made.stressor->begin({});
    step_for(*made.stressor, 300'000'000, work);
    made.stressor->end();
    CHECK(work.bytes == 0);
}

TEST_CASE("a listener that closes connections is named")
{
    const Holder closing{true};
    const Made made{"network.stream", {{"hosts", "127.0.0.1"}, {"port", closing.port()}}};
    noisegen::Work work;
    made.stressor->begin({});
    const std::string reported = "127.0.0.1 port " + closing.port() + ": the listener closes the connection";
    CHECK_THROWS_WITH_AS(step_for(*made.stressor, 20'000'000'000, work), doctest::Contains(reported.c_str()),
                         base::Error);
    CHECK(work.bytes == 0);
}

TEST_CASE("a run whose peer never reads ends with a line")
{
    const Holder mute{false};
    const Scratch scratch;
    const testing::Outcome outcome =
        run_noisegen({"--schedule", "network.stream[hosts=127.0.0.1,port=" + mute.port() + "] 2s", "--cpus", cpu(),
                      "--duration", "2s", "--out", scratch / "run"});
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("network.stream was on, but did nothing") != std::string::npos);
}

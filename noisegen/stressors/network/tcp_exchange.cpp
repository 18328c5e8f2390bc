// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/network/tcp_exchange.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"
#include "noisegen/stressors/network/job_token.hpp"
#include "noisegen/stressors/network/message_options.hpp"
#include "noisegen/stressors/network/sockets.hpp"
#include "noisegen/stressors/network/tcp_greeting.hpp"
#include "noisegen/stressors/turn_end.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <set>
#include <utility>

namespace noisegen {

namespace {

constexpr std::int64_t first_patience_ns = 10'000'000'000;
constexpr std::int64_t second_patience_ns = 1'000'000'000;
constexpr std::int64_t answer_patience_ns = 10'000'000'000;  // turn time: peers answer in their turns, which coincide
constexpr int most_refusals = 5;                             // a peer with many pending connections may drop ours

// Bytes per call: twice that fits into a core's cache. 256 KiB was up to twice as fast as 16 KiB and as 4 MiB.
constexpr std::size_t send_most = std::size_t{256} << 10U;
constexpr std::size_t send_least = std::size_t{1} << 10U;

// A port that this process listens on; only one stressor may use it.
class OwnPort {
 public:
    explicit OwnPort(const TcpOptions& options) : port_{options.port}
    {
        const std::lock_guard lock{mutex_};
        if (!ports_.insert(port_).second)
            base::fail_usage(options.stressor, "[port]: another stressor of this schedule listens on ", port_,
                             "; give each its own, such as port=", port_ < 65535 ? port_ + 1 : port_ - 1);
    }
    ~OwnPort()
    {
        const std::lock_guard lock{mutex_};
        ports_.erase(port_);
    }
    OwnPort(const OwnPort&) = delete;
    OwnPort& operator=(const OwnPort&) = delete;

 private:
    static inline std::mutex mutex_;
    static inline std::set<std::uint16_t> ports_;
    std::uint16_t port_;
};

// This host's address among those of the list, or any_address if it has none or several there. Loopback is used only if
// no host is elsewhere: a hosts file may map this host's name to loopback while peers use another address.
std::string address_to_listen_on(const std::vector<std::string>& hosts, const std::vector<std::string>& addresses)
{
    const std::vector<std::string> own = own_addresses();
    const auto is_here = [&own](const std::string& address) { return std::ranges::find(own, address) != own.end(); };
    std::set<std::string> here;
    for (const std::string& address : addresses)
        if (address.find(':') == std::string::npos && is_here(address)) here.insert(address);
    if (here.size() != 1) return any_address;
    const bool elsewhere = std::ranges::any_of(hosts, [&](const std::string& host) {
        const std::vector<std::string> of_host = addresses_of(host);
        return std::ranges::none_of(of_host, is_here);
    });
    return here.begin()->starts_with("127.") && elsewhere ? any_address : *here.begin();
}

struct TcpShared final : Shared {
    TcpShared(const TcpOptions& options, const std::filesystem::path& noise)
    {
        if (options.hosts.empty()) return;
        own_port.emplace(options);
        token = job_token(noise);
        for (const std::string& host : options.hosts)
            for (const std::string& address : addresses_of(host)) welcome.push_back(address);
        listener = listen_on(options.port, address_to_listen_on(options.hosts, welcome));
    }

    std::optional<OwnPort> own_port;
    Socket
        listener;  // not open: loopback, or the port is taken by another noisegen of this host, which listens for both
    std::vector<std::string> welcome;
    JobToken token;
};

// The other hosts, starting with the next one in the list, so that not all hosts send to the first.
std::vector<std::string> peers_of(const std::vector<std::string>& hosts)
{
    const std::vector<std::string> own = own_addresses();
    const auto is_here = [&own](const std::string& host) {
        const std::vector<std::string> addresses = addresses_of(host);
        return std::find_first_of(addresses.begin(), addresses.end(), own.begin(), own.end()) != addresses.end();
    };
    std::vector<std::string> peers = hosts;
    const auto here = std::ranges::find_if(peers, is_here);
    if (here != peers.end()) std::rotate(peers.begin(), here, peers.end());
    std::erase_if(peers, is_here);
    return peers.empty() ? hosts : peers;
}

// The sending side of a connection.
struct Outlet {
    std::string peer;
    Socket socket;
    std::size_t left = 0;  // bytes of the current message
    Greeting greeting;
    bool known = false;         // the peer is this process, or a noisegen of the same run
    bool refused = false;       // closed before the peer was known
    std::int64_t asked_ns = 0;  // turn time at which it sent hello
};

class TcpExchange final : public Stressor {
 public:
    TcpExchange(TcpShared& shared, const Place& place, const TcpOptions& options)
        : shared_{shared},
          bytes_{options.bytes},
          port_{options.port},
          out_(std::min(options.bytes, send_most), 1),
          in_(send_most),
          outlets_(static_cast<std::size_t>(options.connections))
    {
        if (options.hosts.empty()) {
            connect_to_self();
            names_.emplace_back("loopback");
        } else {
            connect_to_peers(place, peers_of(options.hosts));
        }
    }

    // Lost connections are made again: a slot without traffic would be taken for noise.
    void begin(const Turn& turn) override
    {
        if (loopback()) connect_to_self();
        for (Outlet& outlet : outlets_)
            if (!outlet.socket.open()) connect(outlet, second_patience_ns);
        looked_ns_ = base::now_ns();
        step_bytes_ = portion(turn);
        drain_ns_ = patience_ns(turn);
    }

    // Sends the bytes due in a thousandth of a second, or sends for a millisecond; reads received data (over loopback
    // from the same connections). Rests if nothing moves, since then the network is the bottleneck.
    Work step() override
    {
        const std::int64_t now = base::now_ns();
        const std::int64_t end = now + exchange_step_ns;
        on_ns_ += now - std::exchange(looked_ns_, now);
        Work work;
        std::size_t idle = 0;
        if (shared_.listener.open()) arrivals_.admit(shared_.listener, shared_.welcome, shared_.token, inlets_);
        do {
            const bool sent = send(work);
            const bool came = receive();
            idle = sent || came ? 0 : idle + 1;
            if (idle > std::max(outlets_.size(), inlets_.size())) {
                work.rest_until_ns = base::now_ns() + (lost() == outlets_.size() ? exchange_step_ns : exchange_nap_ns);
                break;
            }
        } while (work.bytes < step_bytes_ && base::now_ns() < end);
        return work;
    }

    // Waits until the kernel's send buffers are empty, if the peer reads, so that nothing is sent after the turn.
    void end() override
    {
        const std::int64_t deadline = base::now_ns() + drain_ns_;
        while (base::now_ns() < deadline) {
            bool came = false;
            for (std::size_t i = 0; i < inlets_.size(); ++i) came |= receive();
            if (came) continue;
            if (std::ranges::none_of(outlets_, [](const Outlet& outlet) { return waits(outlet); })) return;
            base::sleep_until_ns(base::now_ns() + exchange_nap_ns);
        }
    }

    std::string note() const override
    {
        std::string text =
            base::join("TCP to ", base::join_words(names_, ", "), ", ", outlets_.size(),
                       outlets_.size() == 1 ? " connection" : " connections", ", messages of ", bytes_, " bytes");
        if (lost() > 0) text += "; the peer disconnected";
        if (arrivals_.turned_away() > 0)
            text += base::join("; ", arrivals_.turned_away(), " connections of other programs were closed");
        return text;
    }

 private:
    bool loopback() const { return outlets_.front().peer.empty(); }

    // Connects the outlets that are not connected, through a port that other processes on this host may find, too.
    void connect_to_self()
    {
        if (lost() == 0) return;
        const Socket listener = listen_on(0, loopback_address);
        for (Outlet& outlet : outlets_) {
            if (outlet.socket.open()) continue;
            outlet = {};
            outlet.socket = connect_to("127.0.0.1", port_of(listener));
            if (!outlet.socket.open()) base::fail("cannot connect over loopback");
            outlet.socket.drop_on_close();
            outlet.known = true;
            inlets_.push_back(other_end(listener, port_of(outlet.socket)));
        }
    }

    // Accepts the connection that comes from this port, and no other.
    static Socket other_end(const Socket& listener, std::uint16_t port)
    {
        const std::int64_t deadline = base::now_ns() + second_patience_ns;
        while (base::now_ns() < deadline) {
            auto accepted = accept_from(listener);
            if (accepted && accepted->port == port) return std::move(accepted->socket);
            if (!accepted) base::sleep_until_ns(base::now_ns() + exchange_nap_ns);
        }
        base::fail("cannot connect over loopback");
    }

    void connect_to_peers(const Place& place, const std::vector<std::string>& peers)
    {
        for (std::size_t i = 0; i < outlets_.size(); ++i) {
            Outlet& outlet = outlets_[i];
            outlet.peer = peers[(place.index * outlets_.size() + i) % peers.size()];
            connect(outlet, first_patience_ns);
            if (std::ranges::find(names_, outlet.peer) == names_.end()) names_.push_back(outlet.peer);
        }
    }

    void connect(Outlet& outlet, std::int64_t patience)
    {
        const std::int64_t deadline = base::now_ns() + patience;
        outlet.left = 0;
        outlet.greeting = {};
        outlet.known = false;
        outlet.refused = false;
        outlet.asked_ns = on_ns_;
        while (!base::stop_requested()) {
            outlet.socket = connect_to(outlet.peer, port_);
            if (outlet.socket.open()) {
                outlet.socket.drop_on_close();
                greet(outlet);
                return;
            }
            if (base::now_ns() > deadline) base::fail("cannot connect to ", outlet.peer, " port ", port_);
            base::sleep_until_ns(base::now_ns() + 100'000'000);
        }
    }

    // Continues the greeting. No data are sent or counted before the peer has proved to be a noisegen of this run,
    // which reads them.
    void greet(Outlet& outlet)
    {
        const auto fail = [&](const char* why) {
            base::fail(outlet.peer, " port ", port_, ": ", why,
                       ", so it is not of this run (all hosts need the same --out)");
        };
        switch (outlet.greeting.say_hello(outlet.socket, shared_.token)) {
            case Greeting::State::well:
                outlet.known = true;
                refusals_ = 0;
                break;
            case Greeting::State::refused:
                outlet.socket = {};
                outlet.refused = true;
                if (++refusals_ == most_refusals) fail("the listener closes the connection");
                break;
            case Greeting::State::going_on:
                if (on_ns_ - outlet.asked_ns > answer_patience_ns) fail("the listener does not answer");
                break;
        }
    }

    void connect_again(Outlet& outlet)
    {
        constexpr std::int64_t pause_ns = 100'000'000;
        base::sleep_until_ns(base::now_ns() + pause_ns);
        connect(outlet, second_patience_ns);
    }

    // An operation is complete with its last byte, so a rate of operations advances message by message.
    std::size_t portion(const Turn& turn) const
    {
        if (turn.bytes_per_s > 0.0)
            return std::clamp(static_cast<std::size_t>(turn.bytes_per_s / 1000.0), send_least, send_most);
        if (turn.operations_per_s > 0.0)
            return bytes_ * static_cast<std::size_t>(std::max(1.0, turn.operations_per_s / 1000.0));
        return std::numeric_limits<std::size_t>::max();
    }

    static bool waits(const Outlet& outlet) { return outlet.socket.open() && outlet.socket.unsent() > 0; }

    std::size_t lost() const
    {
        return static_cast<std::size_t>(
            std::ranges::count_if(outlets_, [](const Outlet& outlet) { return !outlet.socket.open(); }));
    }

    // Sends on the next connection. Returns true if anything was sent.
    bool send(Work& work)
    {
        Outlet& outlet = outlets_[next_outlet_++ % outlets_.size()];
        if (outlet.refused) connect_again(outlet);
        if (outlet.socket.open() && !outlet.known) greet(outlet);
        if (!outlet.socket.open() || !outlet.known) return false;
        if (outlet.left == 0) outlet.left = bytes_;
        const auto sent =
            outlet.socket.send(out_.data(), std::min({outlet.left, out_.size(), step_bytes_ - work.bytes}));
        if (!sent) {
            outlet.socket = {};
            return false;
        }
        outlet.left -= *sent;
        work.bytes += *sent;
        if (outlet.left == 0) ++work.operations;
        return *sent > 0;
    }

    // Receives on the next connection, at most as much as one send. Returns true if anything was received.
    bool receive()
    {
        if (inlets_.empty()) return false;
        const std::size_t next = next_inlet_++ % inlets_.size();
        std::size_t came = 0;
        while (came < send_most) {
            const auto received = inlets_[next].receive(in_.data(), in_.size());
            if (!received) {
                inlets_.erase(inlets_.begin() + static_cast<std::ptrdiff_t>(next));
                break;
            }
            if (*received == 0) break;
            came += *received;
        }
        return came > 0;
    }

    TcpShared& shared_;
    std::size_t bytes_;
    std::uint16_t port_;
    std::vector<char> out_;
    std::vector<char> in_;
    std::vector<Outlet> outlets_;
    std::vector<Socket> inlets_;  // over loopback in the order of the outlets
    Arrivals arrivals_;
    std::vector<std::string> names_;
    int refusals_ = 0;  // number of consecutive refusals
    std::size_t next_outlet_ = 0;
    std::size_t next_inlet_ = 0;
    std::size_t step_bytes_ = send_most;
    std::int64_t drain_ns_ = 0;
    std::int64_t looked_ns_ = 0;
    std::int64_t on_ns_ = 0;  // turn time so far
};

}  // namespace

TcpOptions tcp_options(const std::string& stressor, const base::Settings& settings)
{
    constexpr int most_connections = 1024;
    TcpOptions options{.stressor = stressor,
                       .bytes = message_size(stressor, settings, "bytes"),
                       .connections = 1,
                       .hosts = base::split(settings.text("hosts"), '+'),
                       .port = static_cast<std::uint16_t>(
                           count_option(stressor, settings, "port", std::numeric_limits<std::uint16_t>::max()))};
    if (settings.all().contains("connections"))
        options.connections = count_option(stressor, settings, "connections", most_connections);
    return options;
}

// Memory is needed over loopback only, for bytes in flight in the kernel.
Needs tcp_needs(const TcpOptions& options)
{
    const auto connections = static_cast<std::int64_t>(options.connections);
    return {
        .memory = {static_cast<std::int64_t>(send_most) * (connections + 2)},
        .files = 0,
        .descriptors = 2 * connections + 1 + (options.hosts.empty() ? 0 : static_cast<std::int64_t>(Arrivals::most))};
}

std::unique_ptr<Shared> share_tcp(const TcpOptions& options, const Place& place)
{
    return std::make_unique<TcpShared>(options, place.noise);
}

std::unique_ptr<Stressor> make_tcp_exchange(const Place& place, const TcpOptions& options)
{
    return std::make_unique<TcpExchange>(static_cast<TcpShared&>(*place.shared), place, options);
}

}  // namespace noisegen

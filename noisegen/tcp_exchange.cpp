#include "noisegen/tcp_exchange.hpp"

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/stop.hpp"
#include "noisegen/sockets.hpp"

#include <algorithm>

namespace noisegen {

namespace {

constexpr std::int64_t step_ns = 1'000'000;
constexpr std::int64_t patience_ns = 10'000'000'000;
constexpr std::int64_t second_patience_ns = 1'000'000'000;

struct TcpShared final : Shared {
    explicit TcpShared(const TcpOptions& options)
    {
        if (options.hosts.empty()) return;
        for (const std::string& host : options.hosts)
            for (const std::string& address : addresses_of(host)) welcome.push_back(address);
        listener = listen_on(options.port, false);
    }

    Socket
        listener;  // not open: loopback, or the port is taken by another noisegen of this host, which listens for both
    std::vector<std::string> welcome;
};

class TcpExchange final : public Stressor {
 public:
    TcpExchange(TcpShared& shared, const Place& place, const TcpOptions& options)
        : shared_{shared}, out_(options.bytes, 1), in_(std::max<std::size_t>(options.bytes, 64 << 10U))
    {
        if (options.hosts.empty())
            connect_to_self();
        else
            connect_to_peer(place, options);
    }

    // A connection that was lost is made again: a chip without traffic would pass for noise.
    void begin(const Turn&) override
    {
        if (connection_.open()) return;
        left_ = 0;
        connect(second_patience_ns);
    }

    // Sends the rest of a message, reads what has come; both ends of a loopback connection are in this thread.
    Work step() override
    {
        const std::int64_t end = base::now_ns() + step_ns;
        Work work;
        do {
            work.bytes += send();
            if (left_ == 0) {
                left_ = out_.size();
                work.operations = 1;
            }
            receive();
        } while (work.operations == 0 && base::now_ns() < end);
        return work;
    }

    // What is still in the kernel's buffers does not travel on after the chip.
    void end() override { receive(); }

    std::string note() const override
    {
        return base::join("TCP to ", peer_, ", messages of ", out_.size(), " bytes",
                          connection_.open() ? "" : "; the other side went away");
    }

 private:
    void connect_to_self()
    {
        const Socket listener = listen_on(0, true);
        connection_ = connect_to("127.0.0.1", port_of(listener));
        auto other = accept_from(listener);
        if (!connection_.open() || !other) base::fail("cannot connect over loopback");
        readers_.push_back(std::move(other->socket));
        peer_ = "loopback";
    }

    void connect_to_peer(const Place& place, const TcpOptions& options)
    {
        const std::vector<std::string> own = own_addresses();
        std::vector<std::string> others;
        for (const std::string& host : options.hosts)
            if (!is_one_of(addresses_of(host), own)) others.push_back(host);
        if (others.empty()) others = options.hosts;
        peer_ = others[place.index % others.size()];
        port_ = options.port;
        connect(patience_ns);
    }

    static bool is_one_of(const std::vector<std::string>& addresses, const std::vector<std::string>& own)
    {
        return std::find_first_of(addresses.begin(), addresses.end(), own.begin(), own.end()) != addresses.end();
    }

    void connect(std::int64_t patience)
    {
        const std::int64_t deadline = base::now_ns() + patience;
        while (!base::stop_requested()) {
            connection_ = connect_to(peer_, port_);
            if (connection_.open()) return;
            if (base::now_ns() > deadline) base::fail("cannot connect to ", peer_, " port ", port_);
            base::sleep_until_ns(base::now_ns() + 100'000'000);
        }
    }

    std::size_t send()
    {
        if (!connection_.open()) {
            base::sleep_until_ns(base::now_ns() + step_ns);
            return 0;
        }
        const auto sent = connection_.send(out_.data() + (out_.size() - left_), left_);
        if (!sent) {
            connection_ = {};
            return 0;
        }
        left_ -= *sent;
        return *sent;
    }

    void receive()
    {
        if (shared_.listener.open()) {
            auto accepted = accept_from(shared_.listener);
            const auto& welcome = shared_.welcome;
            if (accepted && std::find(welcome.begin(), welcome.end(), accepted->address) != welcome.end())
                readers_.push_back(std::move(accepted->socket));
        }
        std::erase_if(readers_, [this](Socket& reader) {
            auto received = reader.receive(in_.data(), in_.size());
            for (int more = 0; more < 4 && received.value_or(0) > 0; ++more)
                received = reader.receive(in_.data(), in_.size());
            return !received.has_value();
        });
    }

    TcpShared& shared_;
    std::vector<char> out_;
    std::vector<char> in_;
    Socket connection_;
    std::vector<Socket> readers_;
    std::string peer_;
    std::uint16_t port_ = 0;
    std::size_t left_ = 0;  // of the message under way
};

}  // namespace

std::unique_ptr<Shared> share_tcp(const TcpOptions& options)
{
    return std::make_unique<TcpShared>(options);
}

std::unique_ptr<Stressor> make_tcp_exchange(const Place& place, const TcpOptions& options)
{
    return std::make_unique<TcpExchange>(static_cast<TcpShared&>(*place.shared), place, options);
}

}  // namespace noisegen

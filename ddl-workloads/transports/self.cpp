// SPDX-License-Identifier: Apache-2.0
// A single process without MPI: every exchange completes immediately.
#include "base/error.hpp"
#include "ddl-workloads/transports/inbox_mailbox.hpp"
#include "ddl-workloads/transports/transport.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

#include <unistd.h>

namespace ddl {

namespace {

class SelfMailbox : public InboxMailbox {
 public:
    SelfMailbox() : InboxMailbox{{0}, 1} {}

 private:
    void transmit(int to, int tag, std::span<const std::byte> message) override
    {
        inbox().deliver(to, tag, {message.begin(), message.end()});
    }
};

class SelfTransport : public Transport {
 public:
    int rank() const override { return 0; }
    int size() const override { return 1; }
    void sum(std::span<float>) override {}
    void sum(std::span<Half>) override {}
    void bitwise_and(std::span<std::uint64_t>) override {}
    void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override
    {
        std::copy(mine.begin(), mine.end(), all.begin());
    }
    void all_to_all(std::span<const std::byte> mine, std::span<const int>, std::span<std::byte> all,
                    std::span<const int>) override
    {
        std::copy(mine.begin(), mine.end(), all.begin());
    }
    void broadcast(std::span<std::byte>, int) override {}
    void barrier() override {}
    std::vector<std::string> gather(const std::string& text) override { return {text}; }
    std::unique_ptr<otf2::Team> team() override { return std::make_unique<otf2::SoloTeam>(); }
    void record(otf2::LocationRecorder* location) override { mailbox_.record(location); }
    Mailbox& mailbox() override { return mailbox_; }
    std::unique_ptr<Transport> group(const std::vector<int>& ranks) override
    {
        if (ranks != std::vector<int>{0}) base::fail("one process has no groups");
        return std::make_unique<SelfTransport>();
    }
    void abort(int code) noexcept override { _exit(code); }
    nlohmann::ordered_json describe() const override { return {{"name", "self"}}; }

 private:
    SelfMailbox mailbox_;
};

}  // namespace

extern const TransportCard self_transport{
    .name = "self",
    .summary = "a single process, without MPI",
    .offers = {&host_exchange, &messages, &groups},
    .options = {},
    .make = [](const base::Settings&, const TransportPlan&) -> std::unique_ptr<Transport> {
        return std::make_unique<SelfTransport>();
    },
};

}  // namespace ddl

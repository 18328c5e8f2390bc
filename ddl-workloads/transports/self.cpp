// One process alone, without MPI: every exchange is done as soon as it is asked for.
#include "ddl-workloads/transports/transport.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

#include <unistd.h>

namespace ddl {

namespace {

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
    void record(otf2::LocationRecorder*) override {}
    void abort(int code) noexcept override { _exit(code); }
    nlohmann::ordered_json describe() const override { return {{"name", "self"}}; }
};

}  // namespace

extern const TransportCard self_transport;
const TransportCard self_transport{
    .name = "self",
    .summary = "one process alone, without MPI",
    .offers = {&host_exchange},
    .options = {},
    .make = [](const base::Settings&, const TransportPlan&) -> std::unique_ptr<Transport> {
        return std::make_unique<SelfTransport>();
    },
};

}  // namespace ddl

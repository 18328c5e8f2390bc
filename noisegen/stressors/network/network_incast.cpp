// SPDX-License-Identifier: Apache-2.0
// All MPI ranks send to one, as to a parameter server or the owner of a shared file: contends for that rank's link and
// fills the queues of the switch in front of it.
#include "base/error.hpp"
#include "base/system/launcher.hpp"
#include "noisegen/stressors/network/message_options.hpp"
#include "noisegen/stressors/network/mpi_exchange.hpp"

#include <optional>

namespace noisegen {

namespace {

struct IncastOptions {
    std::size_t bytes = 0;
    int window = 1;
    std::optional<int> root{};  // none: each rank in turn
};

IncastOptions incast_options(const base::Settings& settings)
{
    IncastOptions options{.bytes = message_size("network.incast", settings, "bytes"),
                          .window = count_option("network.incast", settings, "window", 1024)};
    if (settings.text("root") == "rotate") return options;
    try {
        options.root = base::parse<int>(settings.text("root"));
    } catch (const base::UsageError&) {
    }
    if (options.root.value_or(-1) < 0)
        base::fail_usage("network.incast[root] must be rotate, or the number of a rank such as 0, not ",
                         settings.text("root"));
    return options;
}

}  // namespace

extern const StressorCard network_incast{
    .name = "network.incast",
    .summary = mpi_summary(
        "MPI messages from all noise processes to one of them; counts bytes sent; an operation is a message"),
    .options = with_intensity("500MiB/s or 1000/s", {{"bytes", "64KiB", "per message"},
                                                     {"window", "4", "messages in flight per rank"},
                                                     {"root", "rotate", "receiving rank; rotate: each in turn"}}),
    .counts_bytes = true,
    .counts_operations = true,
    .needs =
        [](const base::Settings& settings) {
            const IncastOptions options = incast_options(settings);
            const auto messages = static_cast<std::int64_t>(options.window) * base::job_rank().size + 1;
            return Needs{.memory = {messages * static_cast<std::int64_t>(options.bytes)}, .mpi = true};
        },
    .share = [](const base::Settings&, const Place& place) { return share_mpi(place); },
    .make =
        [](const base::Settings& settings, const Place& place) {
            const IncastOptions options = incast_options(settings);
            return make_mpi_incast(place, options.bytes, options.window, options.root);
        },
};

}  // namespace noisegen

// SPDX-License-Identifier: Apache-2.0
// Delays one rank in one phase (--delay).
#include "base/error.hpp"
#include "ddl-workloads/hooks/make_hooks.hpp"
#include "ddl-workloads/instruments/injected_delay.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace ddl {

namespace {

class InjectedDelays : public Hook {
 public:
    InjectedDelays(Instruments& instruments, std::vector<InjectedDelay> mine)
        : injector_{instruments.recorder(), instruments.main(), std::move(mine)}
    {
        instruments.clock().listen(injector_);
    }

    void describe(nlohmann::ordered_json& mine) const override
    {
        mine["injected_delays"] = {{"count", injector_.count()}, {"ns", injector_.total_ns()}};
    }

 private:
    DelayInjector injector_;
};

}  // namespace

namespace hook {

extern const HookCard injected_delays{
    .make = [](const HookParts& parts) -> std::shared_ptr<Hook> {
        std::vector<InjectedDelay> mine;
        for (const InjectedDelay& delay : parts.plan.delays.injected) {
            if (delay.rank >= parts.exchanges.size())
                base::fail_usage("--delay: there is no rank ", delay.rank, " of ", parts.exchanges.size());
            if (delay.rank == parts.exchanges.rank()) mine.push_back(delay);
        }
        return std::make_shared<InjectedDelays>(parts.instruments, std::move(mine));
    },
};

}  // namespace hook

}  // namespace ddl

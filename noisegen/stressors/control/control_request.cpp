// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/control/control_request.hpp"

#include "base/system/clock.hpp"

#include <algorithm>
#include <utility>

namespace noisegen {

namespace {

constexpr std::int64_t renewal_ns = 5'000'000;
constexpr std::int64_t ahead_ns = 20'000'000;

class Asking final : public Stressor {
 public:
    Asking(base::ControlRequest request, const Place& place)
        : request_{request}, control_{base::ControlFile::open(place.control_run, base::host_name())}
    {
    }
    ~Asking() override { end(); }

    void begin(const Turn& turn) override
    {
        deadline_ns_ = turn.deadline_ns;
        base::ControlPage& page = control_.page();
        acknowledged_ = page.acknowledged.load();
        page.request.store(static_cast<std::uint32_t>(request_));
        page.slot_end_ns.store(turn.deadline_ns);
        asking_ = true;
    }

    Work step() override
    {
        const std::int64_t now = base::now_ns();
        control_.page().on_until_ns.store(std::min(now + ahead_ns, deadline_ns_));
        base::sleep_until_ns(std::min(now + renewal_ns, deadline_ns_));
        const std::uint64_t before = std::exchange(acknowledged_, control_.page().acknowledged.load());
        if (acknowledged_ < before) return {};  // the file was truncated or replaced
        any_ = any_ || acknowledged_ != before;
        return {.bytes = 0, .operations = acknowledged_ - before};
    }

    void end() override
    {
        if (!asking_) return;
        control_.page().on_until_ns.store(0);
        asking_ = false;
    }

    std::string note() const override { return any_ ? "the training acknowledged" : "no training acknowledged"; }

 private:
    base::ControlRequest request_;
    base::ControlFile control_;
    std::int64_t deadline_ns_ = 0;
    std::uint64_t acknowledged_ = 0;
    bool asking_ = false;
    bool any_ = false;
};

}  // namespace

std::unique_ptr<Stressor> asking_for(base::ControlRequest request, const Place& place)
{
    return std::make_unique<Asking>(request, place);
}

}  // namespace noisegen

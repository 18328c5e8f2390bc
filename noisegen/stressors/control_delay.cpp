// Asks the training, through the control file, for a delay of known length in every step: the built-in positive
// control. An analysis that does not find it is wrong.
#include "base/clock.hpp"
#include "base/control_file.hpp"
#include "noisegen/stressor.hpp"

#include <algorithm>
#include <utility>

namespace noisegen {

namespace {

constexpr std::int64_t renewal_ns = 5'000'000;
constexpr std::int64_t ahead_ns = 20'000'000;  // a killed noisegen stops asking after this

class ControlDelay final : public Stressor {
 public:
    explicit ControlDelay(const Place& place) : control_{base::ControlFile::open(place.control_run, base::host_name())}
    {
    }
    ~ControlDelay() override { end(); }

    void begin(const Turn& turn) override
    {
        deadline_ns_ = turn.deadline_ns;
        acknowledged_ = control_.page().acknowledged.load();
        asking_ = true;
    }

    Work step() override
    {
        const std::int64_t now = base::now_ns();
        control_.page().on_until_ns.store(std::min(now + ahead_ns, deadline_ns_));
        base::sleep_until_ns(std::min(now + renewal_ns, deadline_ns_));
        const std::uint64_t before = std::exchange(acknowledged_, control_.page().acknowledged.load());
        if (acknowledged_ < before) return {};  // the file was cut short, or made anew
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
    base::ControlFile control_;
    std::int64_t deadline_ns_ = 0;
    std::uint64_t acknowledged_ = 0;
    bool asking_ = false;
    bool any_ = false;
};

}  // namespace

extern const StressorCard control_delay{
    .name = "control.delay",
    .summary =
        "asks the training for a known delay (ddl-train --control-delay): the positive control; an operation is a "
        "step that looked",
    .cpus = StressorCard::Cpus::none,
    .make = [](const base::Settings&, const Place& place) -> std::unique_ptr<Stressor> {
        return std::make_unique<ControlDelay>(place);
    },
};

}  // namespace noisegen

// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/control/control_request.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"

#include <algorithm>
#include <utility>

namespace noisegen {

namespace {

constexpr std::int64_t renewal_ns = 5'000'000;
constexpr std::int64_t ahead_ns = 20'000'000;

// A training reads a request as a step begins, executes it in the next step, and answers before the step after that.
constexpr std::uint64_t steps_to_answer = 3;
constexpr std::uint64_t most_unanswered = 10;  // one unanswered slot in ten is tolerated, whatever the reason

class Asking final : public Stressor {
 public:
    Asking(base::ControlRequest request, const Place& place, std::uint32_t value)
        : request_{request},
          value_{value},
          of_steps_{request == base::ControlRequest::delay || request == base::ControlRequest::sham},
          control_{base::ControlFile::open(place.control_run, base::host_name())}
    {
    }
    ~Asking() override { end(); }

    void begin(const Turn& turn) override
    {
        deadline_ns_ = turn.deadline_ns;
        base::ControlPage& page = control_.page();
        answers_ = answers();
        answered_before_ = answered_;
        first_step_ = page.step.load();
        page.value.store(value_);
        page.request.store(static_cast<std::uint32_t>(request_));
        page.slot_end_ns.store(turn.deadline_ns);
        asking_ = true;
        ++slots_;
    }

    Work step() override
    {
        const std::int64_t now = base::now_ns();
        control_.page().on_until_ns.store(std::min(now + ahead_ns, deadline_ns_));
        base::sleep_until_ns(std::min(now + renewal_ns, deadline_ns_));
        const std::uint64_t before = std::exchange(answers_, answers());
        if (answers_ < before) return {};  // the file was truncated or replaced
        answered_ += answers_ - before;
        return {.bytes = 0, .operations = answers_ - before};
    }

    void end() override
    {
        if (!asking_) return;
        control_.page().on_until_ns.store(0);
        asking_ = false;
        const std::uint64_t step = control_.page().step.load();
        const bool had_time = step == 0 || step - first_step_ >= steps_to_answer;  // 0: it does not publish its steps
        if (answered_ == answered_before_ && had_time) ++missed_;
    }

    std::string note() const override
    {
        if (of_steps_) return answered_ > 0 ? "the training acknowledged" : "no training acknowledged";
        return base::join("the training answered in ", answered_, " of ", slots_, " slots");
    }

    // Tolerates one missed slot, which the end of the noise may have cut off, and one slot in ten without an answer: a
    // step that is longer than the slot cannot answer within it.
    std::string not_kept() const override
    {
        if (of_steps_ || (missed_ <= 1 && slots_ - answered_ <= 1 + slots_ / most_unanswered)) return {};
        return base::join(slots_ - answered_, " of ", slots_, " requests that the training did not answer");
    }

 private:
    std::uint64_t answers() { return (of_steps_ ? control_.page().acknowledged : control_.page().served).load(); }

    base::ControlRequest request_;
    std::uint32_t value_;
    bool of_steps_;  // each step answers; otherwise there is one answer per slot
    base::ControlFile control_;
    std::int64_t deadline_ns_ = 0;
    std::uint64_t answers_ = 0;
    std::uint64_t answered_ = 0;
    std::uint64_t answered_before_ = 0;  // answers before this slot
    std::uint64_t first_step_ = 0;       // the training's step when this slot began
    std::uint64_t slots_ = 0;
    std::uint64_t missed_ = 0;  // slots without an answer although the training had time for one
    bool asking_ = false;
};

}  // namespace

std::unique_ptr<Stressor> asking_for(base::ControlRequest request, const Place& place, std::uint32_t value)
{
    return std::make_unique<Asking>(request, place, value);
}

}  // namespace noisegen

// SPDX-License-Identifier: Apache-2.0
// Changes the number of loader threads while job.loaders of noisegen requests it.
#include "base/system/clock.hpp"
#include "ddl-workloads/hooks/make_hooks.hpp"

#include <utility>

namespace ddl {

namespace {

struct LoaderNews {
    std::int64_t readers = 0;
    std::int64_t slot_end_ns = 0;  // 0: no request, `readers` is the plan's number
};

// Rank 0 reads the request; all ranks execute it in the next step.
class Loaders : public Hook {
 public:
    explicit Loaders(const HookParts& parts)
        : input_{parts.input},
          page_{parts.page},
          planned_{parts.plan.input.readers},
          slot_{parts.board.add<LoaderNews>()}
    {
    }

    void post(StepContext& context) override
    {
        if (context.exchanges.rank() != 0) return;
        LoaderNews news{.readers = planned_};
        if (page_ != nullptr && base::request(*page_, base::now_ns()) == base::ControlRequest::loaders)
            news = {.readers = page_->value.load(std::memory_order_relaxed),
                    .slot_end_ns = page_->slot_end_ns.load(std::memory_order_relaxed)};
        slot_.post(news);
    }

    void before_step(StepContext& context) override
    {
        const std::vector<LoaderNews> all = slot_.received();
        if (all.empty()) return;
        const LoaderNews& wanted = all.front();
        if (wanted.readers != input_.readers())
            input_.set_readers(static_cast<int>(wanted.readers), context.state.done());
        const bool new_slot = std::exchange(slot_end_ns_, wanted.slot_end_ns) != wanted.slot_end_ns;
        if (new_slot && wanted.slot_end_ns != 0 && page_ != nullptr)
            page_->served.fetch_add(1, std::memory_order_relaxed);
    }

 private:
    BatchSource& input_;
    base::ControlPage* page_;
    int planned_;
    NewsBoard::Slot<LoaderNews> slot_;
    std::int64_t slot_end_ns_ = 0;
};

}  // namespace

namespace hook {

extern const HookCard loaders{
    .make = [](const HookParts& parts) -> std::shared_ptr<Hook> {
        if (!parts.plan.trials.empty()) return nullptr;
        return std::make_shared<Loaders>(parts);
    },
};

}  // namespace hook

}  // namespace ddl

#include "ddl-workloads/train/steps/step_exchange.hpp"

#include <algorithm>
#include <type_traits>

namespace ddl {

static_assert(std::is_trivially_copyable_v<StepNews>, "news travel as bytes");

Stop agreed(const std::vector<StepNews>& news)
{
    Stop strongest = Stop::no;
    for (const StepNews& one : news) strongest = std::max(strongest, one.wish);
    return strongest;
}

StepExchange::StepExchange(ExchangeThread& exchanges)
    : exchanges_{exchanges}, all_(static_cast<std::size_t>(exchanges.size()))
{
}

std::vector<StepNews> StepExchange::next(const StepNews& mine)
{
    std::vector<StepNews> earlier = settle();
    mine_ = mine;
    pending_ = exchanges_.all_gather(std::as_bytes(std::span{&mine_, 1}), std::as_writable_bytes(std::span{all_}));
    return earlier;
}

std::vector<StepNews> StepExchange::settle()
{
    if (!pending_.valid()) return {};
    pending_.get();
    return all_;
}

}  // namespace ddl

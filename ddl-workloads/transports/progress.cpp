#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "ddl-workloads/transports/transport.hpp"

#include <ctime>

#include <sched.h>

namespace ddl {

void Progress::pause() const
{
    if (policy == Policy::yield) sched_yield();
    if (policy == Policy::sleep) base::sleep_until_ns(base::now_ns() + rest.count());
}

Progress parse_progress(const std::string& text)
{
    if (text == "spin") return {.policy = Progress::Policy::spin};
    if (text == "yield") return {.policy = Progress::Policy::yield};
    if (text == "sleep") return {.policy = Progress::Policy::sleep};
    if (text.starts_with("sleep=")) {
        const Progress progress{.policy = Progress::Policy::sleep,
                                .rest = base::parse<base::Nanoseconds>(text.substr(6))};
        if (progress.rest.count() <= 0) base::fail_usage("--progress ", text, ": a rest must be longer than nothing");
        return progress;
    }
    base::fail_usage("--progress '", text, "' is none of spin|yield|sleep=50us",
                     base::did_you_mean(text, std::vector<std::string>{"spin", "yield", "sleep"}));
}

std::string format(const Progress& progress)
{
    switch (progress.policy) {
        case Progress::Policy::spin:
            return "spin";
        case Progress::Policy::yield:
            return "yield";
        case Progress::Policy::sleep:
            break;
    }
    return "sleep=" + base::format(progress.rest);
}

}  // namespace ddl

// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/aside/events_aside.hpp"

#include "trace-tools/otf2/read/fan_out.hpp"

#include <algorithm>
#include <filesystem>
#include <future>
#include <system_error>
#include <vector>

namespace otf2 {

EventsAside::EventsAside(Reader& reader, std::span<Visitor* const> visitors) : reader_{reader}
{
    std::error_code code;
    const std::filesystem::path directory = std::filesystem::temp_directory_path(code);
    try {
        for (std::size_t i = 0; !code && i < visitors.size(); ++i)
            spills_.emplace_back(reader.archive_, *reader.references_, directory, Spill::WhenFull::gives_up);
    } catch (const std::system_error&) {  // no temporary files can be created
        spills_.clear();
    }
    std::deque<FanOut<Spill, Visitor>> with_spills;
    std::vector<Visitor*> all{visitors.begin(), visitors.end()};
    for (std::size_t i = 0; i < spills_.size(); ++i) all[i] = &with_spills.emplace_back(&spills_[i], visitors[i]);
    reader.read_by_location(all);
    const auto is_whole = [](Spill& spill) { return spill.is_whole(); };
    if (spills_.empty() || !std::all_of(spills_.begin(), spills_.end(), is_whole)) return;
    std::vector<Spill*> whole;
    for (Spill& spill : spills_) whole.push_back(&spill);
    in_order_.emplace(whole);
}

void EventsAside::read(Visitor& visitor, bool with_a_thread)
{
    if (!in_order_) return reader_.read(visitor);
    std::future<void> helper;  // the destructor waits for its end
    if (with_a_thread) helper = std::async(std::launch::async, [&] { in_order_->help_all(); });
    in_order_->read(visitor);
}

}  // namespace otf2

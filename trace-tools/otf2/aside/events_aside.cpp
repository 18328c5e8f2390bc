#include "trace-tools/otf2/aside/events_aside.hpp"

#include "trace-tools/otf2/read/fan_out.hpp"

#include <algorithm>
#include <filesystem>
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
    } catch (const std::system_error&) {  // no files can be made there
        spills_.clear();
    }
    std::deque<FanOut> with_spills;
    std::vector<Visitor*> all{visitors.begin(), visitors.end()};
    for (std::size_t i = 0; i < spills_.size(); ++i) {
        FanOut& both = with_spills.emplace_back(std::initializer_list<Visitor*>{&spills_[i], visitors[i]});
        all[i] = &both;
    }
    reader.read_by_location(all);
    const auto is_whole = [](Spill& spill) { return spill.is_whole(); };
    if (!std::all_of(spills_.begin(), spills_.end(), is_whole)) spills_.clear();
}

void EventsAside::read(Visitor& visitor)
{
    if (spills_.empty()) return reader_.read(visitor);
    std::vector<Spill*> all;
    for (Spill& spill : spills_) all.push_back(&spill);
    Spill::read(all, visitor);
}

}  // namespace otf2

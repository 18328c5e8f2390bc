// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/write/counters.hpp"

#include "base/error.hpp"
#include "base/system/environment.hpp"

#include <map>
#include <mutex>
#include <string_view>

#ifdef CROSSTALK_HAS_PAPI
#include <papi.h>
#include <sde_lib.h>
#endif

namespace otf2 {

namespace {

// Never destroyed: PAPI may read the counters until the process ends.
struct Published {
    std::mutex mutex;
    std::map<std::string, std::atomic<std::uint64_t>> values;  // elements of a map never move
    std::map<std::string, std::string> descriptions;
};

Published& published()
{
    static auto& counters = *new Published;
    return counters;
}

void publish(const std::string& name, const std::string& description, std::atomic<std::uint64_t>& value);

}  // namespace

PublishedCounter::PublishedCounter(const std::string& name, const std::string& description) : name_{name}
{
    Published& all = published();
    const std::lock_guard lock{all.mutex};
    const auto [place, added] = all.values.try_emplace(name, 0);
    value_ = &place->second;
    if (!added) return;
    all.descriptions[name] = description;
    publish(name, description, *value_);
}

std::vector<CounterAndText> published_counters()
{
    std::map<std::string, std::string> descriptions;
    {
        const std::lock_guard lock{published().mutex};
        descriptions = published().descriptions;
    }
    std::vector<CounterAndText> all;
    for (const auto& [name, description] : descriptions) all.push_back({PublishedCounter{name}, description});
    return all;
}

#ifdef CROSSTALK_HAS_PAPI

namespace {

long long read_counter(void* value)
{
    return static_cast<long long>(static_cast<std::atomic<std::uint64_t>*>(value)->load(std::memory_order_relaxed));
}

template <class... Parts>
void check_papi(int code, const Parts&... parts)
{
    if (code == PAPI_OK) return;
    const char* why = PAPI_strerror(code);
    base::fail("cannot ", parts..., ": ", why != nullptr ? why : "PAPI gives no reason");
}

void publish(const std::string& name, const std::string& description, std::atomic<std::uint64_t>& value)
{
    static papi_handle_t const library = papi_sde_init("crosstalk");
    check_papi(papi_sde_register_counter_cb(library, name.c_str(), PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long,
                                            read_counter, &value),
               "publish counter ", name);
    if (!description.empty()) papi_sde_describe_counter(library, name.c_str(), description.c_str());
}

// PAPI initialises most components only when an event is looked up, and their libraries may print to stderr (for
// example, if there is no GPU). papi_starts() and its callers are silenced separately, since nested Silence objects
// would deadlock.
bool papi_starts()
{
    static const int version = [] {
        const base::Silence of_papi;
        return PAPI_library_init(PAPI_VER_CURRENT);
    }();
    return version == PAPI_VER_CURRENT;
}

}  // namespace

bool counters_available()
{
    return true;
}

namespace {

// PAPI lists all events of the processor model, even if a virtual machine hides the counters, so adding the event is
// tried.
bool can_be_added(int event)
{
    int set = PAPI_NULL;
    if (PAPI_create_eventset(&set) != PAPI_OK) return false;
    const bool added = PAPI_add_event(set, event) == PAPI_OK;
    PAPI_cleanup_eventset(set);
    PAPI_destroy_eventset(&set);
    return added;
}

}  // namespace

std::vector<std::string> available_presets()
{
    std::vector<std::string> names;
    if (!papi_starts()) return names;
    const base::Silence of_components;
    int code = static_cast<int>(PAPI_PRESET_MASK);
    int more = PAPI_enum_event(&code, PAPI_ENUM_FIRST);
    for (; more == PAPI_OK; more = PAPI_enum_event(&code, PAPI_PRESET_ENUM_AVAIL)) {
        PAPI_event_info_t info{};
        if (PAPI_get_event_info(code, &info) == PAPI_OK && info.count > 0 && can_be_added(code))
            names.emplace_back(info.symbol);
    }
    return names;
}

CounterReader::CounterReader(const std::vector<std::string>& events, CountedThreads threads)
{
    if (!papi_starts()) base::unavailable("PAPI is not usable: its library does not initialise");
    const base::Silence of_components;
    try {
        for (const std::string& event : events) add(event, threads);
        for (const EventSet& set : sets_) check_papi(PAPI_start(set.handle), "start counting");
    } catch (...) {
        close();
        throw;
    }
}

CounterReader::~CounterReader()
{
    close();
}

void CounterReader::add(const std::string& name, CountedThreads threads)
{
    int code = 0;
    check_papi(PAPI_event_name_to_code(name.c_str(), &code), "count ", name);
    const int component = PAPI_get_event_component(code);
    const PAPI_component_info_t* const about = component < 0 ? nullptr : PAPI_get_component_info(component);
    if (about == nullptr) base::fail("cannot count ", name, ": PAPI does not name its counters");

    EventSet& set = set_of(component, threads);
    check_papi(PAPI_add_event(set.handle, code), "count ", name);
    set.events.push_back(events_.size());

    PAPI_event_info_t info{};
    static_cast<void>(PAPI_get_event_info(code, &info));
    const bool preset = IS_PRESET(static_cast<unsigned int>(code));
    const bool published = std::string_view{about->short_name} == "sde" || std::string_view{about->name} == "sde";
    events_.push_back({.name = name,
                       .unit = *info.units != '\0' ? info.units : "#",
                       .description = preset ? info.short_descr : info.long_descr,
                       .source = preset      ? "PAPI preset"
                                 : published ? "PAPI SDE"
                                             : "PAPI native event",
                       .threads = set.threads});
}

// PAPI 7.0 can count other threads only if the processor has counters, and refuses otherwise.
CounterReader::EventSet& CounterReader::set_of(int component, CountedThreads threads)
{
    for (EventSet& set : sets_)
        if (set.component == component) return set;
    EventSet& set = sets_.emplace_back();
    set.component = component;
    check_papi(PAPI_create_eventset(&set.handle), "make a PAPI event set");
    check_papi(PAPI_assign_eventset_component(set.handle, component), "make a PAPI event set");
    if (threads == CountedThreads::this_one_and_those_it_starts) {
        PAPI_option_t option{};
        option.inherit = {.eventset = set.handle, .inherit = PAPI_INHERIT_ALL};
        if (PAPI_set_opt(PAPI_INHERIT, &option) == PAPI_OK) set.threads = threads;
    }
    return set;
}

void CounterReader::close() noexcept
{
    for (EventSet& set : sets_) {
        PAPI_stop(set.handle, nullptr);
        PAPI_cleanup_eventset(set.handle);
        PAPI_destroy_eventset(&set.handle);
    }
}

std::vector<std::int64_t> CounterReader::read()
{
    std::vector<std::int64_t> values(events_.size());
    for (const EventSet& set : sets_) {
        std::vector<long long> counts(set.events.size());
        check_papi(PAPI_read(set.handle, counts.data()), "read counters");
        for (std::size_t i = 0; i < counts.size(); ++i) values[set.events[i]] = counts[i];
    }
    return values;
}

#else

bool counters_available()
{
    return false;
}

namespace {

void publish(const std::string&, const std::string&, std::atomic<std::uint64_t>&) {}

}  // namespace

std::vector<std::string> available_presets()
{
    return {};
}

CounterReader::CounterReader(const std::vector<std::string>&, CountedThreads)
{
    base::unavailable("built without PAPI: no counters");
}

CounterReader::~CounterReader() = default;

std::vector<std::int64_t> CounterReader::read()
{
    return {};
}

#endif

}  // namespace otf2

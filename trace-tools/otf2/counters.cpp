#include "trace-tools/otf2/counters.hpp"

#include "base/error.hpp"

#include <map>
#include <mutex>
#include <utility>

#ifdef CROSSTALK_HAS_PAPI
#include <papi.h>
#include <sde_lib.h>
#endif

namespace otf2 {

namespace {

// Never destroyed: PAPI may read the counters until the process ends.
struct Published {
    std::mutex mutex;
    std::map<std::string, std::atomic<std::uint64_t>> values;  // a map's elements stay where they are
};

Published& published()
{
    static auto& counters = *new Published;
    return counters;
}

void publish(const std::string& name, const std::string& description, std::atomic<std::uint64_t>& value);

}  // namespace

PublishedCounter::PublishedCounter(const std::string& name, const std::string& description)
    : event_{"sde:::crosstalk::" + name}
{
    Published& all = published();
    const std::lock_guard lock{all.mutex};
    const auto [place, added] = all.values.try_emplace(name, 0);
    value_ = &place->second;
    if (added) publish(name, description, *value_);
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
    base::fail("cannot ", parts..., ": ", why != nullptr ? why : "PAPI does not tell why");
}

void publish(const std::string& name, const std::string& description, std::atomic<std::uint64_t>& value)
{
    static papi_handle_t const library = papi_sde_init("crosstalk");
    check_papi(papi_sde_register_counter_cb(library, name.c_str(), PAPI_SDE_RO | PAPI_SDE_DELTA, PAPI_SDE_long_long,
                                            read_counter, &value),
               "publish counter ", name);
    if (!description.empty()) papi_sde_describe_counter(library, name.c_str(), description.c_str());
}

void start_papi()
{
    static const int version = PAPI_library_init(PAPI_VER_CURRENT);
    if (version != PAPI_VER_CURRENT) base::unavailable("PAPI cannot be used here: its library does not start");
}

}  // namespace

bool counters_available()
{
    return true;
}

CounterReader::CounterReader(std::vector<std::string> events) : events_{std::move(events)}
{
    start_papi();
    check_papi(PAPI_create_eventset(&event_set_), "make a PAPI event set");
    try {
        for (const std::string& event : events_)
            check_papi(PAPI_add_named_event(event_set_, event.c_str()), "count ", event);
        check_papi(PAPI_start(event_set_), "start counting");
    } catch (...) {
        PAPI_cleanup_eventset(event_set_);
        PAPI_destroy_eventset(&event_set_);
        throw;
    }
}

CounterReader::~CounterReader()
{
    PAPI_stop(event_set_, nullptr);
    PAPI_cleanup_eventset(event_set_);
    PAPI_destroy_eventset(&event_set_);
}

std::vector<std::int64_t> CounterReader::read()
{
    std::vector<long long> values(events_.size());
    check_papi(PAPI_read(event_set_, values.data()), "read counters");
    return {values.begin(), values.end()};
}

#else

bool counters_available()
{
    return false;
}

namespace {

void publish(const std::string&, const std::string&, std::atomic<std::uint64_t>&) {}

}  // namespace

CounterReader::CounterReader(std::vector<std::string>)
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

// SPDX-License-Identifier: Apache-2.0
// Counters read through PAPI: the processor's, and our own, which PAPI tools see as software-defined events (SDE).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace otf2 {

// True if this program was built with PAPI.
bool counters_available();

// A named monotone counter, published as the PAPI event "sde:::crosstalk::<name>". Adding is one atomic addition, at
// any time from any thread. Without PAPI it is an ordinary counter. Names are unique in a process: publishing a name
// again gives the same counter (PAPI 7.0 reads freed memory if a counter is republished after it was withdrawn).
class PublishedCounter {
 public:
    explicit PublishedCounter(const std::string& name, const std::string& description = "");

    void add(std::uint64_t amount) { value_->fetch_add(amount, std::memory_order_relaxed); }
    std::uint64_t value() const { return value_->load(std::memory_order_relaxed); }
    const std::string& name() const { return name_; }
    std::string event() const { return "sde:::crosstalk::" + name_; }  // name of the PAPI event

 private:
    std::string name_;
    std::atomic<std::uint64_t>* value_;  // lives as long as the process
};

struct CounterAndText {
    PublishedCounter counter;
    std::string description;
};

// All counters that this process has published so far, by name.
std::vector<CounterAndText> published_counters();

// PAPI presets that this machine can count, each on its own; empty without PAPI or without hardware counters.
std::vector<std::string> available_presets();

enum class CountedThreads { this_one, this_one_and_those_it_starts };

struct CountedEvent {
    std::string name;
    std::string unit;             // "#" if PAPI does not state one
    std::string description;      // PAPI's description
    std::string source;           // "PAPI preset", "PAPI SDE", "PAPI native event"
    CountedThreads threads = {};  // PAPI cannot count several threads everywhere
};

// Reads PAPI events by name: presets, native events and published counters. Throws base::Unavailable without PAPI,
// base::Error for an event that this machine does not have, or cannot count together with the others. Counts from
// construction on; use it only on the thread that made it. Only one reader at a time may use hardware counters.
class CounterReader {
 public:
    explicit CounterReader(const std::vector<std::string>& events, CountedThreads threads = CountedThreads::this_one);
    ~CounterReader();
    CounterReader(const CounterReader&) = delete;
    CounterReader& operator=(const CounterReader&) = delete;

    const std::vector<CountedEvent>& events() const { return events_; }
    std::vector<std::int64_t> read();  // in the order of the events

 private:
    // Events of one PAPI component: an event set cannot mix components.
    struct EventSet {
        int component = 0;
        int handle = -1;
        CountedThreads threads = CountedThreads::this_one;
        std::vector<std::size_t> events;
    };

    void add(const std::string& name, CountedThreads threads);
    EventSet& set_of(int component, CountedThreads threads);
    void close() noexcept;

    std::vector<CountedEvent> events_;
    std::vector<EventSet> sets_;
};

}  // namespace otf2

// SPDX-License-Identifier: Apache-2.0
// Counters that PAPI reads: the processor's, and our own, which PAPI's tools can see as software-defined events (SDE).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace otf2 {

// Was this built with PAPI?
bool counters_available();

// A named monotone counter, published as the PAPI event "sde:::crosstalk::<name>". Adding is an atomic add, at any time
// from any thread. Works as a plain counter without PAPI. One of a name for the whole process: publishing it again
// gives the same one (PAPI 7.0 reads freed memory if a counter is published again after it was withdrawn).
class PublishedCounter {
 public:
    explicit PublishedCounter(const std::string& name, const std::string& description = "");

    void add(std::uint64_t amount) { value_->fetch_add(amount, std::memory_order_relaxed); }
    std::uint64_t value() const { return value_->load(std::memory_order_relaxed); }
    const std::string& event() const { return event_; }  // PAPI's name of it

 private:
    std::string event_;
    std::atomic<std::uint64_t>* value_;  // lives as long as the process
};

// PAPI's presets that this machine can count, each on its own; none without PAPI or without a processor that counts.
std::vector<std::string> available_presets();

enum class CountedThreads { this_one, this_one_and_those_it_starts };

struct CountedEvent {
    std::string name;
    std::string unit;             // "#" if PAPI does not say
    std::string description;      // PAPI's
    std::string source;           // "PAPI preset", "PAPI SDE", "PAPI native event"
    CountedThreads threads = {};  // PAPI cannot count more than one everywhere
};

// Reads PAPI events by name, presets and native events as well as published counters. Throws base::Unavailable without
// PAPI, base::Error for an event this machine does not have, or cannot count together with the others. Counts from the
// construction on, in the thread that made it, which also reads it. Only one at a time may count with the processor.
class CounterReader {
 public:
    explicit CounterReader(const std::vector<std::string>& events, CountedThreads threads = CountedThreads::this_one);
    ~CounterReader();
    CounterReader(const CounterReader&) = delete;
    CounterReader& operator=(const CounterReader&) = delete;

    const std::vector<CountedEvent>& events() const { return events_; }
    std::vector<std::int64_t> read();  // in the order of the events

 private:
    // Events of one of PAPI's components: a set cannot hold events of two.
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

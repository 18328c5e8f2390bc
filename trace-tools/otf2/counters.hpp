// Counters of our own that PAPI's tools can see: PAPI's software-defined events (SDE). Present where PAPI is.
#pragma once

#include <atomic>
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

// Reads PAPI events by name, presets and hardware events as well as published counters. Throws base::Unavailable
// without PAPI, base::Error for an event this machine does not have. Counts from the construction on, in the thread
// that made it.
class CounterReader {
 public:
    explicit CounterReader(std::vector<std::string> events);
    ~CounterReader();
    CounterReader(const CounterReader&) = delete;
    CounterReader& operator=(const CounterReader&) = delete;

    std::vector<std::int64_t> read();  // in the order of the events

 private:
    std::vector<std::string> events_;
    int event_set_ = -1;
};

}  // namespace otf2

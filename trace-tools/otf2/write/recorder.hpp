// SPDX-License-Identifier: Apache-2.0
// Records events of this process into an OTF2 archive: its own, or that of the MPI job to which it belongs.
//
//     otf2::Recorder recorder{directory};                    // or {directory, std::make_unique<otf2::MpiTeam>(comm)}
//     const otf2::RegionRef step = recorder.region("step");
//     const otf2::AttributeRef number = recorder.attribute("step", otf2::Type::uint64);
//     otf2::LocationRecorder& main = recorder.location("main");
//     main.enter(step, {{number, 3}});
//     main.leave(step);
//     recorder.finish();                                     // creates directory/traces.otf2
//
// Until finish(), everything is in unfinished(directory): a process that is killed or fails leaves no directory that
// looks like an archive.
#pragma once

#include "base/system/clock.hpp"
#include "trace-tools/otf2/definitions.hpp"
#include "trace-tools/otf2/write/team.hpp"

#include <array>
#include <atomic>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

struct OTF2_EvtWriter_struct;
struct OTF2_AttributeList_struct;

namespace otf2 {

// Reference to a definition; valid with the recorder that returned it.
struct RegionRef {
    std::uint32_t id = UINT32_MAX;
};
struct TextRef {
    std::uint32_t id = UINT32_MAX;
};
struct CommunicatorRef {
    std::uint32_t id = UINT32_MAX;
};
struct AttributeRef {
    std::uint32_t id = UINT32_MAX;
    Type type = Type::uint64;
};
struct MetricRef {
    std::uint32_t id = UINT32_MAX;
    Type type = Type::uint64;
};
struct MetricClassRef {
    std::uint32_t id = UINT32_MAX;
    std::vector<Type> types;  // types of its members
};

// A value of an attribute. Numbers are converted to the attribute's type. Texts come from Recorder::text().
struct AttributeValue {
    template <class Number>
    requires std::integral<Number> || std::floating_point<Number> AttributeValue(AttributeRef of, Number number)
        : attribute{of}
    {
        if (of.type == Type::real)
            value.real = static_cast<double>(number);
        else
            value.uint64 = static_cast<std::uint64_t>(number);  // same bits for int64
    }
    AttributeValue(AttributeRef of, TextRef text) : attribute{of} { value.uint64 = text.id; }

    AttributeRef attribute;
    union {
        std::uint64_t uint64;
        double real;
    } value;
};
using Attributes = std::initializer_list<AttributeValue>;

// Whole numbers keep all their digits.
using MetricNumber = std::variant<std::uint64_t, std::int64_t, double>;

// Identifies a communicator, equally on all its ranks: the rank that made it, and a number counted by that rank.
struct CommunicatorKey {
    int maker = 0;  // rank in the team
    std::int64_t number = 0;
    auto operator<=>(const CommunicatorKey&) const = default;
};
constexpr CommunicatorKey world_communicator{0, 0};

struct CollectiveEnd {
    Operation operation = Operation::barrier;
    CommunicatorRef communicator;
    std::uint32_t root = no_root;  // rank in the communicator
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_bytes = 0;
};

struct Message {
    std::uint32_t peer = 0;  // rank in the communicator
    CommunicatorRef communicator;
    std::uint32_t tag = 0;
    std::uint64_t bytes = 0;
};

// Returns directory + ".tmp", also for "directory/".
std::filesystem::path unfinished(const std::filesystem::path& directory);

// Waits at most `patience` until all processes that record into the directory have finished.
void wait_until_finished(const std::filesystem::path& directory, base::Nanoseconds patience);

class Recorder;

// The events of one location. Used by one thread at a time, without locks. An event without a time happens now; time
// stamps must not decrease. An event that finds the memory full writes it to the file: OTF2 records a BufferFlush
// event, and a region "TRACE BUFFER FLUSH" (Score-P's name) shows the time. Errors (a decreasing time stamp, a full
// disk) never affect the caller: the trace is lost, and Recorder::finish() fails with the reason. A default-constructed
// object records nothing.
class LocationRecorder {
 public:
    LocationRecorder() = default;
    LocationRecorder(const LocationRecorder&) = delete;
    LocationRecorder& operator=(const LocationRecorder&) = delete;

    void enter(RegionRef region, Attributes attributes = {})
    {
        if (writer_ != nullptr) write_enter(region, base::now_ns(), {attributes.begin(), attributes.end()});
    }
    void enter(RegionRef region, std::int64_t time_ns, Attributes attributes = {})
    {
        if (writer_ != nullptr) write_enter(region, time_ns, {attributes.begin(), attributes.end()});
    }
    void enter_with(RegionRef region, std::int64_t time_ns, std::span<const AttributeValue> attributes)
    {
        if (writer_ != nullptr) write_enter(region, time_ns, attributes);
    }
    void leave(RegionRef region, Attributes attributes = {})
    {
        if (writer_ != nullptr) write_leave(region, base::now_ns(), {attributes.begin(), attributes.end()});
    }
    void leave(RegionRef region, std::int64_t time_ns, Attributes attributes = {})
    {
        if (writer_ != nullptr) write_leave(region, time_ns, {attributes.begin(), attributes.end()});
    }

    // The value is converted to the metric's type.
    template <class Number>
    requires std::integral<Number> || std::floating_point<Number>
    void metric(MetricRef metric, Number value)
    {
        if (writer_ != nullptr) write_metric(metric, base::now_ns(), AttributeValue{{0, metric.type}, value});
    }
    template <class Number>
    requires std::integral<Number> || std::floating_point<Number>
    void metric(MetricRef metric, Number value, std::int64_t time_ns)
    {
        if (writer_ != nullptr) write_metric(metric, time_ns, AttributeValue{{0, metric.type}, value});
    }

    // One value for each member, in order, converted to the member's type. NaN: the member has no value now.
    void metrics(const MetricClassRef& metrics, std::span<const MetricNumber> values, std::int64_t time_ns)
    {
        if (writer_ != nullptr) write_metrics(metrics, values, time_ns);
    }

    // MPI events, in the order that Score-P uses: the begin event right after ENTER, the end event right before LEAVE.
    void collective_begin(std::int64_t time_ns);
    void collective_end(std::int64_t time_ns, const CollectiveEnd& what);
    void collective_request(std::int64_t time_ns, std::uint64_t request);
    void collective_complete(std::int64_t time_ns, const CollectiveEnd& what, std::uint64_t request);
    void send(std::int64_t time_ns, const Message& message);
    void receive(std::int64_t time_ns, const Message& message);
    void send_request(std::int64_t time_ns, const Message& message, std::uint64_t request);
    void send_complete(std::int64_t time_ns, std::uint64_t request);
    void receive_request(std::int64_t time_ns, std::uint64_t request);
    void receive_complete(std::int64_t time_ns, const Message& message, std::uint64_t request);
    void request_cancelled(std::int64_t time_ns, std::uint64_t request);

    bool on() const { return writer_ != nullptr; }
    std::int64_t last_ns() const { return last_ns_; }  // time of the last event; INT64_MIN before the first
    Recorder& recorder() const { return *recorder_; }

 private:
    friend class Recorder;

    using AttributeSpan = std::span<const AttributeValue>;
    void write_enter(RegionRef region, std::int64_t time_ns, AttributeSpan attributes);
    void write_leave(RegionRef region, std::int64_t time_ns, AttributeSpan attributes);
    void write_metrics(const MetricClassRef& metrics, std::span<const MetricNumber> values, std::int64_t time_ns);
    void write_metric(MetricRef metric, std::int64_t time_ns, AttributeValue value);
    OTF2_AttributeList_struct* filled(AttributeSpan attributes);
    class Busy;
    template <class Write>
    void write(std::int64_t time_ns, const Write& write);
    template <class Put>
    void unless_closed(std::int64_t time_ns, const Put& put_it);
    template <class Write>
    void put(std::int64_t time_ns, const Write& write);
    void put_enter(RegionRef region, std::int64_t time_ns, AttributeSpan attributes);
    void put_leave(RegionRef region, std::int64_t time_ns, AttributeSpan attributes);
    void write_flush();
    void leave_open_regions(std::int64_t time_ns);

    OTF2_EvtWriter_struct* writer_ = nullptr;  // null: recording is off
    OTF2_AttributeList_struct* attributes_ = nullptr;
    std::int64_t first_ns_ = INT64_MAX;
    std::int64_t last_ns_ = INT64_MIN;
    std::int64_t flush_begin_ns_ = 0;        // start of the last flush
    std::int64_t flush_end_ns_ = INT64_MAX;  // end of the last flush, until the next event; otherwise INT64_MAX
    int failure_ = 0;                        // OTF2's code for the first event that could not be written
    std::uint64_t id_ = 0;
    Recorder* recorder_ = nullptr;
    std::array<std::uint32_t, 16> open_{};  // open regions, outermost first
    std::size_t depth_ = 0;                 // number of open regions; those beyond open_ are only counted
    std::atomic<bool> busy_{false};         // an event is being written
    std::atomic<bool> closed_{false};       // no further events are written; see Recorder::finish_alone()
};

// Definitions can be made at any time, from any thread, and in a different order on each rank. Requesting the same
// definition again returns the same reference.
class Recorder {
 public:
    // Collective over the team. `process` is the name of the location group; empty: the team's name ("MPI Rank <n>", or
    // the program's). `memory_bytes` bounds the buffer for this process's events, which is touched here (each location
    // needs 256 KiB of it); 0: 256 KiB for each location, without a bound. Throws Error if the directory or
    // unfinished(directory) already exists or cannot be created, or if the memory is too small for one location.
    explicit Recorder(const std::filesystem::path& directory, std::unique_ptr<Team> team = std::make_unique<SoloTeam>(),
                      std::string process = "", std::uint64_t memory_bytes = 0);

    // A recorder that records nothing, at the cost of one comparison for each event.
    static Recorder off();

    // Without finish(), no archive is created.
    ~Recorder();
    Recorder(Recorder&&) = delete;
    Recorder& operator=(Recorder&&) = delete;

    bool on() const { return state_ != nullptr; }

    RegionRef region(const std::string& name, RegionRole role = RegionRole::function,
                     Paradigm paradigm = Paradigm::user);
    AttributeRef attribute(const std::string& name, Type type, const std::string& description = "");
    TextRef text(const std::string& text);
    MetricRef metric(const std::string& name, const std::string& unit, Type type,
                     MetricMode mode = MetricMode::absolute_point, const std::string& description = "");

    // A class of metrics that are always reported together. Some tools know only the first class of an archive.
    MetricClassRef metrics(const std::vector<MetricRow>& members);

    // Adds the region to a group, which Vampir shows in its own colour.
    RegionRef in_group(const std::string& group, RegionRef region);

    // `members` are ranks in the team, in the order of ranks in the communicator. Without a name, the key is used.
    CommunicatorRef communicator(CommunicatorKey key, const std::vector<int>& members, const std::string& name = "");

    // Sets the program's name for it. Ranks may differ: the archive gets the name given by the communicator's maker, or
    // else by the lowest rank that gives one.
    void name(CommunicatorRef communicator, const std::string& name);

    // Makes a new location; locations are numbered in the order of calls. Throws Error if there is no memory left for
    // it.
    LocationRecorder& location(const std::string& name, LocationKind kind = LocationKind::cpu_thread)
    {
        return location(name, {.kind = kind});
    }
    struct Placement {
        LocationKind kind = LocationKind::cpu_thread;
        std::string accelerator{};                        // accelerator group (below the process) of a stream
        std::map<std::string, std::string> properties{};  // names need a "::"
    };
    LocationRecorder& location(const std::string& name, const Placement& placement);

    // Declares the location on which this process calls MPI, and which represents its rank in communicators. Only the
    // first call counts.
    void speaks_mpi(const LocationRecorder& location);

    // Sets a property of the archive, such as "crosstalk::seed"; rank 0's values count. Names need a "::"; values must
    // not be empty. OTF2 stores names in capitals; Archive::property() ignores case.
    void property(const std::string& name, const std::string& value);

    // Sets a property of this process's location group.
    void process_property(const std::string& name, const std::string& value);

    // Collective. No location may be recording any more. Writes all definitions and moves the archive into place.
    // Throws Error if any process could not write all of its events.
    void finish();

    // Replaces finish() for a process that is about to end, without waiting for other processes. Any thread may call it
    // while others record: their later events are lost, and regions that are open are left now. The last process of the
    // team to call this moves the archive into place, with `why` (unless empty) as its property `cut_off`, and gets
    // true. Throws Error if the events of this process could not be written.
    bool finish_alone(const std::string& why);

 private:
    struct State;
    Recorder();
    std::unique_ptr<State> state_;
};

// Enters a region, and leaves it when destroyed.
class Scope {
 public:
    Scope(LocationRecorder& location, RegionRef region, Attributes attributes = {})
        : location_{location}, region_{region}
    {
        location_.enter(region_, attributes);
    }
    ~Scope() { location_.leave(region_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

 private:
    LocationRecorder& location_;
    RegionRef region_;
};

}  // namespace otf2

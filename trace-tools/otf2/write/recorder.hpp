// SPDX-License-Identifier: Apache-2.0
// Records events of this process into an OTF2 archive: of its own, or of the MPI job it belongs to.
//
//     otf2::Recorder recorder{directory};                    // or {directory, std::make_unique<otf2::MpiTeam>(comm)}
//     const otf2::RegionRef step = recorder.region("step");
//     const otf2::AttributeRef number = recorder.attribute("step", otf2::Type::uint64);
//     otf2::LocationRecorder& main = recorder.location("main");
//     main.enter(step, {{number, 3}});
//     main.leave(step);
//     recorder.finish();                                     // only now directory/traces.otf2 is there
//
// Until finish() all is in unfinished(directory): a process that is killed or leaves by an exception leaves no archive
// that looks like one.
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

// Reference of the recorder to a definition; valid with this recorder only.
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
    std::vector<Type> types;  // of its members
};

// A number becomes the attribute's type. Text must have been given to Recorder::text() before.
struct AttributeValue {
    template <class Number>
    requires std::integral<Number> || std::floating_point<Number> AttributeValue(AttributeRef of, Number number)
        : attribute{of}
    {
        if (of.type == Type::real)
            value.real = static_cast<double>(number);
        else
            value.uint64 = static_cast<std::uint64_t>(number);  // int64 has the same bits
    }
    AttributeValue(AttributeRef of, TextRef text) : attribute{of} { value.uint64 = text.id; }

    AttributeRef attribute;
    union {
        std::uint64_t uint64;
        double real;
    } value;
};
using Attributes = std::initializer_list<AttributeValue>;

// A whole number keeps all its digits.
using MetricNumber = std::variant<std::uint64_t, std::int64_t, double>;

// A communicator, the same on all its ranks: who made it, and which of the maker's it is.
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

// directory + ".tmp", also for "directory/".
std::filesystem::path unfinished(const std::filesystem::path& directory);

// Waits until all processes that record into the directory have finished, `patience` at most.
void wait_until_finished(const std::filesystem::path& directory, base::Nanoseconds patience);

class Recorder;

// The events of one location. Used by one thread at a time; takes no lock. Without a time an event happens now; time
// stamps must not decrease. A full memory is written to the file by the event that finds it full: OTF2 reports it in a
// BufferFlush event, and a region "TRACE BUFFER FLUSH" (Score-P's name) shows when. What goes wrong (a smaller time
// stamp, a full disk) never disturbs the caller: the trace is lost, and Recorder::finish() fails and says why. A
// location that Recorder::location() did not make records nothing.
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

    // The value becomes the metric's type.
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

    // A value of each member, in their order, which becomes the member's type. NaN: the member has none now.
    void metrics(const MetricClassRef& metrics, std::span<const MetricNumber> values, std::int64_t time_ns)
    {
        if (writer_ != nullptr) write_metrics(metrics, values, time_ns);
    }

    // MPI, as Score-P writes it: begin right after ENTER, end right before LEAVE.
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
    std::int64_t last_ns() const { return last_ns_; }  // of the last event; INT64_MIN before the first
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

    OTF2_EvtWriter_struct* writer_ = nullptr;  // none: recording is off
    OTF2_AttributeList_struct* attributes_ = nullptr;
    std::int64_t first_ns_ = INT64_MAX;
    std::int64_t last_ns_ = INT64_MIN;
    std::int64_t flush_begin_ns_ = 0;        // of the last flush
    std::int64_t flush_end_ns_ = INT64_MAX;  // of a flush that no event has come after yet
    int failure_ = 0;                        // OTF2's code of the event that could not be written
    std::uint64_t id_ = 0;
    Recorder* recorder_ = nullptr;
    std::array<std::uint32_t, 16> open_{};  // regions entered and not left, the outermost first ..
    std::size_t depth_ = 0;                 // .. and how many; those deeper are only counted
    std::atomic<bool> busy_{false};         // an event is being written
    std::atomic<bool> closed_{false};       // no further event is; see Recorder::finish_alone()
};

// Definitions may be asked for at any time, from any thread, on each rank in an order of its own; asking again for the
// same gives the same.
class Recorder {
 public:
    // Collective over the team. process: the location group's name; empty: the team's ("MPI Rank <n>", or the
    // program's). memory_bytes: the most that this process's events take before they go to the file, touched here (each
    // location needs 256 KiB of it); 0: 256 KiB for each location, however many. Throws Error if the directory or
    // unfinished(directory) is already there or cannot be made, or the memory is less than one location needs.
    explicit Recorder(const std::filesystem::path& directory, std::unique_ptr<Team> team = std::make_unique<SoloTeam>(),
                      std::string process = "", std::uint64_t memory_bytes = 0);

    // Records nothing, at the cost of one comparison an event.
    static Recorder off();

    // Without finish() there will be no archive.
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

    // Metrics that are always reported together. Some tools know the first class of an archive only.
    MetricClassRef metrics(const std::vector<MetricRow>& members);

    // The region, now in a group of that name, which has a colour of its own in Vampir.
    RegionRef in_group(const std::string& group, RegionRef region);

    // members: ranks in the team, by rank in the communicator. An empty name is named after the key.
    CommunicatorRef communicator(CommunicatorKey key, const std::vector<int>& members, const std::string& name = "");

    // The program's name of it. Ranks need not agree: in the archive it has its maker's name, or else that of the
    // first rank that calls it anything.
    void name(CommunicatorRef communicator, const std::string& name);

    // A new location, in the order of the calls. Throws Error if the memory holds no more.
    LocationRecorder& location(const std::string& name, LocationKind kind = LocationKind::cpu_thread)
    {
        return location(name, {.kind = kind, .accelerator = {}, .properties = {}});
    }
    struct Placement {
        LocationKind kind = LocationKind::cpu_thread;
        std::string accelerator;                        // that it is a stream of; a location group below the process
        std::map<std::string, std::string> properties;  // names with a "::"
    };
    LocationRecorder& location(const std::string& name, const Placement& placement);

    // This process speaks MPI on that location (one a process, the first one said): it stands for the rank in
    // communicators.
    void speaks_mpi(const LocationRecorder& location);

    // A property of the archive, "crosstalk::seed"; rank 0's count. The name needs its "::", the value is any text but
    // an empty one. OTF2 keeps the names in capital letters; Archive::property() does not mind.
    void property(const std::string& name, const std::string& value);

    // A property of this process's location group.
    void process_property(const std::string& name, const std::string& value);

    // Collective. No location may be recording then. Writes all definitions and puts the archive in its place.
    // Throws Error if any process could not write all of its events.
    void finish();

    // In the place of finish(), for a process that is about to end, whatever the others do. Any thread may call it,
    // while others record: what they record from now on is lost, regions that they are in are left now. Waits for no
    // other process. The last one of the team to call this puts the archive in its place, with `why` (unless empty) as
    // its property `cut_off`, and returns true. Throws Error if the events of this process could not be written.
    bool finish_alone(const std::string& why);

 private:
    struct State;
    Recorder();
    std::unique_ptr<State> state_;
};

// Inside a region from here to the brace.
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

// SPDX-License-Identifier: Apache-2.0
// Records an MPI call: a region from entry to exit, at the location of the calling thread.
#pragma once

#include "trace-tools/mpi/known_communicator.hpp"
#include "trace-tools/mpi/polling.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <mpi.h>

#include <algorithm>
#include <optional>

namespace otf2 {

// Name and role of an MPI call. Each wrapper has one static object.
class MpiFunction {
 public:
    MpiFunction(const char* name, RegionRole role);
    RegionRef region(Recorder& recorder) const;  // looked up once per thread and location

 private:
    const char* name_;
    RegionRole role_;
    std::size_t index_;
};

// The location of this thread's MPI calls; null if they are not recorded.
LocationRecorder* recording_location();

// The polling of the calling thread, which must be recorded.
Polling& polling_here();

// Returns nullopt if the communicator is not identified across ranks.
std::optional<CommunicatorRef> communicator_of(LocationRecorder& location, MPI_Comm communicator);

std::uint64_t bytes_of(std::int64_t count, MPI_Datatype type);
std::uint64_t bytes_of(const int* counts, MPI_Comm communicator, MPI_Datatype type);
int size_of(MPI_Comm communicator);
int rank_in(MPI_Comm communicator);

// Records a call for the lifetime of the object; `location` must not be null. After a successful call, its operations
// are recorded with the times of its start and end.
class RecordedCall {
 public:
    RecordedCall(LocationRecorder& location, const MpiFunction& function)
        : RecordedCall{location, function.region(location.recorder()), base::now_ns()}
    {
    }
    RecordedCall(LocationRecorder& location, const MpiFunction& function, std::int64_t begin_ns)
        : RecordedCall{location, function.region(location.recorder()), begin_ns}
    {
    }
    ~RecordedCall() { location_.leave(region_, end_ns()); }
    RecordedCall(const RecordedCall&) = delete;
    RecordedCall& operator=(const RecordedCall&) = delete;

    // Makes the call and takes its end time, so that looking up data for the records does not count. Returns MPI's
    // code.
    template <class Call>
    int run(const Call& call)
    {
        const int code = call();
        end_ns();
        return code;
    }

    // Returns a time after the start if something was recorded within the call, such as a user-defined reduction.
    std::int64_t begin_ns() const { return std::max(begin_ns_, location_.last_ns()); }
    std::int64_t end_ns()  // the time of its first use
    {
        if (end_ns_ == 0) end_ns_ = base::now_ns();
        return end_ns_;
    }

 private:
    RecordedCall(LocationRecorder& location, RegionRef region, std::int64_t begin_ns)
        : location_{location}, region_{region}, begin_ns_{begin_ns}
    {
        location_.enter(region_, begin_ns_);
    }

    LocationRecorder& location_;
    RegionRef region_;
    std::int64_t begin_ns_;
    std::int64_t end_ns_ = 0;  // 0: not ended yet
};

// Makes a call of which only the region is recorded.
template <class Call>
int time_only(const MpiFunction& function, const Call& call)
{
    LocationRecorder* location = recording_location();
    if (location == nullptr) return call();
    const RecordedCall recorded{*location, function};
    return call();
}

// Defines an MPI function that `record`, called with its MpiFunction, the further arguments and the call, records.
// PARAMETERS and ARGUMENTS are in parentheses.
#define CROSSTALK_MPI_CALL(NAME, role, PARAMETERS, ARGUMENTS, record, ...)          \
    int NAME PARAMETERS                                                             \
    {                                                                               \
        static const MpiFunction function{#NAME, RegionRole::role};                 \
        return record(                                                              \
            function, __VA_ARGS__ __VA_OPT__(, )[&] { return P##NAME ARGUMENTS; }); \
    }

// Same as in Polling, for the calling thread. If it is not recorded, begin_call() returns the current time.
std::int64_t begin_call();
void found_nothing();

}  // namespace otf2

// SPDX-License-Identifier: Apache-2.0
// Records MPI's waits and tests: completed operations are recorded right before the call ends. Tests that complete
// nothing become part of the wait or successful test that follows.
#include "trace-tools/mpi/recorded_call.hpp"
#include "trace-tools/mpi/requests.hpp"

namespace otf2 {

namespace {

using Requests = std::vector<MPI_Request>;

// Copies the handles, because MPI overwrites those that it completes.
Requests copy(int count, const MPI_Request* requests)
{
    return {requests, requests + count};
}

// The caller's statuses, or our own if the caller ignores them: recording a receive needs its status.
class Statuses {
 public:
    Statuses(int count, MPI_Status* given) : given_{given}
    {
        if (given == MPI_STATUSES_IGNORE || given == MPI_STATUS_IGNORE) own_.resize(static_cast<std::size_t>(count));
    }
    MPI_Status* get() { return own_.empty() ? given_ : own_.data(); }

 private:
    MPI_Status* given_;
    std::vector<MPI_Status> own_;
};

// Failed operations are not recorded.
void complete(LocationRecorder* location, std::int64_t time_ns, MPI_Request request, int code, const MPI_Status& status)
{
    const int own_code = code == MPI_ERR_IN_STATUS ? status.MPI_ERROR : code;
    if (own_code == MPI_ERR_PENDING) return;
    const std::optional<Pending> pending = take(request);
    if (!pending || own_code != MPI_SUCCESS) return;
    if (const auto* duplicate = std::get_if<PendingDuplicate>(&pending->operation))
        identify(*duplicate->made, *duplicate->known);
    if (location != nullptr) record_completion(*location, time_ns, *pending, status);
}

// True if the call has set the status of each of its operations. A call that fails as a whole sets none.
bool tells_of_all(int code)
{
    return code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS;
}

// True if this thread's calls are recorded, or requests are pending.
bool of_interest()
{
    return recording_location() != nullptr || any_pending();
}

// Records the call as a region that began at begin_ns, and the operations that it completed. `positions` are indices
// into `before`; `statuses` has the same order.
void tell(const MpiFunction& function, std::int64_t begin_ns, const Requests& before, int code, int count,
          const int* positions, const MPI_Status* statuses)
{
    LocationRecorder* location = recording_location();
    std::optional<RecordedCall> recorded;
    if (location != nullptr) recorded.emplace(*location, function, begin_ns);
    for (int i = 0; i < count; ++i) {
        const auto position = static_cast<std::size_t>(positions != nullptr ? positions[i] : i);
        complete(location, recorded ? recorded->end_ns() : 0, before[position], code, statuses[i]);
    }
}

}  // namespace

}  // namespace otf2

using namespace otf2;

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status)
{
    static const MpiFunction function{"MPI_Wait", RegionRole::point_to_point};
    if (!of_interest()) return PMPI_Wait(request, status);
    const Requests before = copy(1, request);
    Statuses statuses{1, status};
    const std::int64_t begin_ns = begin_call();
    const int code = PMPI_Wait(request, statuses.get());
    tell(function, begin_ns, before, code, 1, nullptr, statuses.get());
    return code;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status* given)
{
    static const MpiFunction function{"MPI_Waitall", RegionRole::point_to_point};
    if (!of_interest()) return PMPI_Waitall(count, requests, given);
    const Requests before = copy(count, requests);
    Statuses statuses{count, given};
    const std::int64_t begin_ns = begin_call();
    const int code = PMPI_Waitall(count, requests, statuses.get());
    tell(function, begin_ns, before, code, tells_of_all(code) ? count : 0, nullptr, statuses.get());
    return code;
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status)
{
    static const MpiFunction function{"MPI_Waitany", RegionRole::point_to_point};
    if (!of_interest()) return PMPI_Waitany(count, requests, index, status);
    const Requests before = copy(count, requests);
    Statuses statuses{1, status};
    const std::int64_t begin_ns = begin_call();
    *index = MPI_UNDEFINED;  // a call that fails may leave it unset
    const int code = PMPI_Waitany(count, requests, index, statuses.get());
    tell(function, begin_ns, before, code, *index != MPI_UNDEFINED ? 1 : 0, index, statuses.get());
    return code;
}

int MPI_Waitsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status* given)
{
    static const MpiFunction function{"MPI_Waitsome", RegionRole::point_to_point};
    if (!of_interest()) return PMPI_Waitsome(count, requests, done, indices, given);
    const Requests before = copy(count, requests);
    Statuses statuses{count, given};
    const std::int64_t begin_ns = begin_call();
    const int code = PMPI_Waitsome(count, requests, done, indices, statuses.get());
    const bool some = tells_of_all(code) && *done != MPI_UNDEFINED;
    tell(function, begin_ns, before, code, some ? *done : 0, indices, statuses.get());
    return code;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status)
{
    static const MpiFunction function{"MPI_Test", RegionRole::point_to_point};
    if (!of_interest()) return PMPI_Test(request, flag, status);
    const Requests before = copy(1, request);
    Statuses statuses{1, status};
    const std::int64_t begin_ns = begin_call();
    const int code = PMPI_Test(request, flag, statuses.get());
    if (code == MPI_SUCCESS && *flag == 0)
        found_nothing();
    else
        tell(function, begin_ns, before, code, 1, nullptr, statuses.get());
    return code;
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status* given)
{
    static const MpiFunction function{"MPI_Testall", RegionRole::point_to_point};
    if (!of_interest()) return PMPI_Testall(count, requests, flag, given);
    const Requests before = copy(count, requests);
    Statuses statuses{count, given};
    const std::int64_t begin_ns = begin_call();
    const int code = PMPI_Testall(count, requests, flag, statuses.get());
    if (code == MPI_SUCCESS && *flag == 0)
        found_nothing();
    else
        tell(function, begin_ns, before, code, tells_of_all(code) && *flag != 0 ? count : 0, nullptr, statuses.get());
    return code;
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status)
{
    static const MpiFunction function{"MPI_Testany", RegionRole::point_to_point};
    if (!of_interest()) return PMPI_Testany(count, requests, index, flag, status);
    const Requests before = copy(count, requests);
    Statuses statuses{1, status};
    const std::int64_t begin_ns = begin_call();
    *index = MPI_UNDEFINED;  // a call that fails may leave it unset
    const int code = PMPI_Testany(count, requests, index, flag, statuses.get());
    if (code == MPI_SUCCESS && *flag == 0)
        found_nothing();
    else if (code != MPI_SUCCESS || *index != MPI_UNDEFINED)
        tell(function, begin_ns, before, code, *index != MPI_UNDEFINED ? 1 : 0, index, statuses.get());
    return code;
}

int MPI_Testsome(int count, MPI_Request requests[], int* done, int indices[], MPI_Status* given)
{
    static const MpiFunction function{"MPI_Testsome", RegionRole::point_to_point};
    if (!of_interest()) return PMPI_Testsome(count, requests, done, indices, given);
    const Requests before = copy(count, requests);
    Statuses statuses{count, given};
    const std::int64_t begin_ns = begin_call();
    const int code = PMPI_Testsome(count, requests, done, indices, statuses.get());
    if (code == MPI_SUCCESS && *done == 0)
        found_nothing();
    else if (code != MPI_SUCCESS || *done != MPI_UNDEFINED)
        tell(function, begin_ns, before, code, tells_of_all(code) ? *done : 0, indices, statuses.get());
    return code;
}

int MPI_Request_free(MPI_Request* request)
{
    static const MpiFunction function{"MPI_Request_free", RegionRole::point_to_point};
    take(*request);  // its completion will never be seen
    forget_persistent(*request);
    return time_only(function, [&] { return PMPI_Request_free(request); });
}

int MPI_Cancel(MPI_Request* request)
{
    static const MpiFunction function{"MPI_Cancel", RegionRole::point_to_point};
    return time_only(function, [&] { return PMPI_Cancel(request); });
}

}  // extern "C"

#include "trace-tools/patterns/started_requests.hpp"

#include <algorithm>
#include <cctype>
#include <ext/pb_ds/assoc_container.hpp>
#include <ext/pb_ds/tree_policy.hpp>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>

namespace otf2 {

namespace {

// MPI_Iallreduce, MPI_Irecv, and MPI_Start of what was prepared; sends and probes are none.
bool starts_requests(const Region& region)
{
    const std::string& name = region.name;
    if (name.starts_with("MPI_Start") || name.starts_with("MPI_Isendrecv")) return true;
    if (!name.starts_with("MPI_I") || name.size() < 6) return false;
    if (std::islower(static_cast<unsigned char>(name[5])) == 0) return false;
    const auto other = {"MPI_Inf",    "MPI_Ini",    "MPI_Int",    "MPI_Isend",   "MPI_Ibsend",
                        "MPI_Issend", "MPI_Irsend", "MPI_Iprobe", "MPI_Improbe", "MPI_Is_thread_main"};
    return std::none_of(other.begin(), other.end(), [&](const char* prefix) { return name.starts_with(prefix); });
}

// Of one location. Only what completes while something is open can be ahead of it.
class Receives {
 public:
    void post(std::uint64_t request) { open_[request] = posted_++; }

    // Counts, for receives that completed up to here, by their number, those that they were ahead of.
    void complete(const MessageRecord& message, std::vector<std::uint32_t>& overtaken)
    {
        Receive mine{.posted = posted_++, .number = received_++};  // a blocking one
        if (open_.empty()) return;
        const auto request = open_.find(message.request);
        if (request != open_.end()) {
            mine.posted = request->second;
            open_.erase(request);
        }
        done_[{message.communicator, message.peer, message.tag}].push_back(mine);
        if (open_.empty()) count(overtaken);
    }

    void count(std::vector<std::uint32_t>& overtaken)
    {
        for (const auto& [channel, receives] : done_) {
            Ordered later;
            for (auto receive = receives.rbegin(); receive != receives.rend(); ++receive) {
                const std::size_t ahead_of = later.order_of_key(receive->posted);
                later.insert(receive->posted);
                if (ahead_of == 0) continue;
                if (overtaken.size() <= receive->number) overtaken.resize(receive->number + 1);
                overtaken[receive->number] = static_cast<std::uint32_t>(ahead_of);
            }
        }
        done_.clear();
    }

 private:
    struct Receive {
        std::size_t posted = 0;
        std::size_t number = 0;
    };
    using Channel = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    // A set that counts how many are less.
    using Ordered = __gnu_pbds::tree<std::size_t, __gnu_pbds::null_type, std::less<>, __gnu_pbds::rb_tree_tag,
                                     __gnu_pbds::tree_order_statistics_node_update>;

    std::unordered_map<std::uint64_t, std::size_t> open_;  // by request: which one posted
    std::map<Channel, std::vector<Receive>> done_;         // in the order of completion
    std::size_t posted_ = 0;
    std::size_t received_ = 0;
};

using Lists = std::vector<std::vector<std::uint32_t>>;

class Starts : public Visitor {
 public:
    explicit Starts(std::size_t locations)
        : started_{.collectives = Lists(locations), .receives_overtaken = Lists(locations)}
    {
    }

    StartedRequests take()
    {
        leave_location();
        return std::move(started_);
    }

    void collective_request(const At& at, std::uint64_t request) override
    {
        std::vector<std::uint32_t>& communicators = started_.collectives[at.location];
        of(at).collectives[request] = communicators.size();
        communicators.push_back(nowhere);
    }

    void collective_complete(const At& at, const CollectiveRecord& record) override
    {
        auto& open = of(at).collectives;
        const auto mine = open.find(record.request);
        if (mine == open.end()) return;
        started_.collectives[at.location][mine->second] = record.communicator;
        open.erase(mine);
    }

    void receive_request(const At& at, std::uint64_t request) override { of(at).receives.post(request); }

    void receive(const At& at, const MessageRecord& message) override
    {
        of(at).receives.complete(message, started_.receives_overtaken[at.location]);
    }

 private:
    struct Open {
        std::unordered_map<std::uint64_t, std::size_t> collectives;  // by request: number of its start
        Receives receives;
    };

    // One location after the other.
    Open& of(const At& at)
    {
        if (at.location != location_) leave_location();
        location_ = at.location;
        return open_;
    }

    void leave_location()
    {
        if (location_ != nowhere) open_.receives.count(started_.receives_overtaken[location_]);
        open_ = {};
    }

    StartedRequests started_;
    std::uint32_t location_ = nowhere;
    Open open_;
};

}  // namespace

StartedRequests started_requests(Reader& reader)
{
    const Archive& archive = reader.archive();
    Starts starts{archive.locations.size()};
    if (std::any_of(archive.regions.begin(), archive.regions.end(), starts_requests)) reader.read_by_location(starts);
    return starts.take();
}

}  // namespace otf2

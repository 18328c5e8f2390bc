#include "trace-tools/convert/write_archive.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/stop.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <algorithm>
#include <atomic>

namespace convert {

namespace {

constexpr std::size_t most_lanes = 8;  // of a row

otf2::RegionRole nccl_role(const std::string& name)
{
    const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
    if (has("SendRecv")) return otf2::RegionRole::point_to_point;
    if (has("Broadcast")) return otf2::RegionRole::one_to_all;
    if (has("AllReduce") || has("AllGather") || has("ReduceScatter")) return otf2::RegionRole::all_to_all;
    return has("Reduce") ? otf2::RegionRole::all_to_one : otf2::RegionRole::collective_other;
}

otf2::RegionRef define(otf2::Recorder& recorder, const std::string& name, const std::string& category)
{
    using otf2::Paradigm;
    using otf2::RegionRole;
    if (name.starts_with("nccl") && category == "kernel") return recorder.region(name, nccl_role(name), Paradigm::cuda);
    if (category == "kernel") return recorder.region(name, RegionRole::function, Paradigm::cuda);
    if (category.find("mem") != std::string::npos)
        return recorder.region(name, RegionRole::data_transfer, Paradigm::cuda);
    if (category.starts_with("cuda_")) return recorder.region(name, RegionRole::wrapper, Paradigm::cuda);
    if (category.find("user_annotation") != std::string::npos) return recorder.region(name, RegionRole::code);
    return recorder.region(name);
}

// What a process's recorder calls the regions and attributes.
struct Names {
    std::vector<otf2::RegionRef> regions;
    otf2::AttributeRef correlation, external, bytes;

    Names(otf2::Recorder& recorder, const KinetoTrace& trace)
        : correlation{recorder.attribute("correlation", otf2::Type::int64, "joins a CUDA call and its kernel")},
          external{recorder.attribute("External id", otf2::Type::int64, "joins an operator and its kernels")},
          bytes{recorder.attribute("bytes", otf2::Type::int64, "copied or set")}
    {
        for (const auto& [name, category] : trace.regions) regions.push_back(define(recorder, name, category));
    }
};

// Slices that lie in each other or apart, as OTF2 needs them.
class Lane {
 public:
    Lane(otf2::LocationRecorder& location, const Names& names) : location_{location}, names_{names} {}

    void leave_until(std::int64_t time_ns)
    {
        for (; !open_.empty() && open_.back().end_ns <= time_ns; open_.pop_back())
            location_.leave(names_.regions[open_.back().region], open_.back().end_ns);
    }
    std::int64_t room_until() const { return open_.empty() ? INT64_MAX : open_.back().end_ns; }
    void enter(const Slice& slice)
    {
        const otf2::RegionRef region = names_.regions[slice.region];
        const auto [correlation, external, bytes] = slice.numbers;
        if (bytes >= 0)
            location_.enter(region, slice.begin_ns, {{names_.bytes, bytes}, {names_.correlation, correlation}});
        else if (correlation >= 0)
            location_.enter(region, slice.begin_ns, {{names_.correlation, correlation}});
        else if (external >= 0)
            location_.enter(region, slice.begin_ns, {{names_.external, external}});
        else
            location_.enter(region, slice.begin_ns);
        open_.push_back(slice);
    }

 private:
    otf2::LocationRecorder& location_;
    const Names& names_;
    std::vector<Slice> open_;  // the outermost first
};

Nested write_row(otf2::Recorder& recorder, const Names& names, KinetoRow& row)
{
    std::stable_sort(row.slices.begin(), row.slices.end(), [](const Slice& one, const Slice& other) {
        return one.begin_ns != other.begin_ns ? one.begin_ns < other.begin_ns : one.end_ns > other.end_ns;
    });
    const auto kind = row.device ? otf2::LocationKind::accelerator_stream : otf2::LocationKind::cpu_thread;
    std::vector<Lane> lanes;
    Nested nested;
    for (Slice slice : row.slices) {
        if (base::stop_requested()) base::fail("stopped by a signal");
        for (Lane& lane : lanes) lane.leave_until(slice.begin_ns);
        auto place = std::find_if(lanes.begin(), lanes.end(),
                                  [&](const Lane& lane) { return slice.end_ns <= lane.room_until(); });
        if (place == lanes.end() && lanes.size() < most_lanes) {
            const std::string number = lanes.empty() ? "" : " (overlap " + std::to_string(lanes.size()) + ")";
            lanes.emplace_back(recorder.location(row.name + number, kind), names);
            place = lanes.end() - 1;
        }
        if (place == lanes.end()) {
            place = lanes.begin();
            slice.end_ns = place->room_until();
            ++nested.cut;
        } else if (place != lanes.begin()) {
            ++nested.moved;
        }
        place->enter(slice);
    }
    for (Lane& lane : lanes) lane.leave_until(INT64_MAX);
    return nested;
}

std::pair<std::int64_t, std::int64_t> extent(const KinetoTrace& trace)
{
    std::pair<std::int64_t, std::int64_t> all{INT64_MAX, INT64_MIN};
    for (const auto& [pid, process] : trace.processes)
        for (const auto& [tid, row] : process.rows)
            for (const Slice& slice : row.slices)
                all = {std::min(all.first, slice.begin_ns), std::max(all.second, slice.end_ns)};
    return all;
}

}  // namespace

Nested write_archive(KinetoTrace& trace, const std::filesystem::path& directory)
{
    const base::MadeDirectories parents{otf2::unfinished(directory).parent_path()};
    const auto [begin_ns, end_ns] = extent(trace);
    std::vector<KinetoProcess*> processes;
    for (auto& [pid, process] : trace.processes) processes.push_back(&process);
    synth::ThreadMeeting meeting{static_cast<int>(processes.size())};
    std::atomic<std::size_t> moved{0};
    std::atomic<std::size_t> cut{0};
    synth::on_each_rank(meeting, [&, first_ns = begin_ns, last_ns = end_ns](int rank) {
        KinetoProcess& process = *processes[static_cast<std::size_t>(rank)];
        // All rows are on one clock; OTF2 reads no clocks that were compared twice at one time.
        auto clock = [at_ns = first_ns, last_ns]() mutable {
            return otf2::ClockOffset{.at_ns = std::exchange(at_ns, std::max(at_ns, last_ns) + 1), .offset_ns = 0};
        };
        otf2::Recorder recorder{directory, std::make_unique<synth::ThreadTeam>(rank, meeting, clock), process.name};
        const Names names{recorder, trace};
        for (auto& [tid, row] : process.rows) {
            const Nested nested = write_row(recorder, names, row);
            moved += nested.moved;
            cut += nested.cut;
        }
        recorder.finish();
    });
    return {moved, cut};
}

}  // namespace convert

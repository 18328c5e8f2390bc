// What noise leaves behind: noise.csv row by row as phases end, levels.csv every tenth of a second, and the OTF2
// archive at the end.
#pragma once

#include "base/csv.hpp"
#include "noisegen/team.hpp"
#include "trace-tools/otf2/recorder.hpp"

#include <filesystem>
#include <mutex>
#include <vector>

namespace noisegen {

class Records {
 public:
    // In `part`, the directory of this noise process. Schedule and CPUs must outlive it.
    Records(const std::filesystem::path& part, const Schedule& schedule, std::uint64_t seed,
            const std::vector<int>& cpus);

    // Both are called by the CPU's thread. A row, and metrics on the CPU's location; of a phase that goes on.
    void level(std::size_t cpu_index, const PhaseDone& so_far, const Level& level);
    // A dose that follows the training goes on, or off: a region within that of the phase, and then a row.
    void followed(std::size_t cpu_index, const PhaseDone& so_far, bool on, std::int64_t at_ns);
    // The training was held stopped: a region within that of the phase, and a row.
    void stopped(std::size_t cpu_index, const PhaseDone& so_far, std::int64_t from_ns, std::int64_t until_ns);
    // A row, and the end of a region on the CPU's location.
    void phase(std::size_t cpu_index, const PhaseDone& done);

    // Writes the schedule as executed between the two times (chips at their assigned times, the last one cut) and
    // finishes the archive. No thread may be recording any more. Throws if anything could not be written.
    void finish(const std::vector<Chip>& table, std::int64_t start_ns, std::int64_t joined_ns, std::int64_t ended_ns);

 private:
    otf2::RegionRef region(std::optional<std::size_t> dose) const;
    void enter(std::size_t cpu_index, const PhaseDone& done);
    const std::string& factor(const PhaseDone& done) const;

    const Schedule& schedule_;
    const std::vector<int>& cpus_;
    std::filesystem::path part_;
    std::string host_;
    std::mutex mutex_;  // of the CSVs
    base::CsvWriter phases_;
    base::CsvWriter levels_csv_;
    std::optional<base::CsvWriter> followed_csv_;  // if a dose follows the training
    std::optional<base::CsvWriter> pauses_csv_;    // once the training was stopped
    otf2::Recorder recorder_;
    otf2::AttributeRef block_;
    otf2::AttributeRef chip_;
    otf2::AttributeRef level_;
    otf2::AttributeRef stressor_;
    otf2::MetricRef bytes_;
    otf2::MetricRef operations_;
    otf2::MetricRef duty_;
    otf2::MetricRef requested_;
    otf2::MetricRef requested_duty_;
    otf2::RegionRef quiet_;
    otf2::RegionRef on_;
    otf2::RegionRef stopped_;
    otf2::TextRef no_level_;
    otf2::TextRef no_stressor_;
    std::vector<otf2::RegionRef> regions_;  // by dose
    std::vector<otf2::TextRef> levels_;     // by dose
    std::vector<otf2::TextRef> stressors_;  // by dose
    otf2::LocationRecorder* chips_ = nullptr;
    std::vector<otf2::LocationRecorder*> locations_;  // by CPU
    std::vector<const Chip*> entered_;                // by CPU: the chip whose region is open
    std::vector<std::int64_t> on_since_ns_;           // by CPU, of a dose that follows the training
};

}  // namespace noisegen

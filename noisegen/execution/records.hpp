// SPDX-License-Identifier: Apache-2.0
// Records of noise: noise.csv with a row as each slot ends, samples.csv with a row every tenth of a second, and the
// OTF2 archive at the end.
#pragma once

#include "base/csv.hpp"
#include "noisegen/execution/threads/team.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <filesystem>
#include <mutex>
#include <vector>

namespace noisegen {

class Records {
 public:
    // `part` is the directory of this noise process. The schedule must outlive this object.
    Records(const std::filesystem::path& part, const Schedule& schedule, std::uint64_t seed,
            const std::vector<int>& cpus);

    // The next four functions are called by the CPU's thread. The column `cpu` is the CPU that the thread runs on at
    // that time, since it may be moved from outside. Writes a row, and metrics on the CPU's location, within a slot.
    void sample(std::size_t cpu_index, const SlotDone& so_far, const Sample& sample);
    // A level that follows the training was switched on or off: writes a region inside that of the phase, and then a
    // row.
    void followed(std::size_t cpu_index, const SlotDone& so_far, bool on, std::int64_t at_ns);
    // The training was stopped for some time: writes a region inside that of the slot, and a row.
    void stopped(std::size_t cpu_index, const SlotDone& so_far, std::int64_t from_ns, std::int64_t until_ns);
    // A slot has ended: writes a row, and the end of the region on the CPU's location.
    void slot(std::size_t cpu_index, const SlotDone& done);

    // Writes the schedule as executed between the two times (slots at their assigned times, the last one cut) and
    // finishes the archive. No thread may be recording during the call. Throws if anything could not be written.
    void finish(const std::vector<Slot>& table, std::int64_t start_ns, std::int64_t joined_ns, std::int64_t ended_ns);

 private:
    // Names of a level in the archive.
    struct Names {
        otf2::RegionRef region;
        otf2::TextRef level;
        otf2::TextRef stressor;
        otf2::TextRef role;
    };

    const Names& names(std::optional<std::size_t> level) const { return level ? levels_[*level] : quiet_; }
    void enter(otf2::LocationRecorder& location, const Slot& slot, const Names& names, std::int64_t at_ns);
    void enter(std::size_t cpu_index, const SlotDone& done);
    const std::string& factor(const SlotDone& done) const;

    const Schedule& schedule_;
    std::filesystem::path part_;
    std::string host_;
    std::mutex mutex_;  // guards the CSVs
    base::CsvWriter rows_;
    base::CsvWriter samples_csv_;
    std::optional<base::CsvWriter> followed_csv_;  // exists if a level follows the training
    std::optional<base::CsvWriter> pauses_csv_;    // exists once the training was stopped
    otf2::Recorder recorder_;
    otf2::AttributeRef block_;
    otf2::AttributeRef position_;
    otf2::AttributeRef level_;
    otf2::AttributeRef stressor_;
    otf2::AttributeRef role_;
    otf2::MetricClassRef achieved_;
    otf2::RegionRef on_;
    otf2::RegionRef stopped_;
    Names quiet_;
    std::vector<Names> levels_;
    otf2::LocationRecorder* assigned_ = nullptr;
    std::vector<otf2::LocationRecorder*> locations_;  // one for each CPU
    std::vector<const Slot*> entered_;                // by CPU: slot whose region is open
    std::vector<std::int64_t> on_since_ns_;           // by CPU: when a level that follows the training was switched on
};

}  // namespace noisegen

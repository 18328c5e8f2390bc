// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/merge/merge.hpp"

#include "base/cli/progress.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/trace_names.hpp"
#include "base/figures.hpp"
#include "base/version.hpp"
#include "trace-tools/merge/local_definitions.hpp"
#include "trace-tools/merge/merge_input.hpp"
#include "trace-tools/merge/merged_definitions.hpp"
#include "trace-tools/otf2/handles.hpp"
#include "trace-tools/otf2/read/cut_off.hpp"
#include "trace-tools/otf2/read/soundness.hpp"
#include "trace-tools/otf2/write/chunks.hpp"

#include <algorithm>
#include <map>

namespace merge {

namespace fs = std::filesystem;

namespace {

// Span on the common clock, in ticks.
struct Span {
    std::uint64_t first = UINT64_MAX;
    std::uint64_t last = 0;
    bool any() const { return first <= last; }
};

// The merged archive.
class Output {
 public:
    Output(const fs::path& directory, std::uint64_t event_chunk, std::uint64_t definition_chunk)
    {
        otf2::keep_otf2_quiet();
        archive_.reset(
            otf2::check(OTF2_Archive_Open(directory.c_str(), base::file::archive, OTF2_FILEMODE_WRITE, event_chunk,
                                          definition_chunk, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE),
                        "create an archive in ", directory.string()));
        static const OTF2_FlushCallbacks flushing{
            .otf2_pre_flush = [](void*, OTF2_FileType, OTF2_LocationRef, void*, bool) -> OTF2_FlushType {
                return OTF2_FLUSH;
            },
            .otf2_post_flush = nullptr};  // flushes of this program are not recorded as events
        otf2::check(OTF2_Archive_SetFlushCallbacks(archive_.get(), &flushing, nullptr), "set up the archive");
        otf2::check(OTF2_Archive_SetSerialCollectiveCallbacks(archive_.get()), "write it alone");
        otf2::use_memory(archive_.get(), memory_);
        otf2::check(OTF2_Archive_SetCreator(archive_.get(), ("crosstalk " + base::version()).c_str()),
                    "set up the archive");
    }

    OTF2_Archive* get() const { return archive_.get(); }

    void close()
    {
        otf2::check_written([&] { otf2::check(OTF2_Archive_Close(archive_.release()), "close the archive"); },
                            "close the archive");
    }

 private:
    otf2::EventMemory memory_{0};
    otf2::ArchiveHandle archive_;
};

class Merge {
 public:
    Merge(const MergePlan& plan, const fs::path& directory)
        : inputs_{open_inputs(plan)},
          clock_offset_ns_{plan.clock_offset_ns},
          definitions_{definitions_of(inputs_)},
          spans_(inputs_.size()),
          output_{directory, largest(&otf2::ArchiveFiles::event_chunk_bytes),
                  largest(&otf2::ArchiveFiles::definition_chunk_bytes)}
    {
    }

    Merged run()
    {
        for (std::size_t i = 1; i < inputs_.size(); ++i) take_in_noise(inputs_[i]);
        if (clock_offset_ns_.value_or(0) != 0 && !clocks_differ_)
            base::fail_usage("--clock-offset: omit it, since training and noise were recorded on the same clock");
        copy_all_events();
        write_all_local_definitions();
        otf2::check_written([&] { write_global_definitions(); }, "write definitions");
        describe();
        output_.close();
        for (const MergeInput& input : inputs_) note_what_is_left_out(input);
        for (const MergeInput& input : inputs_) note_if_apart(input);
        merged_.length_s =
            static_cast<double>(last_ - first_) / static_cast<double>(training().definitions.clock.ticks_per_s);
        return std::move(merged_);
    }

 private:
    static std::vector<MergeInput> open_inputs(const MergePlan& plan)
    {
        std::vector<MergeInput> inputs;
        inputs.push_back(read_merge_input(plan.training, 0));
        if (is_noise_alone(inputs.front().archive))
            base::fail_usage(plan.training.string(),
                             " is noise of noisegen: give the training's archive first, then the noise's");
        for (const fs::path& noise : plan.noise) inputs.push_back(read_merge_input(noise, inputs.size()));
        for (const MergeInput& input : inputs) {
            otf2::Reader reader{input.anchor};
            otf2::Visitor nothing_else;
            otf2::read_soundly(reader, nothing_else);
        }
        for (const MergeInput& input : inputs)
            if (input.definitions.clock.ticks_per_s == 0) base::fail(input.anchor.string(), " has no clock resolution");
        return inputs;
    }

    static std::vector<const RawDefinitions*> definitions_of(const std::vector<MergeInput>& inputs)
    {
        std::vector<const RawDefinitions*> all;
        for (const MergeInput& input : inputs) all.push_back(&input.definitions);
        return all;
    }

    std::uint64_t largest(std::uint64_t (otf2::ArchiveFiles::*chunk)() const) const
    {
        std::uint64_t most = 0;
        for (const MergeInput& input : inputs_) most = std::max(most, (input.files.*chunk)());
        return most;
    }

    const MergeInput& training() const { return inputs_.front(); }

    void take_in_noise(MergeInput& noise)
    {
        for (const otf2::Location& location : noise.archive.locations) {
            const Beside training_there = beside(training(), noise, location, clock_offset_ns_.has_value());
            if (!training_there.same_clock) clocks_differ_ = true;
            const std::uint32_t node = noise.node_of(location);
            if (node == otf2::nowhere) continue;
            const std::uint32_t same = training().node_named(noise.archive.nodes[node].name, *training_there.location);
            if (same != otf2::nowhere) definitions_.same_node(noise.number, noise.nodes[node], training().nodes[same]);
        }
        definitions_.add(noise.number);
        merged_.others += noise.processes.size();
        if (noise.archive.property(base::property::watches)) return;  // its processes have names
        for (std::size_t process = 0; process < noise.processes.size(); ++process) {
            const std::uint32_t node = noise.archive.processes[process].node;
            const std::string name = node == otf2::nowhere ? "noise" : "noise on " + noise.archive.nodes[node].name;
            const int before = noise_of_name_[name]++;
            definitions_.rename_process(
                definitions_.number(noise.number, Space::location_group, noise.processes[process]),
                before == 0 ? name : base::join(name, " (", before + 1, ")"));
        }
    }

    void copy_all_events()
    {
        std::uint64_t defined = 0;
        for (const MergeInput& input : inputs_)
            for (const otf2::Location& location : input.archive.locations) defined += location.events;
        base::Progress progress{"merging"};
        const auto show = [&](std::uint64_t events) {
            merged_.events += events;
            if (progress.due())
                progress.show(
                    static_cast<double>(merged_.events) / static_cast<double>(std::max<std::uint64_t>(defined, 1)),
                    base::join(merged_.events, " events"));
        };
        otf2::check(OTF2_Archive_OpenEvtFiles(output_.get()), "create files of events");
        for (MergeInput& input : inputs_) {
            const otf2::ReaderHandle reader = open_with_all_locations(input);
            otf2::check(OTF2_Reader_OpenEvtFiles(reader.get()), "open the events of ", input.anchor.string());
            for (const otf2::Location& location : input.archive.locations)
                input.copied.push_back(copy_location(input, reader.get(), location, show));
        }
        otf2::check(OTF2_Archive_CloseEvtFiles(output_.get()), "write events");
    }

    CopiedEvents copy_location(const MergeInput& input, OTF2_Reader* reader, const otf2::Location& location,
                               const std::function<void(std::uint64_t)>& progress)
    try {
        const std::uint64_t number = definitions_.number(input.number, Space::location, location.id);
        OTF2_EvtWriter* writer = otf2::check(OTF2_Archive_GetEvtWriter(output_.get(), number), "write events");
        CopiedEvents copied;
        OTF2_EvtReader* events = nullptr;
        if (input.files.has_events(location)) {
            input.files.refuse_cut_off_events(location);
            events = OTF2_Reader_GetEvtReader(reader, location.id);
        }
        if (events != nullptr) {
            const std::uint64_t most = otf2::most_events(location.events, input.files.bytes_of_events(location));
            copied = copy_events(reader, events, writer, io_paradigms(input), resolution(input), most, progress);
            otf2::check(OTF2_Reader_CloseEvtReader(reader, events), "read events");
        }
        definitions_.set_events(number, copied.events);
        otf2::check_written([&] { otf2::check(OTF2_Archive_CloseEvtWriter(output_.get(), writer), "write events"); },
                            "write events");
        ++merged_.locations;
        return copied;
    } catch (const base::Error& error) {
        base::fail(input.anchor.string(), ", location ", location.name, ": ", error.what());
    }

    IoParadigms io_paradigms(const MergeInput& input) const
    {
        IoParadigms now{};
        for (std::size_t old = 0; old < now.size(); ++old)
            now[old] = static_cast<OTF2_IoParadigmRef>(definitions_.number(input.number, Space::io_paradigm, old));
        return now;
    }

    Resolution resolution(const MergeInput& input) const
    {
        return {.read = input.definitions.clock.ticks_per_s, .written = training().definitions.clock.ticks_per_s};
    }

    void write_all_local_definitions()
    {
        otf2::check(OTF2_Archive_OpenDefFiles(output_.get()), "create files of definitions");
        for (const MergeInput& input : inputs_) {
            const otf2::ReaderHandle reader = open_with_all_locations(input);
            static_cast<void>(OTF2_Reader_OpenDefFiles(reader.get()));  // archives need not have any
            std::array<std::map<std::uint64_t, std::uint64_t>, mapped_spaces> changed;
            for (std::size_t space = 0; space < mapped_spaces; ++space)
                changed[space] = definitions_.changed_numbers(input.number, static_cast<Space>(space));
            for (std::size_t i = 0; i < input.archive.locations.size(); ++i) {
                const otf2::Location& location = input.archive.locations[i];
                LocalDefinitions local = read_local_definitions(reader.get(), location.id);
                if (input.number == 0)
                    offsets_of_training_[location.id] = local.clock_offsets;
                else
                    local.clock_offsets = offsets_of_noise(input, location);
                renumber(input, location, input.copied[i], changed, local);
                note_times(input, input.copied[i], local);
                const std::uint64_t number = definitions_.number(input.number, Space::location, location.id);
                otf2::check_written([&] { write_local_definitions(output_.get(), number, local); },
                                    "write local definitions");
            }
        }
        otf2::check(OTF2_Archive_CloseDefFiles(output_.get()), "write local definitions");
    }

    // Clock offsets of the training's location that belongs to the noise, shifted by --clock-offset if clocks differ.
    std::vector<RawClockOffset> offsets_of_noise(const MergeInput& noise, const otf2::Location& location) const
    {
        const Beside there = beside(training(), noise, location, clock_offset_ns_.has_value());
        const std::vector<RawClockOffset>& offsets = offsets_of_training_.at(there.location->id);
        if (there.same_clock) return offsets;
        const double ticks_per_ns = static_cast<double>(training().definitions.clock.ticks_per_s) / 1e9;
        const auto stated = static_cast<std::int64_t>(static_cast<double>(*clock_offset_ns_) * ticks_per_ns);
        if (offsets.empty()) return {{.at = 0, .offset = stated}};
        std::vector<RawClockOffset> of_noise;
        for (const RawClockOffset& offset : offsets) {
            const auto at = std::max<std::int64_t>(static_cast<std::int64_t>(offset.at) - stated, 0);
            if (at == 0) of_noise.clear();  // drops offsets from before the noise's clock began
            of_noise.push_back({static_cast<std::uint64_t>(at), offset.offset + stated, offset.deviation});
        }
        return of_noise;
    }

    void renumber(const MergeInput& input, const otf2::Location& location, const CopiedEvents& copied,
                  const std::array<std::map<std::uint64_t, std::uint64_t>, mapped_spaces>& changed,
                  LocalDefinitions& local)
    {
        const auto metric = static_cast<std::size_t>(Space::metric);
        std::map<std::uint64_t, std::uint64_t> metrics_of_node;
        if (input.number > 0) {
            const std::uint64_t here = definitions_.number(input.number, Space::location, location.id);
            for (const OTF2_MetricRef own : copied.metrics) {
                const auto found = local.numbers[metric].find(own);
                const std::uint64_t known = definitions_.number(
                    input.number, Space::metric, found == local.numbers[metric].end() ? own : found->second);
                if (known != undefined(Space::metric)) metrics_of_node[own] = definitions_.metric_of_node(known, here);
            }
        }
        for (std::size_t space = 0; space < mapped_spaces; ++space) {
            std::map<std::uint64_t, std::uint64_t>& numbers = local.numbers[space];
            for (auto& [own, global] : numbers)
                if (const auto now = changed[space].find(global); now != changed[space].end()) global = now->second;
            numbers.insert(changed[space].begin(), changed[space].end());  // numbers without a local mapping
        }
        for (const auto& [own, now] : metrics_of_node) local.numbers[metric][own] = now;
    }

    void note_times(const MergeInput& input, const CopiedEvents& copied, const LocalDefinitions& local)
    {
        if (copied.events == 0) return;
        Span& span = spans_[input.number];
        span.first = std::min(span.first, common_time(copied.first, local.clock_offsets));
        span.last = std::max(span.last, common_time(copied.last, local.clock_offsets));
        first_ = std::min(first_, span.first);
        last_ = std::max(last_, span.last);
    }

    void write_global_definitions()
    {
        const RawClock& clock = training().definitions.clock;
        const bool stated = clock.begin != OTF2_UNDEFINED_TIMESTAMP;
        if (stated) first_ = std::min(first_, clock.begin);
        if (stated) last_ = std::max(last_, clock.begin + clock.length);
        if (first_ > last_) first_ = last_;
        const std::uint64_t realtime =
            clock.realtime == OTF2_UNDEFINED_TIMESTAMP
                ? clock.realtime
                : clock.realtime - static_cast<std::uint64_t>(static_cast<double>(clock.begin - first_) * 1e9 /
                                                              static_cast<double>(clock.ticks_per_s));
        OTF2_GlobalDefWriter* writer = otf2::check(OTF2_Archive_GetGlobalDefWriter(output_.get()), "write definitions");
        otf2::check(
            OTF2_GlobalDefWriter_WriteClockProperties(writer, clock.ticks_per_s, first_, last_ - first_, realtime),
            "write clock properties");
        definitions_.write(writer);
        otf2::check(OTF2_Archive_CloseGlobalDefWriter(output_.get(), writer), "close the definitions");
    }

    void describe()
    {
        const otf2::Archive& archive = training().archive;
        if (!archive.machine.empty())
            otf2::check(OTF2_Archive_SetMachineName(output_.get(), archive.machine.c_str()), "name the machine");
        if (!archive.description.empty())
            otf2::check(OTF2_Archive_SetDescription(output_.get(), archive.description.c_str()),
                        "describe the archive");
        for (const MergeInput& input : inputs_)
            for (const auto& [name, value] : input.archive.properties)
                OTF2_Archive_SetProperty(output_.get(), name.c_str(), value.c_str(), false);  // first value is kept
    }

    void note_what_is_left_out(const MergeInput& input)
    {
        const auto note = [&](const auto&... parts) {
            merged_.notes.push_back(base::join(input.anchor.string(), ": ", parts...));
        };
        for (const std::string& problem : input.archive.problems) note(problem);
        if (input.definitions.unknown > 0)
            note(input.definitions.unknown, " definitions of kinds unknown to this OTF2 were skipped");
        for (std::size_t i = 0; i < input.copied.size(); ++i) {
            const otf2::Location& location = input.archive.locations[i];
            const CopiedEvents& copied = input.copied[i];
            if (copied.unknown > 0)
                note(copied.unknown, " events of ", location.name,
                     " are of kinds unknown to this OTF2 and were skipped");
            if (copied.events + copied.unknown != location.events)
                note(copied.events + copied.unknown, " events of ", location.name, " are there, ", location.events,
                     " are defined");
        }
    }

    void note_if_apart(const MergeInput& noise)
    {
        const Span& one = spans_.front();
        const Span& other = spans_[noise.number];
        if (!one.any() || !other.any() || (other.first <= one.last && one.first <= other.last)) return;
        const bool before = other.last < one.first;
        const std::uint64_t gap = before ? one.first - other.last : other.first - one.last;
        const auto ticks_per_s = static_cast<double>(training().definitions.clock.ticks_per_s);
        merged_.notes.push_back(base::join(noise.anchor.string(), ": does not overlap the training: it ",
                                           before ? "ends " : "begins ",
                                           base::fixed(static_cast<double>(gap) / ticks_per_s, 3), " s",
                                           before ? " before the training begins" : " after the training ends"));
    }

    std::vector<MergeInput> inputs_;
    std::optional<std::int64_t> clock_offset_ns_;
    bool clocks_differ_ = false;  // some noise has another clock than the training
    MergedDefinitions definitions_;
    std::vector<Span> spans_;  // by input
    Output output_;
    Merged merged_;
    std::map<std::string, int> noise_of_name_;
    std::map<std::uint64_t, std::vector<RawClockOffset>> offsets_of_training_;  // by location
    std::uint64_t first_ = UINT64_MAX;                                          // in ticks of the common clock
    std::uint64_t last_ = 0;
};

}  // namespace

Merged merge_traces(const MergePlan& plan, const fs::path& directory)
{
    return Merge{plan, directory}.run();
}

}  // namespace merge

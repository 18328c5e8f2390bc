// SPDX-License-Identifier: Apache-2.0
#include "noisegen/measure/victims/victim.hpp"

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/system/clock.hpp"
#include "base/system/stop.hpp"
#include "noisegen/measure/victims/at_work.hpp"
#include "noisegen/stressors/footprint.hpp"
#include "noisegen/stressors/pages.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace noisegen {

namespace {

constexpr const char* victim_block = "64KiB";
constexpr const char* victim_file = "16MiB";

struct alignas(64) Line {
    Line* next;
};

// A random cycle through all lines of its memory (Sattolo 1986), which no prefetcher predicts.
class Chase {
 public:
    explicit Chase(base::Bytes bytes)
        : pages_{static_cast<std::size_t>(bytes.count)}, lines_{static_cast<std::size_t>(bytes.count) / sizeof(Line)}
    {
        Line* lines = static_cast<Line*>(pages_.data());
        for (std::size_t i = 0; i < lines_; ++i) lines[i].next = &lines[i];
        base::Random random{lines_};
        for (std::size_t i = lines_ - 1; i > 0 && !base::stop_requested(); --i)
            std::swap(lines[i].next, lines[base::draw_below(random, i)].next);
        at_ = lines;
    }

    void run(std::size_t loads)
    {
        Line* at = at_;
        for (std::size_t i = 0; i < loads; ++i) at = at->next;
        at_ = at;
        asm volatile("" : : "r"(at));  // the compiler must treat the result as used
    }

    std::size_t lines() const { return lines_; }

 private:
    Pages pages_;
    std::size_t lines_;
    Line* at_ = nullptr;
};

AtWork make_reader(const Victim::Setup& setup)
{
    return {"memory.stream", {{"shape", "read"}, {"bytes", base::format(setup.array)}}, setup.cpu};
}

// Makes one write after the other, like a program that waits for its writes.
AtWork make_writer(const Victim::Setup& setup)
{
    return {"io.random",
            {{"read", "0%"},
             {"block", victim_block},
             {"size", victim_file},
             {"depth", "1"},
             {"engine", "pread"},
             {"directory", setup.scratch.string()}},
            setup.cpu};
}

AtWork make_messenger(const Victim::Setup& setup)
{
    return {"network.exchange", {{"bytes", victim_block}}, setup.cpu};
}

// Repeats part(), which returns its amount of work, until the time is over.
template <class Part>
Slice slice(Slice::Kind kind, base::Nanoseconds length, Part&& part)
{
    Slice done{.kind = kind, .begin_ns = base::now_ns(), .end_ns = 0, .cpu_ns = -base::thread_cpu_ns(), .amount = 0.0};
    std::size_t amount = 0;
    do {
        amount += part();
        done.end_ns = base::now_ns();
    } while (done.end_ns - done.begin_ns < length.count());
    done.cpu_ns += base::thread_cpu_ns();
    done.amount = static_cast<double>(amount);
    return done;
}

base::Bytes parse_array(const std::string& text)
try {
    return base::parse<base::Bytes>(text);
} catch (const base::UsageError& error) {
    base::fail_usage("--array: ", error.what());
}

}  // namespace

Victim::Setup Victim::setup(int cpu, const std::string& array)
{
    constexpr std::int64_t mib = std::int64_t{1} << 20U;
    const std::int64_t cache = last_level_cache(cpu).size.count;
    const std::int64_t bytes = array == "auto" ? beyond_caches(cpu).count : parse_array(array).count / mib * mib;
    if (bytes < mib) base::fail_usage("--array must be at least 1MiB, or auto, not ", array);
    return {.cpu = cpu, .array = {bytes}, .cached = {std::clamp(cache / 8, mib, std::max(mib, bytes))}};
}

Victim::Victim(const Setup& setup) : setup_{setup}, thread_{setup.cpu, [this](VictimThread& thread) { work(thread); }}
{
}

std::vector<Slice> Victim::stop()
{
    thread_.stop();
    return std::move(slices_);
}

void Victim::work(VictimThread& thread)
{
    AtWork reader = make_reader(setup_);
    std::optional<AtWork> writer;
    std::optional<AtWork> messenger;
    if (!setup_.scratch.empty()) {
        writer.emplace(make_writer(setup_));
        messenger.emplace(make_messenger(setup_));
    }
    Chase far{setup_.array};
    Chase near{setup_.cached};
    slices_.reserve(std::size_t{1} << 16U);
    thread.wait_for_start();
    constexpr std::size_t loads = 500;  // these take some tens of microseconds
    const auto chase = [](Chase& through) {
        through.run(loads);
        return loads;
    };
    while (!thread.is_over()) {
        slices_.push_back(slice(Slice::Kind::read, setup_.slice, [&] { return reader.step().bytes; }));
        slices_.push_back(slice(Slice::Kind::chase, setup_.slice, [&] { return chase(far); }));
        // Other slices have evicted its memory from the cache, so it is loaded again.
        for (std::size_t done = 0; done < near.lines() && !thread.is_over(); done += loads) near.run(loads);
        slices_.push_back(slice(Slice::Kind::cache, setup_.slice, [&] { return chase(near); }));
        if (!writer) continue;
        slices_.push_back(slice(Slice::Kind::write, setup_.slice, [&] { return writer->step().operations; }));
        slices_.push_back(slice(Slice::Kind::message, setup_.slice, [&] { return messenger->step().operations; }));
    }
}

}  // namespace noisegen

// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpointer.hpp"

#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "ddl-workloads/checkpoint/checkpoint_store.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

namespace ddl {

namespace {

std::int64_t bytes_of(std::span<const StateTensor> tensors)
{
    const auto add = [](std::size_t sum, const StateTensor& tensor) { return sum + tensor.bytes.size(); };
    return static_cast<std::int64_t>(std::accumulate(tensors.begin(), tensors.end(), std::size_t{0}, add));
}

void say_not_written(std::int64_t step, const std::string& why)
{
    base::warn("the checkpoint of step ", step, " is lost: ", why, "; the training continues");
}

std::vector<std::vector<std::size_t>> wholes(std::span<const StateTensor> tensors, int ranks)
{
    std::vector<std::size_t> whole(tensors.size());
    std::iota(whole.begin(), whole.end(), std::size_t{0});
    return std::vector<std::vector<std::size_t>>(static_cast<std::size_t>(ranks), whole);
}

}  // namespace

std::string text(Writers by)
{
    return by == Writers::rank0 ? "rank0" : by == Writers::sharded ? "sharded" : "all";
}

void parse_checkpoint_every(const std::string& text, CheckpointPlan& plan)
try {
    const std::string number = text.substr(0, text.find("step"));
    const bool steps = text.find_first_not_of("0123456789") == std::string::npos || text == number + "steps" ||
                       text == number + "step";
    constexpr std::string_view by_cost = "auto:";
    if (text.starts_with(by_cost))
        plan.share = base::parse<base::Percent>(text.substr(by_cost.size())).value / 100.0;
    else if (steps)
        plan.every_steps = base::parse<std::int64_t>(number);
    else
        plan.every_time = base::parse<base::Nanoseconds>(text);
    if (!plan.on() || plan.every_steps < 0 || plan.every_time.count() < 0 || plan.share >= 1.0)
        base::fail_usage("give at least one step, a time such as 30s, or auto:3%");
} catch (const base::UsageError& error) {
    base::fail_usage("--checkpoint-every ", text, ": ", error.what());
}

std::vector<std::vector<std::size_t>> shares(std::span<const StateTensor> tensors, int ranks)
{
    std::vector<std::vector<std::size_t>> shares(static_cast<std::size_t>(ranks));
    std::vector<std::size_t> bytes(shares.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (tensors[i].owner == Owner::each) {
            for (std::vector<std::size_t>& share : shares) share.push_back(i);
            continue;
        }
        const auto least = static_cast<std::size_t>(std::min_element(bytes.begin(), bytes.end()) - bytes.begin());
        const std::size_t rank = tensors[i].owner == Owner::any ? least : 0;
        shares[rank].push_back(i);
        bytes[rank] += tensors[i].bytes.size();
    }
    return shares;
}

Checkpointer::Checkpointer(const CheckpointPlan& plan, std::filesystem::path directory, ExchangeThread& exchanges,
                           WriteObserver& observer)
    : plan_{plan},
      format_{checkpoint_formats().find(plan.format)},
      directory_{std::move(directory)},
      exchanges_{exchanges},
      observer_{observer},
      last_begun_ns_{base::now_ns()},
      pace_{plan.share}
{
}

CheckpointNews Checkpointer::news()
{
    add_row();
    CheckpointNews news{.written = written_share_, .failed = failed_share_};
    const bool late = plan_.every_time.count() > 0 && base::now_ns() - last_begun_ns_ >= plan_.every_time.count();
    if (exchanges_.rank() == 0 && (late || pace_.is_due())) news.due = std::exchange(asked_, true) ? 0 : 1;
    return news;
}

void Checkpointer::receive(std::span<const CheckpointNews> all)
{
    if (all.empty()) return;
    if (all.front().due != 0) wanted_ = true;
    if (!shards_open_) return;
    const auto reported = [this](const CheckpointNews& one) { return std::max(one.written, one.failed) == meta_.step; };
    const auto failed = [this](const CheckpointNews& one) { return one.failed == meta_.step; };
    if (!std::all_of(all.begin(), all.end(), reported)) return;
    if (std::any_of(all.begin(), all.end(), failed)) failed_share_ = meta_.step;
    complete();
}

bool Checkpointer::due(std::int64_t steps_done) const
{
    return wanted_ || (plan_.every_steps > 0 && steps_done % plan_.every_steps == 0);
}

void Checkpointer::write(const CheckpointMeta& meta, std::span<const StateTensor> state, bool beside)
{
    const std::int64_t begin = base::now_ns();
    finish();
    meta_ = meta;
    meta_.by = text(plan_.by);
    meta_.compress = plan_.gzip > 0 ? base::join("gzip=", plan_.gzip) : "none";
    beside_ = beside;
    last_begun_ns_ = base::now_ns();
    asked_ = wanted_ = false;
    const int ranks = plan_.in_shards() ? exchanges_.size() : 1;
    meta_.shards = plan_.in_shards() ? ranks : 0;
    shards_open_ = plan_.in_shards();
    if (!plan_.in_shards() && exchanges_.rank() != 0) return;
    open_table();

    const bool all = plan_.by == Writers::all;
    const std::vector<std::vector<std::size_t>> dealt = all ? wholes(state, ranks) : shares(state, ranks);
    paths_of_shards_.assign(dealt.size(), {});
    for (std::size_t rank = 0; rank < (all ? 1 : dealt.size()); ++rank)
        for (const std::size_t i : dealt[rank])
            if (state[i].owner != Owner::each || ranks == 1) paths_of_shards_[rank].push_back(state[i].path);
    std::vector<StateTensor> share;
    for (const std::size_t i : dealt[static_cast<std::size_t>(exchanges_.rank())]) share.push_back(state[i]);
    save_ = {.step = meta_.step,
             .rank = exchanges_.rank(),
             .format = format_.name,
             .content = plan_.content,
             .by = text(plan_.by),
             .mode = beside_ ? "async" : "sync",
             .fsync = plan_.durable ? "yes" : "no",
             .begin_ns = begin,
             .compress = meta_.compress};
    if (beside_) share = copy(std::move(share));
    const std::int64_t bytes = bytes_of(share);
    start(bytes, [this, share = std::move(share)] { write_share(meta_, share); });
    if (!beside_) wait();
    save_.stall_ns = base::now_ns() - begin;
    add_row();
}

// Collective if ranks write shards.
void Checkpointer::open_table()
{
    if (rows_) return;
    const std::filesystem::path file = directory_.parent_path() / base::checkpoint::table;
    const std::vector<std::string> columns = base::names_of(base::checkpoint::columns());
    if (exchanges_.rank() == 0) rows_.emplace(file, columns);
    if (!plan_.in_shards()) return;
    exchanges_.barrier().get();
    rows_.emplace(file, columns, base::CsvWriter::Appear::more_rows);
}

// Appends the row about the latest checkpoint, once that is complete.
void Checkpointer::add_row()
{
    const bool running =
        under_way_.valid() && under_way_.wait_for(std::chrono::seconds{0}) != std::future_status::ready;
    if (running || shards_open_ || !std::exchange(saved_, false)) return;
    rows_->write(base::cells_of(base::checkpoint::columns(), save_));
}

// The memory of the copies is reused by the next checkpoint.
std::vector<StateTensor> Checkpointer::copy(std::vector<StateTensor> share)
{
    const std::int64_t begin = base::now_ns();
    copies_.resize(static_cast<std::size_t>(bytes_of(share)));
    std::span<std::byte> room{copies_};
    for (StateTensor& tensor : share) {
        std::copy(tensor.bytes.begin(), tensor.bytes.end(), room.begin());
        tensor.bytes = room.first(tensor.bytes.size());
        room = room.subspan(tensor.bytes.size());
    }
    save_.copy_ns = base::now_ns() - begin;
    return share;
}

// Runs `work` on a separate thread (async) or waits for it here; only one at a time.
void Checkpointer::start(std::int64_t bytes, std::function<void()> work)
{
    if (!beside_) {
        under_way_ = std::async(std::launch::deferred, std::move(work));
        return;
    }
    under_way_ = std::async(std::launch::async, [this, bytes, work = std::move(work)] {
        observer_.write_begins(meta_.step, bytes);
        work();
        observer_.write_ends();
    });
}

void Checkpointer::write_share(const CheckpointMeta& meta, std::span<const StateTensor> share)
{
    const std::int64_t begin = base::now_ns();
    try {
        make_room(directory_, meta.step, bytes_of(share));
        const std::filesystem::path growing = growing_path(directory_, meta.step);
        const Written written = plan_.in_shards() ? write_shard(growing, meta, exchanges_.rank(), share, how())
                                                  : write_whole_checkpoint(growing, meta, share, how());
        save_.write_ns = written.write_ns;
        save_.sync_ns = written.sync_ns;
        save_.bytes = written.bytes;
        if (!plan_.in_shards()) make_complete();
        bytes_ += bytes_of(share);
        writing_ns_ += base::now_ns() - begin;
        written_share_ = meta.step;
    } catch (const std::exception& error) {
        if (!plan_.in_shards()) {
            discard(directory_, meta.step);
            ++failures_;
        }
        say_not_written(meta.step, error.what());
        failed_share_ = meta.step;
    }
}

// Called on rank 0 when all files of the checkpoint are written.
void Checkpointer::make_complete()
{
    const std::int64_t begin = base::now_ns();
    publish(directory_, meta_.step, plan_.durable);
    (plan_.durable ? save_.sync_ns : save_.write_ns) += base::now_ns() - begin;
    if (plan_.keep > 0) keep_newest(directory_, static_cast<std::size_t>(plan_.keep));
    saved_ = true;
    ++completed_;
}

// Called when all ranks have reported on their shards: rank 0 completes the checkpoint, or removes the shards.
void Checkpointer::complete()
{
    shards_open_ = false;
    if (exchanges_.rank() != 0) {
        saved_ = failed_share_ != meta_.step;
        return;
    }
    under_way_.get();
    if (failed_share_ == meta_.step) {
        discard(directory_, meta_.step);
        ++failures_;
        return;
    }
    start(0, [this] {
        try {
            write_index(growing_path(directory_, meta_.step), meta_, paths_of_shards_, how());
            make_complete();
        } catch (const std::exception& error) {
            discard(directory_, meta_.step);
            ++failures_;
            say_not_written(meta_.step, error.what());
        }
    });
    if (!beside_) under_way_.get();
}

void Checkpointer::forget_after(std::int64_t steps_done)
{
    finish();
    if (exchanges_.rank() == 0) discard_after(directory_, steps_done);
    exchanges_.barrier().get();
}

void Checkpointer::finish()
{
    wait();
    add_row();
}

void Checkpointer::wait()
{
    if (under_way_.valid()) under_way_.wait();
    if (shards_open_) {
        const bool failed = failed_share_ == meta_.step;
        const std::vector<std::string> texts = exchanges_.gather(failed ? "failed" : "").get();
        if (std::any_of(texts.begin(), texts.end(), [](const std::string& text) { return !text.empty(); }))
            failed_share_ = meta_.step;
        complete();
    }
    if (under_way_.valid()) under_way_.get();
}

nlohmann::ordered_json Checkpointer::summary() const
{
    return {{"written", completed_.load()},
            {"failed", failures_.load()},
            {"bytes", bytes_.load()},
            {"writing_ms", static_cast<double>(writing_ns_) / 1e6}};
}

std::vector<StateTensor> training_state(Model& model, bool ranks_are_equal, std::string_view content)
{
    std::vector<StateTensor> all = model.state();
    if (content == weights_only)
        std::erase_if(all, [](const StateTensor& tensor) { return !tensor.path.starts_with("model/"); });
    if (!ranks_are_equal)
        for (StateTensor& tensor : all) tensor.owner = Owner::each;
    return all;
}

}  // namespace ddl

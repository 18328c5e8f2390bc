// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/synth/spec.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/cpus.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "trace-tools/synth/spec_words.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <utility>

namespace synth {

namespace {

constexpr int most_ranks = 65536;
constexpr std::int64_t most_repetitions = 1'000'000'000;
constexpr double most_events = 1e9;
constexpr std::size_t deepest = 64;

struct CollectiveKind {
    const char* name;
    otf2::Operation operation;
    Flow flow;
};

constexpr CollectiveKind collective_kinds[] = {
    {"MPI_Barrier", otf2::Operation::barrier, Flow::barrier},
    {"MPI_Bcast", otf2::Operation::broadcast, Flow::one_to_all},
    {"MPI_Scatter", otf2::Operation::scatter, Flow::one_to_all},
    {"MPI_Reduce", otf2::Operation::reduce, Flow::all_to_one},
    {"MPI_Gather", otf2::Operation::gather, Flow::all_to_one},
    {"MPI_Allreduce", otf2::Operation::allreduce, Flow::all_to_all},
    {"MPI_Allgather", otf2::Operation::allgather, Flow::all_to_all},
    {"MPI_Alltoall", otf2::Operation::alltoall, Flow::all_to_all},
    {"MPI_Reduce_scatter", otf2::Operation::reduce_scatter, Flow::all_to_all},
    {"MPI_Iallreduce", otf2::Operation::allreduce, Flow::all_to_all},
    {"MPI_Ibarrier", otf2::Operation::barrier, Flow::barrier},
};

const std::vector<std::string> statements{"ranks", "seed", "communicator", "clock", "repeat", "region"};

bool is_time(const std::string& word)
try {
    parse_range(word.substr(0, word.find(',')));
    return true;
} catch (const base::Error&) {
    return false;
}

class Parser {
 public:
    SynthSpec parse(const std::filesystem::path& file)
    {
        std::istringstream lines{base::read_whole(file)};
        std::string line;
        for (std::size_t number = 1; std::getline(lines, line); ++number) {
            try {
                parse_line(line.substr(0, line.find('#')));
            } catch (const std::exception& error) {
                base::fail_usage(file.string(), " line ", number, ": ", error.what());
            }
        }
        if (open_.size() > 1) base::fail_usage(file.string(), ": an unclosed {: is a } missing at the end?");
        if (!begun_) base::fail_usage(file.string(), ": no statements (trace-synth --help shows them)");
        spec_.program = std::move(open_.front().body);
        return std::move(spec_);
    }

 private:
    void parse_line(std::string_view text)
    {
        const std::string_view line = base::trim(text);
        if (line.empty()) return;
        Words words = parse_words(line);
        if (words.head == "}") {
            if (line != words.head) base::fail("} must be on its own line");
            return close();
        }
        if (words.head == "ranks" || words.head == "seed" || words.head == "clock" || words.head == "communicator")
            return setting(words);
        begin_program();
        if (words.head == "repeat" || words.head == "region") return open(words);
        if (words.head == "MPI_Wait") return add(wait(words));
        if (is_message(words.head)) return add(message(words));
        if (words.head.starts_with("MPI_")) return add(collective(words));
        add(work(line));
    }

    void setting(Words& words)
    {
        if (begun_) base::fail(words.head, " must be the first statement");
        if (words.head == "ranks") {
            once(words);
            spec_.ranks = base::parse<int>(only_word(words, "a number"));
            if (spec_.ranks < 1 || spec_.ranks > most_ranks) base::fail("ranks are 1 to ", most_ranks);
        } else if (words.head == "seed") {
            once(words);
            spec_.seed = base::parse<std::uint64_t>(only_word(words, "a number"));
        } else if (words.head == "clock") {
            ClockError error{.offset_ns = parse_signed_time(take(words, "offset").value_or("0s")),
                             .drift = base::parse<double>(take(words, "drift").value_or("0")) * 1e-6};
            if (!(std::abs(error.drift) <= 0.1)) base::fail("drift must be at most 100000 us per second");
            clocks_.emplace_back(only_word(words, "ranks"), error);
        } else {
            if (words.plain.size() != 2) base::fail("a communicator takes a name and ranks");
            const std::string& name = words.plain[0];
            const auto called_so = [&](const auto& known) { return known.first == name; };
            if (name == "world" || std::ranges::any_of(communicators_, called_so))
                base::fail("duplicate communicator '", name, "'", name == "world" ? ", of all ranks" : "");
            communicators_.emplace_back(name, words.plain[1]);
        }
        end_of_settings(words);
    }

    void once(const Words& words)
    {
        if (std::ranges::find(said_, words.head) != said_.end()) base::fail(words.head, " is given twice");
        said_.push_back(words.head);
    }

    // Called when the number of ranks is known: lists of ranks, as in "on 1,3", are parsed against it.
    void begin_program()
    {
        if (begun_) return;
        begun_ = true;
        spec_.clocks.resize(static_cast<std::size_t>(spec_.ranks));
        for (const auto& [ranks, error] : clocks_)
            for (const int rank : parse_ranks(ranks)) spec_.clocks[static_cast<std::size_t>(rank)] = error;
        std::vector<int> all(static_cast<std::size_t>(spec_.ranks));
        std::iota(all.begin(), all.end(), 0);
        spec_.communicators.push_back({.name = "MPI_COMM_WORLD", .members = std::move(all)});
        for (const auto& [name, ranks] : communicators_)
            spec_.communicators.push_back({.name = name, .members = parse_ranks(ranks)});
    }

    std::vector<int> parse_ranks(std::string_view text) const
    {
        const base::CpuSet ranks = base::parse_cpus(text);  // lists of ranks are written like lists of CPUs
        std::vector<int> list;
        for (const int rank : ranks) list.push_back(rank);
        for (const int rank : list)
            if (rank >= spec_.ranks) base::fail("there is no rank ", rank, " of ", spec_.ranks);
        return list;
    }

    int parse_rank(std::string_view text) const
    {
        const int rank = base::parse<int>(text);
        if (rank < 0 || rank >= spec_.ranks) base::fail("there is no rank ", rank, " of ", spec_.ranks);
        return rank;
    }

    void open(const Words& words)
    {
        const bool repeats = words.head == "repeat";
        const std::vector<std::string>& plain = words.plain;
        if (plain.size() != (repeats ? 3U : 2U) || plain.back() != "{")
            base::fail(repeats ? "repeat takes a number, a name and {" : "region takes a name and {");
        end_of_settings(words);
        const std::string& name = plain[repeats ? 1 : 0];
        if (name.starts_with("MPI_")) base::fail("'", name, "' is reserved for MPI calls");
        Block block;
        block.region = region(name);
        block.counts = repeats;
        if (repeats) block.repetitions = base::parse<std::int64_t>(plain[0]);
        if (block.repetitions < 1 || block.repetitions > most_repetitions)
            base::fail("a block is repeated 1 to ", most_repetitions, " times");
        if (open_.size() > deepest) base::fail("blocks are nested too deep");
        open_.push_back(std::move(block));
    }

    void close()
    {
        if (open_.size() < 2) base::fail("} without {");
        Block block = std::move(open_.back());
        open_.pop_back();
        add(std::move(block));
    }

    template <class What>
    void add(What what)
    {
        open_.back().body.push_back({std::move(what)});
        if (open_.size() > 1) return;  // counted with the enclosing block
        events_ += events(open_.back().body.back());
        if (events_ > most_events)
            base::fail("the program makes ", events_, " events, more than the ", most_events, " allowed");
    }

    // Upper bound, since not every rank may have to wait. A double, since the number may exceed any integer.
    double events(const Statement& statement) const
    {
        return std::visit([this](const auto& what) { return this->events(what); }, statement.what);
    }
    double events(const Block& block) const
    {
        double once = 2.0 * spec_.ranks;
        for (const Statement& statement : block.body) once += events(statement);
        return once * static_cast<double>(block.repetitions);
    }
    static double events(const Work& work)
    {
        const auto takes_part = [](const std::optional<TimeRange>& time) { return time.has_value(); };
        return 2.0 * static_cast<double>(std::ranges::count_if(work.times, takes_part));
    }
    double events(const CollectiveCall& call) const
    {
        return (call.request.empty() ? 4.0 : 3.0) *
               static_cast<double>(spec_.communicators[call.communicator].members.size());
    }
    static double events(const MessageCall&) { return 6.0; }
    double events(const WaitCall& call) const
    {
        return 3.0 *
               static_cast<double>(call.ranks.empty() ? static_cast<std::size_t>(spec_.ranks) : call.ranks.size());
    }

    // "backward 20ms, 25ms on 1,3": a comma followed by a time begins the next part.
    Work work(std::string_view line)
    {
        const std::vector<std::string> words = words_of(line);
        if (const std::string meant = base::nearest(words.front(), statements);
            !meant.empty() && (words.size() < 2 || words.back() == "{" || !is_time(words[1])))
            base::fail("no statement '", words.front(), "'; did you mean ", meant, "? (trace-synth --help shows all)");
        if (words.back() == "{") base::fail("{ is for repeat and region, not for '", words.front(), "'");
        if (words.size() < 2) base::fail("'", words.front(), "' is not a statement, and work needs its time");
        Work work{.region = region(words.front())};
        work.times.resize(static_cast<std::size_t>(spec_.ranks));
        for (std::size_t i = 1; i < words.size();) {
            const std::string& time = words[i];
            const bool last_of_part = time.ends_with(',');
            const TimeRange range = parse_range(time.substr(0, time.size() - (last_of_part ? 1 : 0)));
            ++i;
            if (!last_of_part && i < words.size() && words[i] == "on") {
                if (i + 1 >= words.size()) base::fail("ranks are missing after 'on'");
                std::string ranks = words[i + 1];
                if (ranks.ends_with(',')) ranks.pop_back();
                for (const int rank : parse_ranks(ranks)) work.times[static_cast<std::size_t>(rank)] = range;
                i += 2;
            } else {
                std::fill(work.times.begin(), work.times.end(), range);
                if (!last_of_part && i < words.size()) base::fail("'", words[i], "' instead of a comma or 'on'");
            }
        }
        return work;
    }

    static bool is_message(const std::string& name)
    {
        return name == "MPI_Send" || name == "MPI_Ssend" || name == "MPI_Isend";
    }

    MessageCall message(Words& words)
    {
        const std::size_t arrow = words.plain.empty() ? std::string::npos : words.plain[0].find('>');
        if (words.plain.size() != 2 || arrow == std::string::npos)
            base::fail(words.head, " takes SENDER>RECEIVER and a time");
        const bool requested = words.head == "MPI_Isend";
        MessageCall call{.send_region = region(words.head, otf2::RegionRole::point_to_point, otf2::Paradigm::mpi),
                         .receive_region = region(requested ? "MPI_Irecv" : "MPI_Recv",
                                                  otf2::RegionRole::point_to_point, otf2::Paradigm::mpi),
                         .from = parse_rank(words.plain[0].substr(0, arrow)),
                         .to = parse_rank(words.plain[0].substr(arrow + 1)),
                         .synchronous = words.head == "MPI_Ssend",
                         .tag = tag(words),
                         .bytes = bytes(words),
                         .transfer = parse_range(words.plain[1]),
                         .request = request(words, requested)};
        if (call.from == call.to) base::fail("a message to itself");
        end_of_settings(words);
        return call;
    }

    WaitCall wait(const Words& words)
    {
        const bool by_some = words.plain.size() == 3 && words.plain[1] == "on";
        if (words.plain.size() != 1 && !by_some)
            base::fail("MPI_Wait takes a request, and 'on' with ranks if not all wait");
        end_of_settings(words);
        return {.region = region("MPI_Wait", otf2::RegionRole::point_to_point, otf2::Paradigm::mpi),
                .request = known_request(words.plain[0]),
                .ranks = by_some ? parse_ranks(words.plain[2]) : std::vector<int>{}};
    }

    CollectiveCall collective(Words& words)
    {
        const auto kind = std::find_if(std::begin(collective_kinds), std::end(collective_kinds),
                                       [&](const CollectiveKind& one) { return words.head == one.name; });
        if (kind == std::end(collective_kinds)) {
            std::vector<std::string> known{"MPI_Send", "MPI_Ssend", "MPI_Isend", "MPI_Wait"};
            for (const CollectiveKind& one : collective_kinds) known.emplace_back(one.name);
            base::fail("no call '", words.head, "'", base::did_you_mean(words.head, known),
                       " (trace-synth --help shows all)");
        }
        CollectiveCall call{.region = region(words.head, role(kind->flow), otf2::Paradigm::mpi),
                            .operation = kind->operation,
                            .flow = kind->flow,
                            .communicator = communicator(take(words, "comm").value_or("world")),
                            .bytes = bytes(words),
                            .transfer = parse_range(only_word(words, "a time")),
                            .request = request(words, words.head.starts_with("MPI_I"))};
        if (call.flow == Flow::one_to_all || call.flow == Flow::all_to_one) {
            const int root = base::parse<int>(take(words, "root").value_or("0"));
            if (root < 0 || static_cast<std::size_t>(root) >= spec_.communicators[call.communicator].members.size())
                base::fail("there is no rank ", root, " in that communicator");
            call.root = static_cast<std::uint32_t>(root);
        }
        end_of_settings(words);
        return call;
    }

    static otf2::RegionRole role(Flow flow)
    {
        switch (flow) {
            case Flow::all_to_all:
                return otf2::RegionRole::all_to_all;
            case Flow::one_to_all:
                return otf2::RegionRole::one_to_all;
            case Flow::all_to_one:
                return otf2::RegionRole::all_to_one;
            case Flow::barrier:
                break;
        }
        return otf2::RegionRole::barrier;
    }

    std::size_t region(const std::string& name, otf2::RegionRole role = otf2::RegionRole::function,
                       otf2::Paradigm paradigm = otf2::Paradigm::user)
    {
        for (std::size_t i = 0; i < spec_.regions.size(); ++i)
            if (spec_.regions[i].name == name) return i;
        spec_.regions.push_back({.name = name, .role = role, .paradigm = paradigm});
        return spec_.regions.size() - 1;
    }

    static std::uint32_t tag(Words& words)
    {
        const int tag = base::parse<int>(take(words, "tag").value_or("0"));
        if (tag < 0) base::fail("a tag is 0 or more, not ", tag);
        return static_cast<std::uint32_t>(tag);
    }

    static std::uint64_t bytes(Words& words)
    {
        return static_cast<std::uint64_t>(base::parse<base::Bytes>(take(words, "bytes").value_or("8B")).count);
    }

    std::string request(Words& words, bool needed)
    {
        std::string name = take(words, "request").value_or("");
        if (needed == name.empty()) base::fail(words.head, needed ? " needs request=NAME" : " has no request");
        if (needed) requests_.push_back(name);
        return name;
    }

    std::string known_request(std::string name) const
    {
        if (std::ranges::find(requests_, name) == requests_.end()) base::fail("no call has the request '", name, "'");
        return name;
    }

    std::size_t communicator(const std::string& name) const
    {
        if (name == "world") return 0;
        for (std::size_t i = 0; i < spec_.communicators.size(); ++i)
            if (spec_.communicators[i].name == name) return i;
        base::fail("no communicator '", name, "'");
    }

    SynthSpec spec_;
    std::vector<std::pair<std::string, ClockError>> clocks_;
    std::vector<std::pair<std::string, std::string>> communicators_;
    std::vector<std::string> requests_;
    std::vector<std::string> said_;  // settings that may be given only once
    double events_ = 0.0;
    std::vector<Block> open_{1};
    bool begun_ = false;
};

}  // namespace

SynthSpec read_synth_spec(const std::filesystem::path& file)
{
    return Parser{}.parse(file);
}

}  // namespace synth

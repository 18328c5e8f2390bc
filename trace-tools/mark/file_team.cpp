// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/mark/file_team.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/clock.hpp"
#include "base/system/waiting.hpp"

#include <random>
#include <utility>

namespace mark {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t meet_within_ns = 60'000'000'000;

std::string fresh_token()
{
    std::random_device device;
    return std::to_string(device()) + std::to_string(device());
}

fs::path of_rank(const fs::path& directory, const std::string& what, int rank)
{
    return directory / (what + "." + std::to_string(rank));
}

template <class Holds>
void wait_for(const std::string& whom, const Holds& holds)
{
    if (!base::wait_until(holds, meet_within_ns))
        base::fail(whom, " did not come within ", meet_within_ns / 1'000'000'000, " s");
}

}  // namespace

// A process whose launcher does not give the size is alone, whatever its rank.
FileTeam::FileTeam(fs::path directory, int rank, int size)
    : directory_{std::move(directory)}, rank_{size > 1 ? rank : 0}, size_{size}
{
    if (size_ > 1) meet();
}

// Each rank writes a token; rank 0 answers each with its own token, which names the session directory of this job.
// Files that a killed job left get no answer, since their tokens differ.
void FileTeam::meet()
{
    const std::string token = fresh_token();
    if (rank_ == 0) {
        std::error_code busy;  // another rank may still write into the directory of a killed job
        wait_for("the end of the previous job", [&] {
            base::remove_tree(directory_, busy);
            return !busy;
        });
        session_ = directory_ / token;
        fs::create_directories(session_);
        for (int other = 1; other < size_; ++other) {
            const fs::path hello = of_rank(directory_, "hello", other);
            wait_for("rank " + std::to_string(other), [&] { return fs::exists(hello); });
            base::write_whole(of_rank(directory_, "answer", other), base::read_whole(hello) + " " + token);
        }
        return;
    }
    const fs::path hello = of_rank(directory_, "hello", rank_);
    const fs::path answer = of_rank(directory_, "answer", rank_);
    const auto answered = [&] {
        std::error_code unknown;
        if (!fs::exists(hello, unknown) && fs::is_directory(directory_, unknown)) {
            try {
                base::write_whole(hello, token);
            } catch (const std::exception&) {  // rank 0 is removing old files; retry
            }
        }
        if (!fs::exists(answer, unknown)) return false;
        const std::string text = base::read_whole(answer);
        if (!text.starts_with(token + " ")) return false;
        session_ = directory_ / text.substr(token.size() + 1);
        return true;
    };
    wait_for("rank 0", answered);
}

std::string FileTeam::process_name() const
{
    return "rank " + std::to_string(rank_);
}

std::string FileTeam::take(const fs::path& file) const
{
    wait_for(file.filename().string(), [&] { return fs::exists(file); });
    return base::read_whole(file);
}

std::vector<std::string> FileTeam::gather(const std::string& mine)
{
    const std::string what = "gather" + std::to_string(gathered_++);
    if (rank_ != 0) {
        base::write_whole(of_rank(session_, what, rank_), mine);
        return {};
    }
    std::vector<std::string> all{mine};
    for (int other = 1; other < size_; ++other) all.push_back(take(of_rank(session_, what, other)));
    return all;
}

std::string FileTeam::broadcast(const std::string& of_rank_0)
{
    const fs::path file = session_ / ("broadcast" + std::to_string(broadcast_++));
    if (rank_ != 0) return take(file);
    if (size_ > 1) base::write_whole(file, of_rank_0);
    return of_rank_0;
}

void FileTeam::barrier()
{
    gather("");
    broadcast("");
}

otf2::ClockOffset FileTeam::clock_offset(const std::string& clock_identity)
{
    const std::int64_t own_ns = base::realtime_offset_ns();
    const std::string identity_of_0 = broadcast(clock_identity);
    const std::int64_t offset_of_0 = std::stoll(broadcast(std::to_string(own_ns)));
    const bool same = identity_of_0 == clock_identity;
    return {.at_ns = base::now_ns(), .offset_ns = same ? 0 : own_ns - offset_of_0, .error_ns = 0};
}

void FileTeam::close()
{
    gather("");
    std::error_code ignored;
    if (rank_ == 0) base::remove_tree(directory_, ignored);
}

}  // namespace mark

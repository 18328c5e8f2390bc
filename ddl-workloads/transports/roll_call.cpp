// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/transports/roll_call.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/clock.hpp"

#include <cstdint>
#include <cstdio>
#include <vector>

#include <sys/random.h>

namespace ddl {

namespace fs = std::filesystem;

namespace {

std::string hexadecimal(std::uint64_t number)
{
    std::string text(16, '0');
    std::snprintf(text.data(), text.size() + 1, "%016llx", static_cast<unsigned long long>(number));
    return text;
}

std::string drawn_number()
{
    std::uint64_t number = 0;
    base::check_errno(::getrandom(&number, sizeof number, 0), "get a random number");
    return hexadecimal(number);
}

// Hashes the numbers of all ranks to one short name (FNV-1a: Fowler, Noll, Vo).
std::string name_of(const std::string& numbers)
{
    std::uint64_t hash = 14695981039346656037U;
    for (const char letter : numbers) hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
    return hexadecimal(hash);
}

// Returns "" if the file does not exist yet, or no longer exists.
std::string content(const fs::path& file)
try {
    return fs::exists(file) ? base::read_whole(file) : "";
} catch (const base::Error&) {
    return "";
}

fs::path of_rank(const fs::path& directory, const char* what, int rank)
{
    return directory / (what + std::string{"."} + std::to_string(rank));
}

}  // namespace

RollCall::RollCall(const fs::path& directory, int rank, int size, std::chrono::milliseconds patience)
    : directory_{directory}, rank_{rank}, number_{drawn_number()}
{
    constexpr std::int64_t pause_ns = 5'000'000;
    fs::create_directories(directory_);
    base::write_whole(of_rank(directory_, "number", rank_), number_);
    const std::int64_t deadline = base::now_ns() + std::chrono::nanoseconds{patience}.count();
    try {
        while (!(rank_ == 0 ? call(size) : answer())) {
            if (base::now_ns() > deadline) base::fail("not all ranks have arrived");
            base::sleep_until_ns(base::now_ns() + pause_ns);
        }
    } catch (...) {
        clear();
        throw;
    }
    if (rank_ == 0) remove_earlier_starts();
}

RollCall::~RollCall()
{
    clear();
}

void RollCall::clear() const
{
    std::error_code ignored;
    for (const char* what : {"number", "agreed"}) fs::remove(of_rank(directory_, what, rank_), ignored);
    if (rank_ == 0)
        for (const char* file : {"numbers", "begun"}) fs::remove(directory_ / file, ignored);
    fs::remove(directory_, ignored);  // succeeds for the last rank, when the directory is empty
}

bool RollCall::call(int size)
{
    std::string numbers;
    for (int rank = 0; rank < size; ++rank) {
        const std::string number = content(of_rank(directory_, "number", rank));
        if (number.empty()) return false;
        numbers += number + "\n";
    }
    if (numbers != written_) {
        base::write_whole(directory_ / "numbers", numbers);
        written_ = numbers;
    }
    name_ = name_of(numbers);
    for (int rank = 1; rank < size; ++rank)
        if (content(of_rank(directory_, "agreed", rank)) != name_) return false;
    base::write_whole(directory_ / "begun", name_);
    return true;
}

bool RollCall::answer()
{
    const std::string numbers = content(directory_ / "numbers");
    const std::size_t line = number_.size() + 1;
    if (numbers.size() < (static_cast<std::size_t>(rank_) + 1) * line ||
        numbers.compare(static_cast<std::size_t>(rank_) * line, number_.size(), number_) != 0)
        return false;
    name_ = name_of(numbers);
    if (name_ != written_) {
        base::write_whole(of_rank(directory_, "agreed", rank_), name_);
        written_ = name_;
    }
    return content(directory_ / "begun") == name_;
}

void RollCall::remove_earlier_starts() const
{
    std::error_code ignored;
    std::vector<fs::path> earlier;
    for (const auto& entry : fs::directory_iterator{directory_, ignored})
        if (entry.is_directory(ignored) && entry.path().filename() != name_) earlier.push_back(entry.path());
    for (const fs::path& start : earlier) base::remove_tree(start, ignored);
}

}  // namespace ddl

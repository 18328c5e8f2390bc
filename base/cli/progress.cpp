// SPDX-License-Identifier: Apache-2.0
#include "base/cli/progress.hpp"

#include "base/system/clock.hpp"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

namespace base {

namespace {

constexpr std::int64_t bar_period_ns = 100'000'000;
constexpr std::int64_t line_period_ns = 10'000'000'000;
constexpr int bar_width = 30;

}  // namespace

Progress::Progress(std::string what) : what_{std::move(what)}, terminal_{isatty(STDERR_FILENO) == 1}
{
    next_ns_ = now_ns() + (terminal_ ? bar_period_ns : line_period_ns);
}

Progress::~Progress()
{
    if (open_line_) std::fputc('\n', stderr);
}

bool Progress::due() const
{
    return now_ns() >= next_ns_;
}

void Progress::show(double fraction, const std::string& detail)
{
    if (!due()) return;
    fraction = std::clamp(fraction, 0.0, 1.0);
    if (terminal_) {
        const int filled = static_cast<int>(fraction * bar_width);
        const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                                std::string(static_cast<std::size_t>(bar_width - filled), '.');
        std::fprintf(stderr, "\r%s [%s] %3.0f%% %s\033[K", what_.c_str(), bar.c_str(), fraction * 100.0,
                     detail.c_str());
        open_line_ = true;
        next_ns_ = now_ns() + bar_period_ns;
    } else {
        std::fprintf(stderr, "%s: %.0f%% %s\n", what_.c_str(), fraction * 100.0, detail.c_str());
        next_ns_ = now_ns() + line_period_ns;
    }
}

}  // namespace base

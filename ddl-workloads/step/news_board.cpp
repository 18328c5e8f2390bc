// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/step/news_board.hpp"

#include <span>

namespace ddl {

void NewsBoard::wait_less(std::int64_t lag)
{
    lag_ = lag;
    waits_less_ = true;
}

void NewsBoard::exchange()
{
    received_.clear();
    if (size_ == 0) return;
    if (under_way_ == lag_) settle();
    send();
    ++under_way_;
}

bool NewsBoard::settle()
{
    received_.clear();
    if (under_way_ == 0) return false;
    --under_way_;
    receive();
    return true;
}

void NewsBoard::send()
{
    if (!waits_less_) {
        sent_ = mine_;
        all_.resize(size_ * static_cast<std::size_t>(exchanges_.size()));
        pending_ = exchanges_.all_gather(sent_, all_);
        return;
    }
    pending_ = exchanges_.post([this, report = mine_](Transport& transport) {
        for (int to = 0; to < transport.size(); ++to) transport.mailbox().send(to, Mailbox::tag_of_news, report);
    });
}

void NewsBoard::receive()
{
    if (pending_.valid()) pending_.get();
    if (!waits_less_) {
        received_ = all_;
        return;
    }
    received_.resize(size_ * static_cast<std::size_t>(exchanges_.size()));
    const auto reports = [this](Transport& transport) {
        Arrivals& arrivals = exchanges_.arrivals();
        int due = transport.size();
        for (int from = 0; from < transport.size(); ++from)
            arrivals.expect(transport.mailbox(), from, Mailbox::tag_of_news,
                            std::span{received_}.subspan(static_cast<std::size_t>(from) * size_, size_),
                            [&due] { --due; });
        arrivals.handle_until(transport.mailbox(), [&due] { return due == 0; });
    };
    exchanges_.post(reports).get();
}

}  // namespace ddl

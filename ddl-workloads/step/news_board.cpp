// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/step/news_board.hpp"

namespace ddl {

void NewsBoard::exchange()
{
    settle();
    if (size_ == 0) return;
    sent_ = mine_;
    all_.resize(size_ * static_cast<std::size_t>(exchanges_.size()));
    pending_ = exchanges_.all_gather(sent_, all_);
}

void NewsBoard::settle()
{
    received_.clear();
    if (!pending_.valid()) return;
    pending_.get();
    received_ = all_;
}

}  // namespace ddl

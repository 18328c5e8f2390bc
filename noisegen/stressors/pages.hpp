// SPDX-License-Identifier: Apache-2.0
// Anonymous memory, in huge pages if the kernel has them, or in small pages.
#pragma once

#include "base/system/stop.hpp"

#include <algorithm>
#include <cstddef>

namespace noisegen {

enum class PageSize { huge, small };

class Pages {
 public:
    // Rounds the size up to 2 MiB. Memory is placed where it is first touched. Small pages are touched here, in an
    // order that leaves few of them next to each other in physical memory. Throws std::system_error.
    explicit Pages(std::size_t bytes, PageSize size = PageSize::huge);
    ~Pages();
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    void* data() const { return data_; }
    std::size_t size() const { return size_; }

    // Touches the memory from the calling thread: fills the first `bytes` with copies of the value. Stops early if the
    // program is asked to stop.
    template <class T>
    void fill(T value, std::size_t bytes)
    {
        T* const items = static_cast<T*>(data_);
        const std::size_t count = std::min(bytes, size_) / sizeof(T);
        constexpr std::size_t portion = (std::size_t{32} << 20U) / sizeof(T);
        for (std::size_t at = 0; at < count && !base::stop_requested(); at += portion)
            std::fill(items + at, items + std::min(at + portion, count), value);
    }
    template <class T>
    void fill(T value)
    {
        fill(value, size_);
    }

 private:
    void* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace noisegen

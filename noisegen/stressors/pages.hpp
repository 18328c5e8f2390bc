// SPDX-License-Identifier: Apache-2.0
// Anonymous memory of one's own, in huge pages where the kernel has them, or in small ones.
#pragma once

#include "base/system/stop.hpp"

#include <algorithm>
#include <cstddef>

namespace noisegen {

enum class PageSize { huge, small };

class Pages {
 public:
    // Rounded up to 2 MiB. Memory is placed where it is first touched; in small pages it is touched here, so that few
    // of them lie beside the one before. Throws std::system_error.
    explicit Pages(std::size_t bytes, PageSize size = PageSize::huge);
    ~Pages();
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    void* data() const { return data_; }
    std::size_t size() const { return size_; }

    // First touch by the calling thread: the first `bytes` become copies of the value. Ends early if the program is
    // asked to stop.
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

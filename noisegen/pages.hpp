// Anonymous memory of one's own, in huge pages where the kernel has them.
#pragma once

#include <cstddef>

namespace noisegen {

class Pages {
 public:
    // Rounded up to 2 MiB. Memory is placed where it is first touched. Throws std::system_error.
    explicit Pages(std::size_t bytes);
    ~Pages();
    Pages(const Pages&) = delete;
    Pages& operator=(const Pages&) = delete;

    void* data() const { return data_; }
    std::size_t size() const { return size_; }

 private:
    void* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace noisegen

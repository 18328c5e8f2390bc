#include "noisegen/stressors/pages.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <system_error>

#include <sys/mman.h>

namespace noisegen {

namespace {
constexpr std::size_t huge_page = std::size_t{2} << 20U;
}

Pages::Pages(std::size_t bytes) : size_{(bytes + huge_page - 1) / huge_page * huge_page}
{
    data_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED)
        throw std::system_error{errno, std::generic_category(), base::join("cannot get ", size_, " bytes of memory")};
    ::madvise(data_, size_, MADV_HUGEPAGE);  // a cpu_request: with small pages it works, and ends more slowly
}

Pages::~Pages()
{
    ::munmap(data_, size_);
}

}  // namespace noisegen

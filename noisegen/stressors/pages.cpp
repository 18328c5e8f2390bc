// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/pages.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <system_error>

#include <sys/mman.h>

namespace noisegen {

namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20U;
constexpr std::size_t small_page = 4096;

// The kernel gives adjacent physical pages to memory that is touched in order.
void touch_in_disorder(char* memory, std::size_t size)
{
    constexpr std::size_t stride = 257;  // has no common divisor with a power of two
    const std::size_t together = huge_page / small_page;
    for (std::size_t at = 0; at < size; at += huge_page)
        for (std::size_t i = 0; i < together; ++i) memory[at + i * stride % together * small_page] = 1;
}

}  // namespace

Pages::Pages(std::size_t bytes, PageSize size) : size_{(bytes + huge_page - 1) / huge_page * huge_page}
{
    data_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data_ == MAP_FAILED)
        throw std::system_error{errno, std::generic_category(),
                                base::join("cannot allocate ", size_, " bytes of memory")};
    // The kernel may ignore the advice: small pages work too, but are slower.
    ::madvise(data_, size_, size == PageSize::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    if (size == PageSize::small) touch_in_disorder(static_cast<char*>(data_), size_);
}

Pages::~Pages()
{
    ::munmap(data_, size_);
}

}  // namespace noisegen

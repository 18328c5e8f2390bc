// SPDX-License-Identifier: Apache-2.0
// A C++ interface of HDF5: one thread at a time, handles close themselves, and a failing call throws.
#pragma once

#include "base/error.hpp"

#include <mutex>
#include <string>
#include <utility>

#include <hdf5.h>

namespace soft_errors::hdf5 {

// Debian's HDF5 is not thread-safe: callers hold this lock, also while they close handles. While it is held, HDF5
// prints no messages to stderr.
class Lock {
 public:
    Lock() : lock_{mutex()} { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

 private:
    static std::recursive_mutex& mutex()
    {
        static std::recursive_mutex one;
        return one;
    }
    std::lock_guard<std::recursive_mutex> lock_;
};

template <herr_t (*Close)(hid_t)>
class Handle {
 public:
    Handle() = default;
    explicit Handle(hid_t id) : id_{id} {}
    ~Handle()
    {
        if (valid()) Close(id_);
    }
    Handle(Handle&& other) noexcept : id_{std::exchange(other.id_, H5I_INVALID_HID)} {}
    Handle& operator=(Handle&& other) noexcept
    {
        std::swap(id_, other.id_);
        return *this;
    }

    hid_t get() const { return id_; }
    bool valid() const { return id_ >= 0; }

 private:
    hid_t id_ = H5I_INVALID_HID;
};

using File = Handle<H5Fclose>;
using Group = Handle<H5Gclose>;
using Object = Handle<H5Oclose>;
using DataSet = Handle<H5Dclose>;
using Space = Handle<H5Sclose>;
using Type = Handle<H5Tclose>;
using Attribute = Handle<H5Aclose>;
using Properties = Handle<H5Pclose>;

// HDF5's message about its most recent failure.
inline std::string why()
{
    std::string text;
    const auto keep = [](unsigned, const H5E_error2_t* error, void* into) -> herr_t {
        if (error->desc != nullptr) *static_cast<std::string*>(into) = error->desc;
        return 0;
    };
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep, &text);  // the last message kept is the innermost
    return text.empty() ? "no reason given" : text;
}

template <class Code, class... Parts>
Code check(Code code, const Parts&... parts)
{
    if (code < 0) base::fail("HDF5 cannot ", parts..., " (", why(), ")");
    return code;
}

}  // namespace soft_errors::hdf5

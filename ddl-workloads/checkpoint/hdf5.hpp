// HDF5 as the house calls C libraries: handles close themselves, a failing call throws.
#pragma once

#include "base/error.hpp"

#include <utility>

#include <hdf5.h>

namespace ddl::hdf5 {

template <herr_t (*Close)(hid_t)>
class Handle {
 public:
    explicit Handle(hid_t id) : id_{id} {}
    ~Handle()
    {
        if (id_ >= 0) Close(id_);
    }
    Handle(Handle&& other) noexcept : id_{std::exchange(other.id_, H5I_INVALID_HID)} {}
    Handle& operator=(Handle&&) = delete;
    Handle(const Handle&) = delete;

    hid_t get() const { return id_; }

 private:
    hid_t id_;
};

using File = Handle<H5Fclose>;
using Object = Handle<H5Oclose>;
using DataSet = Handle<H5Dclose>;
using Space = Handle<H5Sclose>;
using Type = Handle<H5Tclose>;
using Attribute = Handle<H5Aclose>;
using Properties = Handle<H5Pclose>;

template <class Code, class... Parts>
Code check(Code code, const Parts&... parts)
{
    if (code < 0) base::fail("HDF5 cannot ", parts...);
    return code;
}

}  // namespace ddl::hdf5

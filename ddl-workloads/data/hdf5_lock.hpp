// Debian's HDF5 is not thread-safe: whoever calls it holds this lock. Its messages are kept off stderr meanwhile.
#pragma once

#include <mutex>

#include <hdf5.h>

namespace ddl {

class Hdf5Lock {
 public:
    Hdf5Lock() : lock_{mutex()} { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

 private:
    static std::recursive_mutex& mutex()
    {
        static std::recursive_mutex one;
        return one;
    }
    std::lock_guard<std::recursive_mutex> lock_;
};

}  // namespace ddl

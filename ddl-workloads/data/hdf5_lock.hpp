// Debian's HDF5 is not thread-safe: whoever calls it holds this lock. Its messages are kept off stderr meanwhile.
#pragma once

#include <mutex>

#include <hdf5.h>

namespace ddl {

class Hdf5Lock {
 public:
    Hdf5Lock() : lock_{mutex()} { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

 private:
    static std::mutex& mutex()
    {
        static std::mutex one;
        return one;
    }
    std::lock_guard<std::mutex> lock_;
};

}  // namespace ddl

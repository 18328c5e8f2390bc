// SPDX-License-Identifier: Apache-2.0

#include "trace-tools/otf2/handles.hpp"

#include <mutex>

// An opaque type to OTF2.
struct OTF2_LockObject {
    std::mutex mutex;
};

namespace otf2 {

namespace {

OTF2_CallbackCode create(void*, OTF2_Lock* lock)
{
    *lock = new (std::nothrow) OTF2_LockObject;
    return *lock != nullptr ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_ERROR;
}

OTF2_CallbackCode destroy(void*, OTF2_Lock lock)
{
    delete lock;
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode take(void*, OTF2_Lock lock)
{
    lock->mutex.lock();
    return OTF2_CALLBACK_SUCCESS;
}

OTF2_CallbackCode release(void*, OTF2_Lock lock)
{
    lock->mutex.unlock();
    return OTF2_CALLBACK_SUCCESS;
}

}  // namespace

// OTF2 keeps the address of the callbacks.
void lock_with_mutexes(OTF2_Archive* archive)
{
    static const OTF2_LockingCallbacks callbacks{.otf2_release = nullptr,
                                                 .otf2_create = create,
                                                 .otf2_destroy = destroy,
                                                 .otf2_lock = take,
                                                 .otf2_unlock = release};
    check(OTF2_Archive_SetLockingCallbacks(archive, &callbacks, nullptr), "use an archive from several threads");
}

}  // namespace otf2

// SPDX-License-Identifier: Apache-2.0
// OTF2's handles as owning types, error checks for its calls, and suppression of its own error messages. Includes
// OTF2's headers: for .cpp files of trace-tools, not for its public headers.
#pragma once

#include "base/error.hpp"

#include <otf2/otf2.h>

#include <memory>
#include <utility>

namespace otf2 {

// Ignores errors of close(). Where they matter, the handle is closed explicitly.
template <auto close>
struct Closer {
    template <class Object>
    void operator()(Object* object) const noexcept
    {
        close(object);
    }
};
template <class Object, auto close>
using Handle = std::unique_ptr<Object, Closer<close>>;

using ReaderHandle = Handle<OTF2_Reader, OTF2_Reader_Close>;
using ArchiveHandle = Handle<OTF2_Archive, OTF2_Archive_Close>;
using AttributeListHandle = Handle<OTF2_AttributeList, OTF2_AttributeList_Delete>;
using IdMapHandle = Handle<OTF2_IdMap, OTF2_IdMap_Free>;

// Call before any other OTF2 function, which would print its errors to stderr. Cheap after the first call.
void keep_otf2_quiet();

// Text for the code of a failed call, such as "File exists".
const char* describe(OTF2_ErrorCode code);

// check(OTF2_Reader_SelectLocation(reader, id), "select ", name) throws base::Error "cannot select main: why".
template <class... Parts>
void check(OTF2_ErrorCode code, const Parts&... parts)
{
    if (code != OTF2_SUCCESS) base::fail("cannot ", parts..., ": ", describe(code));
}

// For calls that return an object or null; OTF2 reports the reason to its error handler only.
OTF2_ErrorCode last_error();
template <class Object, class... Parts>
Object* check(Object* object, const Parts&... parts)
{
    if (object == nullptr) base::fail("cannot ", parts..., ": ", describe(last_error()));
    return object;
}

// For calls that do not return write errors; OTF2 reports these to its error handler only.
template <class Work, class... Parts>
void check_written(const Work& work, const Parts&... parts)
{
    last_error();  // clears an earlier error
    work();
    check(last_error(), parts...);
}

// For callbacks of OTF2: calls work(state of the reader). Exceptions must not pass through OTF2's C code; the only
// expected one is std::bad_alloc.
template <class State, class Work>
OTF2_CallbackCode with_state(void* user, const Work& work)
{
    try {
        work(*static_cast<State*>(user));
        return OTF2_CALLBACK_SUCCESS;
    } catch (...) {
        return OTF2_CALLBACK_ERROR;
    }
}

// Lets several threads use one archive: their writers share its files and memory.
void lock_with_mutexes(OTF2_Archive* archive);

}  // namespace otf2

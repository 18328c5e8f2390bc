// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/handles.hpp"

#include <cstdarg>
#include <mutex>

namespace otf2 {

namespace {

thread_local OTF2_ErrorCode last_code = OTF2_SUCCESS;

// After a full disk OTF2 reports follow-up errors, so the first one is kept.
bool is_the_disk(OTF2_ErrorCode code)
{
    return code == OTF2_ERROR_ENOSPC || code == OTF2_ERROR_EDQUOT || code == OTF2_ERROR_EFBIG || code == OTF2_ERROR_EIO;
}

OTF2_ErrorCode remember(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char*, std::va_list)
{
    if (!is_the_disk(last_code)) last_code = code;
    return code;
}

}  // namespace

void keep_otf2_quiet()
{
    static std::once_flag once;
    std::call_once(once, [] { OTF2_Error_RegisterCallback(remember, nullptr); });
}

const char* describe(OTF2_ErrorCode code)
{
    if (is_the_disk(last_code)) code = last_code;
    const char* text = code == OTF2_SUCCESS ? nullptr : OTF2_Error_GetDescription(code);
    return text != nullptr ? text : "OTF2 gives no reason";
}

OTF2_ErrorCode last_error()
{
    return std::exchange(last_code, OTF2_SUCCESS);
}

}  // namespace otf2

#include "trace-tools/otf2/handles.hpp"

#include <cstdarg>
#include <mutex>

namespace otf2 {

namespace {

thread_local OTF2_ErrorCode last_code = OTF2_SUCCESS;

OTF2_ErrorCode remember(void*, const char*, std::uint64_t, const char*, OTF2_ErrorCode code, const char*, std::va_list)
{
    last_code = code;
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
    const char* text = code == OTF2_SUCCESS ? nullptr : OTF2_Error_GetDescription(code);
    return text != nullptr ? text : "OTF2 does not tell why";
}

OTF2_ErrorCode last_error()
{
    return std::exchange(last_code, OTF2_SUCCESS);
}

}  // namespace otf2

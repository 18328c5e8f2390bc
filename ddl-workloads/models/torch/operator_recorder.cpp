// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/torch/operator_recorder.hpp"

#include <ATen/record_function.h>

#include <cstring>
#include <memory>

namespace ddl {

namespace {

// LibTorch's observer callbacks are plain functions without state, hence these globals.
Details* observed = nullptr;
bool top_level_only = false;

// True for the region that autograd puts around each node of backward, in addition to the node's own region.
bool wraps_a_node(const char* name)
{
    constexpr const char* prefix = "autograd::engine::evaluate_function: ";
    return std::strncmp(name, prefix, std::strlen(prefix)) == 0;
}

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function)
{
    if (function.isAsync()) return nullptr;  // an asynchronous call may end on another thread
    const char* const name = function.name();
    if (function.scope() == at::RecordScope::USER_SCOPE) {
        observed->enter(Details::Kind::module, name);
    } else if (wraps_a_node(name)) {
        observed->enter_unseen();
    } else {
        observed->enter(Details::Kind::operation, name, function.seqNr());
        // Operators inside this one are not reported: LibTorch's report of each takes longer than our recording.
        if (top_level_only) at::enableRecordFunction(false);
    }
    return nullptr;
}

void end(const at::RecordFunction& function, at::ObserverContext*)
{
    if (function.isAsync()) return;
    if (top_level_only) at::enableRecordFunction(true);
    observed->leave();
}

at::RecordFunctionCallback observer(DetailLevel level)
{
    at::RecordFunctionCallback callback{begin, end};
    if (level == DetailLevel::L1)
        callback.scopes({at::RecordScope::USER_SCOPE});
    else
        callback.scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE});
    return callback;
}

}  // namespace

OperatorRecorder::OperatorRecorder(Details& details)
    : details_{details}, observer_{at::addGlobalCallback(observer(details.level()))}
{
    observed = &details;
    top_level_only = details.level() == DetailLevel::L2;
    at::disableCallback(observer_);
    details_.tell([this](bool on) { on ? at::reenableCallback(observer_) : at::disableCallback(observer_); });
}

OperatorRecorder::~OperatorRecorder()
{
    details_.tell({});
    at::removeCallback(observer_);
    observed = nullptr;
}

}  // namespace ddl

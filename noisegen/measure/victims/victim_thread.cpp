// SPDX-License-Identifier: Apache-2.0
#include "noisegen/measure/victims/victim_thread.hpp"

#include "base/system/cpus.hpp"

#include <csignal>
#include <utility>

namespace noisegen {

VictimThread::VictimThread(int cpu, Work work)
{
    std::future<void> made = made_.get_future();
    thread_ = std::thread{[this, cpu, work = std::move(work)] { run(cpu, work); }};
    try {
        made.get();
    } catch (...) {
        thread_.join();
        throw;
    }
}

VictimThread::~VictimThread()
{
    end();
}

void VictimThread::start()
{
    started_ = true;
    go_.set_value();
}

void VictimThread::stop()
{
    end();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void VictimThread::wait_for_start()
{
    std::future<void> go = go_.get_future();
    waited_ = true;
    made_.set_value();
    go.get();
}

void VictimThread::end()
{
    over_ = true;
    if (!started_) start();
    if (thread_.joinable()) thread_.join();
}

void VictimThread::run(int cpu, const Work& work)
{
    sigset_t signals;  // blocked here, so that they go to the main thread
    sigfillset(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    try {
        base::bind_this_thread({cpu});
        work(*this);
    } catch (...) {
        if (waited_)
            error_ = std::current_exception();
        else
            made_.set_exception(std::current_exception());
    }
}

}  // namespace noisegen

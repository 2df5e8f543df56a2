// When a searching thread should look up from its work: about every 20 ms, without asking the
// system's clock too often. Owner: the thread.
#pragma once

#include <chrono>
#include <cstdint>

namespace zermelo {

class PollClock {
 public:
  // `slow`: a network's batch takes longer than a look at the clock; a native evaluator's does not.
  bool due(bool slow, std::int64_t simulations) {
    if (!slow && ++ticks_ % 16 != 0 && simulations - polled_at_ < 4096) return false;
    polled_at_ = simulations;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_poll_ < std::chrono::milliseconds(20)) return false;
    last_poll_ = now;
    return true;
  }

 private:
  std::uint64_t ticks_ = 0;
  std::int64_t polled_at_ = 0;
  std::chrono::steady_clock::time_point last_poll_ = std::chrono::steady_clock::now();
};

}  // namespace zermelo

// P2: what one player's values say about giving up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace zermelo {

// One player of one game. Values are for that player.
class ResignWatch {
 public:
  // A move of its own: the larger of the root's and the best action's value. `plies` is the length
  // of the look back.
  void add(double value, std::int64_t plies) {
    last_.push_back(value);
    const auto length = static_cast<std::size_t>(plies);
    if (last_.size() > length) last_.erase(last_.begin());
    if (last_.size() < length) return;
    sustained_ = *std::max_element(last_.begin(), last_.end());
    lowest_ = std::min(lowest_, sustained_);
  }
  // Nothing in the look back was as good as this; 2 before there are enough moves.
  double sustained() const { return sustained_; }
  // The smallest of all those.
  double lowest() const { return lowest_; }
  bool known() const { return lowest_ <= 1.0; }

  // False for numbers that no values can have given.
  bool possible() const {
    const auto is_value = [](double value) { return value >= -2.0 && value <= 2.0; };
    return is_value(sustained_) && is_value(lowest_) && std::ranges::all_of(last_, is_value);
  }

  // For saving a game.
  template <class Archive>
  void transfer(Archive& archive) {
    archive.vector(last_);
    archive.number(sustained_);
    archive.number(lowest_);
  }

 private:
  std::vector<double> last_;
  double sustained_ = 2.0;
  double lowest_ = 2.0;
};

}  // namespace zermelo

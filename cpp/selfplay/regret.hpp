// P8: positions in which self-play was most wrong, from which games may begin again.
//
// Regret is the mean squared difference between the values of the searches from a position on and
// the result of the game: 0 to 4.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/types.hpp"

namespace zermelo {

struct RegretPosition {
  std::vector<Action> moves;  // from the start of the game; never none
  double regret = 0;
};

struct RegretRules {
  std::size_t capacity = 0;
  double temperature = 1;  // tau
  double rate = 0.5;       // of the newest regret in the moving average
};

inline constexpr double kMostRegret = 4.0;

// What one game's searches said, for the player who began, and the regret that follows.
struct Judgements {
  std::vector<std::uint32_t> plies;  // ascending
  std::vector<float> values;

  void clear() {
    plies.clear();
    values.clear();
  }
  void add(std::size_t ply, double value) {
    plies.push_back(static_cast<std::uint32_t>(ply));
    values.push_back(static_cast<float>(std::clamp(value, -1.0, 1.0)));
  }
  template <class Archive>
  void transfer(Archive& archive) {
    archive.vector(plies);
    archive.vector(values);
  }
  // Whether a game of so many plies can have had them.
  bool possible(std::size_t most_plies) const {
    if (plies.size() != values.size()) return false;
    for (std::size_t i = 0; i < plies.size(); ++i) {
      if (plies[i] > most_plies || (i > 0 && plies[i] <= plies[i - 1])) return false;
      if (!(std::abs(values[i]) <= 1.0f)) return false;
    }
    return true;
  }
  // By search: the regret of its position, if the game ended with `result` for who began.
  std::vector<double> regrets(double result) const {
    std::vector<double> found(values.size());
    double sum = 0;
    for (std::size_t i = values.size(); i-- > 0;) {
      const double error = static_cast<double>(values[i]) - result;
      sum += error * error;
      found[i] = sum / static_cast<double>(values.size() - i);
    }
    return found;
  }
};

class RegretBuffer {
 public:
  const std::vector<RegretPosition>& positions() const { return positions_; }

  // Keeps the position if it is among the `capacity` of most regret. One that is there already is
  // played again.
  void add(std::span<const Action> moves, double regret, const RegretRules& rules) {
    if (moves.empty() || again(moves, regret, rules)) return;
    while (positions_.size() > rules.capacity) positions_.erase(least());
    if (positions_.size() < rules.capacity) {
      positions_.push_back({{moves.begin(), moves.end()}, regret});
    } else if (const auto out = least(); out != positions_.end() && out->regret < regret) {
      *out = {{moves.begin(), moves.end()}, regret};
    }
  }

  // A game from this position showed this regret: its moving average. False if it is not there.
  bool again(std::span<const Action> moves, double regret, const RegretRules& rules) {
    for (RegretPosition& position : positions_) {
      if (!std::equal(moves.begin(), moves.end(), position.moves.begin(), position.moves.end()))
        continue;
      position.regret += rules.rate * (regret - position.regret);
      return true;
    }
    return false;
  }

  // The moves to a position, in proportion to regret^(1 / tau); none if nobody regrets anything.
  std::optional<std::vector<Action>> draw(const RegretRules& rules, Random& random) const {
    double total = 0;
    for (const RegretPosition& position : positions_) total += weight(position, rules);
    if (!(total > 0)) return std::nullopt;
    double left = random.uniform() * total;
    const RegretPosition* chosen = nullptr;
    for (const RegretPosition& position : positions_) {
      const double own = weight(position, rules);
      if (own <= 0) continue;
      chosen = &position;
      left -= own;
      if (left < 0) break;
    }
    return chosen->moves;
  }

  template <class Archive>
  void transfer(Archive& archive) {
    std::uint64_t count = positions_.size();
    archive.number(count);
    if (positions_.size() != count) positions_.clear();
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i == positions_.size()) positions_.emplace_back();
      archive.vector(positions_[i].moves);
      archive.number(positions_[i].regret);
    }
  }

 private:
  // Relative to the most possible, so that small temperatures do not overflow.
  static double weight(const RegretPosition& position, const RegretRules& rules) {
    return std::pow(position.regret / kMostRegret, 1.0 / rules.temperature);
  }
  std::vector<RegretPosition>::iterator least() {
    return std::min_element(positions_.begin(), positions_.end(),
                            [](const auto& a, const auto& b) { return a.regret < b.regret; });
  }

  std::vector<RegretPosition> positions_;
};

}  // namespace zermelo

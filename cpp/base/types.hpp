// The words that every game and the search share: action, player, outcome, action list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace zermelo {

// An index into a game's fixed action space, 0 <= action < num_actions().
using Action = std::uint16_t;
inline constexpr int kMaxActions = 65535;

enum class Player : std::uint8_t { kFirst, kSecond };

constexpr Player other(Player player) {
  return player == Player::kFirst ? Player::kSecond : Player::kFirst;
}

enum class Outcome : std::uint8_t { kOngoing, kFirstWins, kDraw, kSecondWins };

constexpr Outcome win_for(Player player) {
  return player == Player::kFirst ? Outcome::kFirstWins : Outcome::kSecondWins;
}

// A result for `player`, +1, 0 or -1, as an outcome.
constexpr Outcome outcome_for(Player player, int result) {
  if (result == 0) return Outcome::kDraw;
  return win_for(result > 0 ? player : other(player));
}

// +1, 0 or -1 for `player`. The outcome must not be kOngoing.
constexpr int outcome_value(Outcome outcome, Player player) {
  if (outcome == Outcome::kDraw) return 0;
  return outcome == win_for(player) ? 1 : -1;
}

// A growable list of actions with room for most positions inside it. It is made once per thread and
// cleared, so that the hot loop does not allocate.
class ActionList {
 public:
  ActionList() = default;
  ActionList(const ActionList&) = delete;
  ActionList& operator=(const ActionList&) = delete;

  void clear() { size_ = 0; }
  void push(Action action) {
    if (size_ == capacity_) [[unlikely]]
      grow();
    data_[size_++] = action;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Action operator[](std::size_t i) const { return data_[i]; }
  const Action* begin() const { return data_; }
  const Action* end() const { return data_ + size_; }
  std::span<const Action> span() const { return {data_, size_}; }
  bool contains(Action action) const {
    for (const Action a : *this) {
      if (a == action) return true;
    }
    return false;
  }

 private:
  static constexpr std::size_t kInline = 256;

  [[gnu::noinline]] void grow() {
    auto larger = std::make_unique<Action[]>(capacity_ * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = data_[i];
    heap_ = std::move(larger);
    data_ = heap_.get();
    capacity_ *= 2;
  }

  Action inline_[kInline];
  std::unique_ptr<Action[]> heap_;
  Action* data_ = inline_;
  std::size_t size_ = 0;
  std::size_t capacity_ = kInline;
};

}  // namespace zermelo

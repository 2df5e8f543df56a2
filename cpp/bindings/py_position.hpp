// A position of a game in Python with what was asked of it once, and the positions after it.
//
// A search walks down from its root again for every simulation; what is known here needs no call.
// Knows no game: who asks fills it in.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/types.hpp"

namespace zermelo::bindings {

namespace nb = nanobind;

// Positions that are linked to those before them, of all searches of a game. More would cost more
// memory than the calls are worth: then play() is called again.
inline constexpr std::int64_t kMostLinked = 400'000;

// Thread rule: any thread. Facts are written by whoever holds the interpreter's lock, and are there
// once their bit of `known_` is.
class PyPosition {
 public:
  using Pointer = std::shared_ptr<PyPosition>;
  using Count = std::shared_ptr<std::atomic<std::int64_t>>;

  explicit PyPosition(nb::object object, Count linked)
      : object_(object.release().ptr()), linked_(std::move(linked)) {}
  ~PyPosition() {
    linked_->fetch_sub(static_cast<std::int64_t>(after_.size()), std::memory_order_relaxed);
    after_.clear();
    // After the interpreter has ended there is nothing to give back to.
    if (!nb::is_alive()) return;
    nb::gil_scoped_acquire lock;
    Py_DECREF(object_);
  }
  PyPosition(const PyPosition&) = delete;
  PyPosition& operator=(const PyPosition&) = delete;

  nb::handle object() const { return object_; }
  // Never that of another position, unlike an address.
  std::uint64_t id() const { return id_; }

  // The mover, if known; with `make` it is found out first.
  template <class Make>
  Player player(Make&& make) {
    return fact(kPlayer, player_, make);
  }
  template <class Make>
  std::uint64_t hash(Make&& make) {
    return fact(kHash, hash_, make);
  }

  // The position after an action; null if it is not known.
  Pointer after(Action action) {
    const Guard guard(busy_);
    for (const auto& [played, position] : after_) {
      if (played == action) return position;
    }
    return nullptr;
  }
  // Remembers it, while there is room.
  void link(Action action, const Pointer& position) {
    if (linked_->load(std::memory_order_relaxed) >= kMostLinked) return;
    const Guard guard(busy_);
    for (const auto& [played, known] : after_) {
      if (played == action) return;  // by another thread, meanwhile
    }
    after_.emplace_back(action, position);
    linked_->fetch_add(1, std::memory_order_relaxed);
  }

 private:
  static constexpr std::uint8_t kPlayer = 1;
  static constexpr std::uint8_t kHash = 2;

  // Held for a look only, never during a call.
  class Guard {
   public:
    explicit Guard(std::atomic_flag& busy) : busy_(busy) {
      while (busy_.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Guard() { busy_.clear(std::memory_order_release); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    std::atomic_flag& busy_;
  };

  template <class T, class Make>
  T fact(std::uint8_t bit, T& place, Make&& make) {
    if (known_.load(std::memory_order_acquire) & bit) return place;
    nb::gil_scoped_acquire lock;
    const T found = make();
    if (!(known_.load(std::memory_order_acquire) & bit)) {
      place = found;
      known_.fetch_or(bit, std::memory_order_release);
    }
    return found;
  }

  static std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  PyObject* const object_;
  const std::uint64_t id_ = next_id();
  const Count linked_;
  std::atomic<std::uint8_t> known_{0};
  Player player_{};
  std::uint64_t hash_ = 0;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::vector<std::pair<Action, Pointer>> after_;  // guarded by busy_
};

}  // namespace zermelo::bindings

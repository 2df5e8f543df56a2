// The symmetries of a game in Python as tables of cells and actions, so that no search calls back.
//
// A game declares them as `symmetries`, whose tables are taken as they are, or by four methods,
// which are asked once for every cell and action. Positions are not transformed: what a network
// sees of a mirror image is what it sees of the position, cell by cell in other places.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "games/observation.hpp"
#include "games/text.hpp"

namespace zermelo::bindings {

namespace nb = nanobind;

struct PyImage {
  std::vector<int> cells;    // where each cell goes
  std::vector<int> actions;  // where each action goes; -1: its method refused it, so ask again
};

// Thread rule: any thread; what is asked of Python takes the interpreter's lock.
class PySymmetries {
 public:
  static constexpr int kMost = 255;

  // Caller: holds the interpreter's lock. `game` outlives this.
  PySymmetries(nb::handle game, const std::string& name, int num_actions, int num_cells)
      : game_(game), name_(name), num_actions_(num_actions), num_cells_(num_cells) {
    if (nb::hasattr(game, "symmetries")) {
      read_tables(game.attr("symmetries"));
    } else {
      methods_ = nb::hasattr(game, "num_symmetries");
      // Without cells (a game that is only searched) there are no images to compare.
      images_ = methods_ && nb::hasattr(game, "transform_cell");
    }
  }

  // Whether the game has them as tables.
  bool declared() const { return declared_ > 0; }
  // Whether images of observations can be made.
  bool images() const { return images_; }
  int count(nb::handle state) const {
    if (declared_ > 0) return declared_;
    if (!methods_) return 1;
    nb::gil_scoped_acquire lock;
    const int count = nb::cast<int>(game_.attr("num_symmetries")(state));
    if (count < 1 || count > kMost) {
      fail("game '", name_, "': num_symmetries is ", count, ", not from 1 to ", kMost);
    }
    return count;
  }

  Action action(Action action, int symmetry) const {
    const int known = image(symmetry).actions[action];
    return static_cast<Action>(known >= 0 ? known : ask_action(action, symmetry));
  }
  int cell(int cell, int symmetry) const {
    return image(symmetry).cells[static_cast<std::size_t>(cell)];
  }
  // Tables of a symmetry, made on its first use.
  const PyImage& image(int symmetry) const {
    const auto index = static_cast<std::size_t>(symmetry);
    if (const PyImage* made = made_[index].load(std::memory_order_acquire)) return *made;
    nb::gil_scoped_acquire lock;
    auto tables = std::make_unique<PyImage>(ask(symmetry));
    const PyImage* none = nullptr;
    if (made_[index].compare_exchange_strong(none, tables.get())) tables.release();
    return *made_[index].load(std::memory_order_acquire);
  }
  ~PySymmetries() {
    for (auto& made : made_) delete made.load();
  }
  PySymmetries(const PySymmetries&) = delete;
  PySymmetries& operator=(const PySymmetries&) = delete;

 private:
  void read_tables(nb::handle given) {
    if (!nb::hasattr(given, "cells") || !nb::hasattr(given, "actions")) {
      fail("game '", name_, "': symmetries is no result of board_symmetries()");
    }
    nb::object cells = given.attr("cells");
    nb::object actions = given.attr("actions");
    const std::size_t count = nb::len(cells);
    if (count < 1 || count > kMost || nb::len(actions) != count) {
      fail("game '", name_, "': symmetries has ", count, " tables of cells and ", nb::len(actions),
           " of actions");
    }
    for (std::size_t k = 0; k < count; ++k) {
      auto tables = std::make_unique<PyImage>();
      tables->cells = permutation(cells[k], num_cells_, "cells");
      tables->actions = permutation(actions[k], num_actions_, "actions");
      made_[k] = tables.release();
    }
    declared_ = static_cast<int>(count);
    images_ = true;
  }

  std::vector<int> permutation(nb::handle given, int size, const char* what) const {
    std::vector<int> map;
    std::vector<bool> used(static_cast<std::size_t>(size));
    for (nb::handle each : given) {
      map.push_back(nb::cast<int>(each));
      const auto index = static_cast<std::size_t>(map.back());
      if (map.back() < 0 || map.back() >= size || used[index]) {
        fail("game '", name_, "': its symmetries do not map ", size, " ", what, " to ", what);
      }
      used[index] = true;
    }
    if (map.size() != used.size()) {
      fail("game '", name_, "': its symmetries are of ", map.size(), " ", what, ", not of ", size);
    }
    return map;
  }

  PyImage ask(int symmetry) const {
    PyImage made;
    for (int cell = 0; images_ && cell < num_cells_; ++cell) {
      const int to =
          symmetry == 0 ? cell : nb::cast<int>(game_.attr("transform_cell")(cell, symmetry));
      if (to < 0 || to >= num_cells_) {
        fail("game '", name_, "': transform_cell(", cell, ", ", symmetry, ") is ", to);
      }
      made.cells.push_back(to);
    }
    for (int action = 0; action < num_actions_; ++action) {
      try {
        made.actions.push_back(symmetry == 0 ? action : ask_action(action, symmetry));
      } catch (const nb::python_error&) {  // perhaps never legal
        made.actions.push_back(-1);
      }
    }
    return made;
  }
  int ask_action(int action, int symmetry) const {
    nb::gil_scoped_acquire lock;
    const int to = nb::cast<int>(game_.attr("transform_action")(action, symmetry));
    if (to < 0 || to >= num_actions_) {
      fail("game '", name_, "': transform_action(", action, ", ", symmetry, ") is ", to);
    }
    return to;
  }

  const nb::handle game_;
  const std::string name_;
  const int num_actions_;
  const int num_cells_;
  int declared_ = 0;
  bool methods_ = false;
  bool images_ = false;
  mutable std::atomic<const PyImage*> made_[kMost] = {};
};

// A hash of planes under each symmetry, where cells and planes count but not the order of looking:
// one pass over the cells that are not 0. A plane of one number is the same in every image.
class PlaneHash {
 public:
  void resize(int planes, int cells) {
    cells_ = static_cast<std::size_t>(cells);
    Random random(0x5EED);
    keys_.resize(static_cast<std::size_t>(planes) * cells_);
    for (auto& key : keys_) key = random.next();
  }
  // `sums` receives the hash under each of `maps`.
  void of(const float* planes, std::span<const int* const> maps,
          std::span<std::uint64_t> sums) const {
    std::uint64_t same = 0;
    std::fill(sums.begin(), sums.end(), 0);
    for (std::size_t plane = 0; plane < keys_.size(); plane += cells_) {
      const float* values = planes + plane;
      if (std::all_of(values, values + cells_, [&](float v) { return v == values[0]; })) {
        same += mix64(keys_[plane] ^ bits_of(values[0]));
        continue;
      }
      for (std::size_t cell = 0; cell < cells_; ++cell) {
        if (values[cell] == 0.0f) continue;
        const std::uint64_t bits = values[cell] == 1.0f ? 0 : bits_of(values[cell]);
        for (std::size_t k = 0; k < maps.size(); ++k) {
          const std::uint64_t key = keys_[plane + static_cast<std::size_t>(maps[k][cell])];
          sums[k] += bits == 0 ? key : mix64(key ^ bits);
        }
      }
    }
    for (auto& sum : sums) sum = mix64(sum + same);
  }

 private:
  static std::uint64_t bits_of(float value) {
    std::uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  std::size_t cells_ = 0;
  std::vector<std::uint64_t> keys_;
};

}  // namespace zermelo::bindings

// A game written in Python, seen as a native Game: the same search and perft run on it.
//
// Every call takes the interpreter's lock for itself, so a search can run without holding it.
// States are Python objects counted by a shared_ptr, which may be copied without the lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "games/game.hpp"
#include "games/text.hpp"

namespace zermelo::bindings {

namespace nb = nanobind;

class PyGame {
 public:
  struct State {
    std::shared_ptr<PyObject> object;
    int ply = 0;
    friend bool operator==(const State& a, const State& b) {
      if (a.object == b.object) return true;
      nb::gil_scoped_acquire lock;
      return nb::handle(a.object.get()).equal(nb::handle(b.object.get()));
    }
  };

  // Keeps `game`; throws Refused when its attributes are not those of a game.
  explicit PyGame(nb::object game) {
    name_ = nb::cast<std::string>(game.attr("name"));
    num_actions_ = nb::cast<int>(game.attr("num_actions"));
    if (num_actions_ < 1 || num_actions_ > kMaxActions) {
      fail("game '", name_, "': num_actions is ", num_actions_, ", not from 1 to ", kMaxActions);
    }
    std::vector<int> shape;
    for (nb::handle extent : nb::tuple(game.attr("observation_shape"))) {
      shape.push_back(nb::cast<int>(extent));
      if (shape.back() < 1) fail("game '", name_, "': observation_shape has an extent below 1");
    }
    if (shape.empty() || shape.size() > 3) {
      fail("game '", name_, "': observation_shape has ", shape.size(), " extents, not 1 to 3");
    }
    while (shape.size() < 3) shape.insert(shape.begin() + (shape.size() == 1), 1);
    layout_.dense_planes = shape[0];
    layout_.rows = shape[1];
    layout_.columns = shape[2];
    state_hash_ = hold(nb::module_::import_("zermelo.games.protocol").attr("state_hash"));
    text_ = nb::hasattr(game, "action_text");
    repetition_ = nb::hasattr(game, "repeated_within");
    symmetries_ = nb::hasattr(game, "num_symmetries");
    game_ = hold(std::move(game));
  }

  nb::handle object() const { return game_.get(); }

  std::string name() const { return name_; }
  int num_actions() const { return num_actions_; }
  const ObservationLayout& layout() const { return layout_; }

  State initial() const {
    nb::gil_scoped_acquire lock;
    return {hold(call("initial")), 0};
  }
  State adopt(nb::object state, int ply) const { return {hold(std::move(state)), ply}; }

  Outcome expand(const State& s, ActionList& actions) const {
    nb::gil_scoped_acquire lock;
    const Outcome result = outcome(s);
    if (result != Outcome::kOngoing) return result;
    actions.clear();
    for (nb::handle action : call("legal_actions", get(s))) {
      const int index = nb::cast<int>(action);
      if (index < 0 || index >= num_actions_) {
        fail("game '", name_, "': legal action ", index, " is not from 0 to ", num_actions_ - 1);
      }
      actions.push(static_cast<Action>(index));
    }
    if (actions.empty())
      fail("game '", name_, "': a position that is not over has no legal action");
    return result;
  }
  Outcome outcome(const State& s) const {
    nb::gil_scoped_acquire lock;
    nb::object result = call("outcome", get(s));
    return result.is_none() ? Outcome::kOngoing : nb::cast<Outcome>(result);
  }
  void play(State& s, Action action) const {
    nb::gil_scoped_acquire lock;
    s = {hold(call("play", get(s), static_cast<int>(action))), s.ply + 1};
  }
  Player player(const State& s) const {
    nb::gil_scoped_acquire lock;
    const int player = nb::cast<int>(call("player", get(s)));
    if (player != 0 && player != 1) fail("game '", name_, "': player is ", player, ", not 0 or 1");
    return static_cast<Player>(player);
  }
  int ply(const State& s) const { return s.ply; }
  std::uint64_t hash(const State& s) const {
    nb::gil_scoped_acquire lock;
    return nb::cast<std::uint64_t>(nb::handle(state_hash_.get())(nb::handle(game_.get()), get(s)));
  }
  void observe(const State& s, std::uint64_t* words) const {
    nb::gil_scoped_acquire lock;
    using Array = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;
    nb::object numpy = nb::module_::import_("numpy");
    nb::object planes =
        numpy.attr("ascontiguousarray")(call("observe", get(s)), numpy.attr("float32"));
    const auto array = nb::cast<Array>(planes);
    if (array.size() != static_cast<std::size_t>(layout_.floats())) {
      fail("game '", name_, "': observe() has ", array.size(), " numbers, not ", layout_.floats());
    }
    std::memcpy(words, array.data(), sizeof(float) * array.size());
  }
  bool repeated_within(const State& s, int plies) const {
    if (!repetition_) return false;
    nb::gil_scoped_acquire lock;
    return nb::cast<bool>(call("repeated_within", get(s), plies));
  }

  int num_symmetries(const State& s) const {
    if (!symmetries_) return 1;
    nb::gil_scoped_acquire lock;
    return nb::cast<int>(call("num_symmetries", get(s)));
  }
  State transform(const State& s, int symmetry) const {
    if (symmetry == 0) return s;
    nb::gil_scoped_acquire lock;
    return {hold(call("transform", get(s), symmetry)), s.ply};
  }
  Action transform_action(Action action, int symmetry) const {
    if (symmetry == 0) return action;
    nb::gil_scoped_acquire lock;
    return nb::cast<Action>(call("transform_action", static_cast<int>(action), symmetry));
  }
  int transform_cell(int cell, int symmetry) const {
    if (symmetry == 0) return cell;
    nb::gil_scoped_acquire lock;
    return nb::cast<int>(call("transform_cell", cell, symmetry));
  }

  std::string action_text(const State& s, Action action) const {
    if (!text_) return std::to_string(action);
    nb::gil_scoped_acquire lock;
    return nb::cast<std::string>(call("action_text", get(s), static_cast<int>(action)));
  }
  Action parse_action(const State& s, std::string_view text) const {
    ActionList actions;
    if (expand(s, actions) == Outcome::kOngoing) {
      for (const Action action : actions) {
        if (action_text(s, action) == text) return action;
      }
    }
    fail("'", text, "' is no legal action here");
  }
  std::string position_text(const State& s) const {
    nb::gil_scoped_acquire lock;
    return nb::cast<std::string>(nb::str(get(s)));
  }
  State parse_position(std::string_view text) const {
    nb::gil_scoped_acquire lock;
    if (!nb::hasattr(object(), "parse_position")) {
      fail("game '", name_, "' has no parse_position, so '", text, "' cannot be read");
    }
    return {hold(call("parse_position", nb::str(text.data(), text.size()))), 0};
  }
  std::string cells(const State& s) const { return position_text(s); }

 private:
  static nb::handle get(const State& s) { return s.object.get(); }

  template <class... Args>
  nb::object call(const char* method, Args&&... args) const {
    return nb::handle(game_.get()).attr(method)(std::forward<Args>(args)...);
  }

  static std::shared_ptr<PyObject> hold(nb::object object) {
    return {object.release().ptr(), [](PyObject* p) {
              // After the interpreter has ended there is nothing to give back to.
              if (!nb::is_alive()) return;
              nb::gil_scoped_acquire lock;
              Py_DECREF(p);
            }};
  }

  std::string name_;
  int num_actions_ = 0;
  bool text_ = false;
  bool repetition_ = false;
  bool symmetries_ = false;
  ObservationLayout layout_;
  std::shared_ptr<PyObject> game_;
  std::shared_ptr<PyObject> state_hash_;
};

static_assert(Game<PyGame>);

}  // namespace zermelo::bindings

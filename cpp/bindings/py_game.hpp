// A game written in Python, seen as a native Game: the same search and perft run on it.
//
// Every call takes the interpreter's lock for itself, so a search can run without holding it.
// States share positions (py_position.hpp), which may be copied without the lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/py_position.hpp"
#include "bindings/py_symmetries.hpp"
#include "bindings/value_hash.hpp"
#include "games/game.hpp"
#include "games/text.hpp"

namespace zermelo::bindings {

namespace nb = nanobind;

class PyGame {
 public:
  struct State {
    std::shared_ptr<PyPosition> position;
    int ply = 0;
    bool linked = true;  // positions after it are remembered
    friend bool operator==(const State& a, const State& b) {
      if (a.position == b.position) return true;
      if (!a.position || !b.position) return false;
      nb::gil_scoped_acquire lock;
      return a.position->object().equal(b.position->object());
    }
  };

  // Keeps `game`; throws Refused when its attributes are not those of a game.
  explicit PyGame(nb::object game) : rules_(new Rules, give_back) {
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
    Rules& rules = *rules_;
    rules.legal_actions = game.attr("legal_actions");
    rules.outcome = game.attr("outcome");
    rules.play = game.attr("play");
    rules.player = game.attr("player");
    rules.observe = game.attr("observe");
    if (nb::hasattr(game, "hash")) rules.hash = game.attr("hash");
    nb::object numpy = nb::module_::import_("numpy");
    rules.contiguous = numpy.attr("ascontiguousarray");
    rules.float32 = numpy.attr("float32");
    rules.value_hash.emplace();
    rules.symmetries.emplace(game, name_, num_actions_, layout_.cells());
    plane_hash_.resize(layout_.dense_planes, layout_.cells());
    text_ = nb::hasattr(game, "action_text");
    repetition_ = nb::hasattr(game, "repeated_within");
    rules.game = std::move(game);
  }

  nb::handle object() const { return rules_->game; }

  std::string name() const { return name_; }
  int num_actions() const { return num_actions_; }
  const ObservationLayout& layout() const { return layout_; }

  State initial() const {
    nb::gil_scoped_acquire lock;
    return adopt(call("initial"), 0);
  }
  State adopt(nb::object state, int ply) const {
    return {std::make_shared<PyPosition>(std::move(state), linked_), ply};
  }
  // The same state, whose games leave nothing behind: for random games, which nobody repeats.
  State passing(State s) const {
    s.linked = false;
    return s;
  }

  Outcome expand(const State& s, ActionList& actions) const {
    nb::gil_scoped_acquire lock;
    const Outcome result = outcome(s);
    if (result != Outcome::kOngoing) return result;
    actions.clear();
    nb::object found = rules_->legal_actions(get(s));
    if (PyList_CheckExact(found.ptr())) {
      const Py_ssize_t count = PyList_Size(found.ptr());
      for (Py_ssize_t i = 0; i < count; ++i) push(actions, PyList_GetItem(found.ptr(), i));
    } else {
      for (nb::handle action : found) push(actions, action);
    }
    if (actions.empty())
      fail("game '", name_, "': a position that is not over has no legal action");
    return result;
  }
  Outcome outcome(const State& s) const {
    nb::gil_scoped_acquire lock;
    nb::object result = rules_->outcome(get(s));
    if (result.is_none()) return Outcome::kOngoing;
    // A number would pass for one, and mean something else.
    if (!nb::isinstance<Outcome>(result)) refuse_answer("outcome", result, "an Outcome or None");
    return nb::cast<Outcome>(result);
  }
  void play(State& s, Action action) const {
    std::shared_ptr<PyPosition> after = s.linked ? s.position->after(action) : nullptr;
    if (!after) {
      nb::gil_scoped_acquire lock;
      after = adopt(rules_->play(get(s), static_cast<int>(action)), 0).position;
      if (s.linked) s.position->link(action, after);
    }
    s.position = std::move(after);
    ++s.ply;
  }
  Player player(const State& s) const {
    return s.position->player([&] {
      nb::object found = rules_->player(get(s));
      int player = -1;
      if (!nb::try_cast(found, player) || (player != 0 && player != 1)) {
        refuse_answer("player", found, "0 or 1");
      }
      return static_cast<Player>(player);
    });
  }
  int ply(const State& s) const { return s.ply; }
  // The game's own, else that of the state's value, else that of what a network sees.
  std::uint64_t hash(const State& s) const {
    return s.position->hash([&] {
      if (rules_->hash.is_valid()) {
        nb::object found = rules_->hash(get(s));
        std::uint64_t hash = 0;
        if (!nb::try_cast(found, hash)) refuse_answer("hash", found, "a number from 0 to 2^64 - 1");
        return hash;
      }
      if (const auto value = (*rules_->value_hash)(get(s))) return *value;
      const auto& planes = planes_of(s);
      std::string bytes(reinterpret_cast<const char*>(planes.data()),
                        sizeof(float) * planes.size());
      bytes.push_back(static_cast<char>(player(s)));
      return bytes_hash(bytes.data(), bytes.size());
    });
  }
  void observe(const State& s, std::uint64_t* words) const {
    const auto& planes = planes_of(s);
    std::memcpy(words, planes.data(), sizeof(float) * planes.size());
  }
  bool repeated_within(const State& s, int plies) const {
    if (!repetition_) return false;
    nb::gil_scoped_acquire lock;
    return nb::cast<bool>(call("repeated_within", get(s), plies));
  }

  int num_symmetries(const State& s) const { return rules_->symmetries->count(get(s)); }
  State transform(const State& s, int symmetry) const {
    if (symmetry == 0) return s;
    if (rules_->symmetries->declared()) {
      fail("game '", name_, "' has tables of symmetries, which transform no states");
    }
    nb::gil_scoped_acquire lock;
    return adopt(call("transform", get(s), symmetry), s.ply);
  }
  Action transform_action(Action action, int symmetry) const {
    return symmetry == 0 ? action : rules_->symmetries->action(action, symmetry);
  }
  int transform_cell(int cell, int symmetry) const {
    return symmetry == 0 ? cell : rules_->symmetries->cell(cell, symmetry);
  }

  // What a network sees of the position's image.
  void observe_image(const State& s, int symmetry, std::uint64_t* words) const {
    if (symmetry != 0 && !rules_->symmetries->images()) {
      return observe(transform(s, symmetry), words);
    }
    if (symmetry == 0) return observe(s, words);
    std::vector<std::uint64_t> own(static_cast<std::size_t>(layout_.words()));
    observe(s, own.data());
    permute_observation(layout_, own.data(), rules_->symmetries->image(symmetry).cells, words);
  }
  // For a network's answers, which depend on what it sees and on the legal actions: the same key
  // for all images. Nothing where the game has no symmetries. `symmetry` leads to the image that
  // the key is made of.
  std::optional<std::uint64_t> image_key(const State& s, std::span<const Action> actions,
                                         int& symmetry) const {
    const PySymmetries& symmetries = *rules_->symmetries;
    const int count = symmetries.images() ? symmetries.count(get(s)) : 1;
    if (count == 1) return std::nullopt;
    const auto& planes = planes_of(s);
    std::array<const int*, PySymmetries::kMost> maps;
    std::array<std::uint64_t, PySymmetries::kMost> hashes;
    for (int k = 0; k < count; ++k) maps[k] = symmetries.image(k).cells.data();
    const auto many = static_cast<std::size_t>(count);
    plane_hash_.of(planes.data(), {maps.data(), many}, {hashes.data(), many});
    symmetry =
        static_cast<int>(std::min_element(hashes.begin(), hashes.begin() + count) - hashes.begin());
    const std::uint64_t least = hashes[symmetry];
    std::uint64_t legal = 0;
    for (const Action action : actions) {
      legal += mix64(transform_action(action, symmetry) + 0x9E3779B97F4A7C15ull);
    }
    return mix64(least ^ mix64(legal));
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
    return adopt(call("parse_position", nb::str(text.data(), text.size())), 0);
  }
  std::string cells(const State& s) const { return position_text(s); }

 private:
  // The game's methods, looked up once.
  struct Rules {
    nb::object game, legal_actions, outcome, play, player, observe, hash, contiguous, float32;
    std::optional<ValueHash> value_hash;
    std::optional<PySymmetries> symmetries;
  };
  // What was observed last by a thread: a position's key and its batch both ask.
  struct Seen {
    std::uint64_t position = 0;
    std::vector<float> planes;
  };

  // After the interpreter has ended there is nothing to give back to.
  static void give_back(Rules* rules) {
    if (!nb::is_alive()) return;
    nb::gil_scoped_acquire lock;
    delete rules;
  }

  [[noreturn]] void refuse_answer(const char* method, nb::handle found, const char* wanted) const {
    nb::object shown = nb::repr(found);
    const bool longer = nb::len(shown) > kMostShown;
    if (longer) shown = shown[nb::slice(nb::int_(0), nb::int_(kMostShown), nb::int_(1))];
    const std::string text = nb::cast<std::string>(shown) + (longer ? "..." : "");
    fail("game '", name_, "': ", method, "() returned ", text, ", not ", wanted);
  }
  static constexpr std::size_t kMostShown = 60;

  static nb::handle get(const State& s) { return s.position->object(); }

  template <class... Args>
  nb::object call(const char* method, Args&&... args) const {
    return rules_->game.attr(method)(std::forward<Args>(args)...);
  }

  void push(ActionList& actions, nb::handle action) const {
    int index = 0;
    if (!nb::try_cast(action, index)) refuse_answer("legal_actions", action, "numbers of actions");
    if (index < 0 || index >= num_actions_) {
      fail("game '", name_, "': legal action ", index, " is not from 0 to ", num_actions_ - 1);
    }
    actions.push(static_cast<Action>(index));
  }

  const std::vector<float>& planes_of(const State& s) const {
    thread_local Seen seen;
    if (seen.position == s.position->id()) return seen.planes;
    seen.position = 0;
    nb::gil_scoped_acquire lock;
    using Array = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;
    nb::object planes = rules_->observe(get(s));
    Array array;
    if (!nb::try_cast<Array>(planes, array, false)) {
      planes = rules_->contiguous(planes, rules_->float32);
      array = nb::cast<Array>(planes);
    }
    if (array.size() != static_cast<std::size_t>(layout_.floats())) {
      fail("game '", name_, "': observe() has ", array.size(), " numbers, not ", layout_.floats());
    }
    seen.planes.assign(array.data(), array.data() + array.size());
    seen.position = s.position->id();
    return seen.planes;
  }

  std::string name_;
  int num_actions_ = 0;
  bool text_ = false;
  bool repetition_ = false;
  ObservationLayout layout_;
  PlaneHash plane_hash_;
  std::shared_ptr<Rules> rules_;
  PyPosition::Count linked_ = std::make_shared<std::atomic<std::int64_t>>(0);
};

static_assert(Game<PyGame>);

}  // namespace zermelo::bindings

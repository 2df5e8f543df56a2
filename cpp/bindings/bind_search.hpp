// Shows Search<G> to Python. `zermelo.search.Search` is the class that users see; it picks the
// native class by the game.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/bind_game.hpp"
#include "bindings/evaluators.hpp"
#include "search/search.hpp"

namespace zermelo::bindings {

// Native states are unwrapped; a Python game's states are any object (see py_game.cpp).
template <Game G>
struct StateCaster {
  static typename G::State get(const BoundGame<G>& game, nb::handle state) {
    const auto& bound = nb::cast<const BoundState<G>&>(state);
    check_same_game(game, bound);
    return bound.value;
  }
};

template <Game G>
struct BoundSearch {
  BoundGame<G> game;
  Search<G> search;
  std::atomic<bool> busy{false};
  bool polled = false;  // a search waits in its poll; guarded by the interpreter's lock
};

// Held while a call uses the tree: a second one, from another thread or from a progress callback,
// is refused. Only stop() may be called at any time.
template <class Bound>
class Busy {
 public:
  explicit Busy(Bound& bound) : flag_(bound.busy) {
    if (flag_.exchange(true)) {
      throw std::runtime_error(
          "the search is already running; only stop() may be called meanwhile");
    }
  }
  ~Busy() { flag_ = false; }

 private:
  std::atomic<bool>& flag_;
};

// Lets Ctrl-C and a progress callback in; called without the interpreter's lock.
template <Game G>
std::function<void()> make_poll(BoundSearch<G>& self, const nb::object& progress) {
  return [&self, &progress] {
    nb::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    if (progress.is_none()) return;
    self.polled = true;
    try {
      progress(*self.search.result());
    } catch (...) {
      self.polled = false;
      throw;
    }
    self.polled = false;
  };
}

template <Game G>
void bind_search(nb::module_& m, const char* name) {
  using Self = BoundSearch<G>;
  const std::string class_name = std::string(name) + "Search";
  nb::class_<Self>(m, class_name.c_str())
      .def(
          "run",
          [](Self& self, nb::handle state, std::int64_t simulations, double seconds, bool full,
             const std::vector<int>& allowed, nb::object progress) {
            const auto position = StateCaster<G>::get(self.game, state);
            std::vector<Action> actions;
            for (const int action : allowed) {
              check_legal(*self.game.rules, position, action);
              actions.push_back(static_cast<Action>(action));
            }
            const auto poll = make_poll(self, progress);
            const Busy<Self> busy(self);
            nb::gil_scoped_release unlocked;
            return self.search.run(position, {simulations, seconds}, full, actions, poll);
          },
          nb::arg("state"), nb::arg("simulations"), nb::arg("seconds"), nb::arg("full"),
          nb::arg("allowed"), nb::arg("progress").none())
      .def(
          "run_many",
          [](Self& self, const std::vector<nb::object>& states, std::int64_t simulations,
             double seconds, bool full) {
            std::vector<typename G::State> positions;
            for (const auto& state : states)
              positions.push_back(StateCaster<G>::get(self.game, state));
            const nb::object none = nb::none();
            const auto poll = make_poll(self, none);
            const Busy<Self> busy(self);
            nb::gil_scoped_release unlocked;
            return self.search.run_many(positions, {simulations, seconds}, full, poll);
          },
          nb::arg("states"), nb::arg("simulations"), nb::arg("seconds"), nb::arg("full"))
      .def("result",
           [](Self& self) {
             const Busy<Self> busy(self);
             return self.search.result();
           })
      .def(
          "advance",
          [](Self& self, int action) {
            const Busy<Self> busy(self);
            nb::gil_scoped_release unlocked;
            return self.search.advance(static_cast<Action>(action));
          },
          nb::arg("action"), "The action must be legal where the tree stands.")
      .def("clear",
           [](Self& self) {
             const Busy<Self> busy(self);
             self.search.clear();
           })
      .def_prop_ro("busy", [](const Self& self) { return self.busy.load(); })
      .def("stop", [](Self& self) { self.search.stop(); })
      .def("set_evaluator",
           [](Self& self, nb::object evaluator) {
             const Busy<Self> busy(self);
             self.search.set_evaluator(make_evaluator<G>(*self.game.rules, evaluator));
           })
      .def("check_invariants",
           [](Self& self) {
             const Busy<Self> busy(self);
             self.search.check_invariants();
           })
      .def_prop_ro("nodes_in_use", [](const Self& self) { return self.search.nodes_in_use(); })
      .def_prop_ro("bytes_in_use", [](const Self& self) { return self.search.bytes_in_use(); })
      .def_prop_ro("bytes_reserved", [](const Self& self) { return self.search.bytes_reserved(); })
      .def(
          "look",
          [](Self& self, const std::vector<int>& path) -> nb::object {
            // The interpreter's lock is held throughout, so a search in its poll stays there.
            if (self.busy && !self.polled) {
              throw std::runtime_error("the search is running: look from its progress only");
            }
            std::vector<Action> actions(path.begin(), path.end());
            const auto place = self.search.look(actions);
            if (!place) return nb::none();
            nb::list rows;
            for (const ExportedChild& c : place->children) {
              rows.append(
                  nb::make_tuple(c.action, c.visits, c.q, c.u, c.prior, certain_tuple(c.certain)));
            }
            return nb::make_tuple(place->visits, place->chosen, rows);
          },
          nb::arg("path"),
          "A node's visits, the chosen row, and its actions; None beyond the tree.")
      .def("export_tree", [](Self& self, int max_depth, std::uint32_t min_visits) {
        const Busy<Self> busy(self);
        nb::list rows;
        for (const ExportedNode& n : self.search.export_tree(max_depth, min_visits)) {
          rows.append(nb::make_tuple(n.id, n.parent, n.action, n.depth, n.visits, n.q, n.prior,
                                     certain_tuple(n.certain)));
        }
        return rows;
      });
  m.def(
      "make_search",
      [](const BoundGame<G>& game, nb::object evaluator, const SearchOptions& options,
         std::shared_ptr<EvaluationCache> cache) {
        return new Self{game,
                        Search<G>(*game.rules, options, make_evaluator<G>(*game.rules, evaluator),
                                  std::move(cache))};
      },
      nb::arg("game"), nb::arg("evaluator"), nb::arg("options"), nb::arg("cache").none());
}

}  // namespace zermelo::bindings

// Shows Runner<G> to Python, and the decoding of its samples.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bindings/bind_search.hpp"
#include "selfplay/runner.hpp"

namespace zermelo::bindings {

template <Game G>
struct BoundRunner {
  BoundGame<G> game;
  Runner<G> runner;
  std::atomic<bool> busy{false};
};

inline nb::dict statistics_dict(const SelfPlayStatistics& s, std::size_t samples) {
  nb::dict out;
  out["games"] = s.games;
  out["moves"] = s.moves;
  out["samples"] = samples;
  out["simulations"] = s.search.simulations;
  out["evaluations"] = s.search.evaluations;
  out["batches"] = s.search.batches;
  out["cache_hits"] = s.search.cache_hits;
  out["saved_simulations"] = s.search.saved;
  out["full_searches"] = s.full_searches;
  out["fast_searches"] = s.fast_searches;
  out["first_wins"] = s.first_wins;
  out["draws"] = s.draws;
  out["second_wins"] = s.second_wins;
  out["resigned"] = s.resigned;
  out["adjudicated"] = s.adjudicated;
  out["proven_ends"] = s.proven_ends;
  out["plies"] = s.plies;
  out["unique_games"] = s.unique_games;
  out["restarts"] = s.restarts;
  out["regretted"] = s.regretted;
  out["regret"] = s.regret;
  out["seconds"] = s.seconds;
  nb::list audit;
  for (const AuditEntry& entry : s.audit) audit.append(nb::make_tuple(entry.lowest, entry.result));
  out["audit"] = audit;
  return out;
}

inline nb::dict played_dict(const PlayedSamples& played, std::size_t words) {
  nb::dict out;
  const auto add = [&](std::string_view name, const auto& column) {
    using T = typename std::decay_t<decltype(column)>::value_type;
    std::vector<std::size_t> shape = {column.size()};
    if (name == "observations") shape = {played.samples.size(), words};
    auto array = new_array<T>(std::move(shape));
    if (!column.empty()) std::memcpy(array.data(), column.data(), column.size() * sizeof(T));
    out[nb::str(name.data(), name.size())] = array.numpy().cast();
  };
  played.samples.each(add);
  played.games.each(add);
  out["statistics"] = statistics_dict(played.statistics, played.samples.size());
  return out;
}

// Columns from arrays by name, which have their types and are C-contiguous.
template <class Columns>
Columns columns_from(const nb::dict& arrays) {
  Columns made;
  made.fill_each([&](const char* name, auto& column) {
    using T = typename std::decay_t<decltype(column)>::value_type;
    const auto array =
        nb::cast<nb::ndarray<const T, nb::c_contig, nb::device::cpu>>(arrays[name], false);
    column.assign(array.data(), array.data() + array.size());
  });
  return made;
}

// The cells of a board under each of `count` symmetries.
template <Game G>
std::vector<std::vector<int>> cell_maps(const G& game, int count) {
  std::vector<std::vector<int>> maps;
  for (int symmetry = 0; symmetry < count; ++symmetry) {
    maps.emplace_back();
    for (int cell = 0; cell < game.layout().cells(); ++cell) {
      maps.back().push_back(symmetry == 0 ? cell : game.transform_cell(cell, symmetry));
    }
  }
  return maps;
}

using Words = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Rows = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The cell maps that `symmetries` ask for, after making sure that the arrays fit each other.
template <Game G>
std::vector<std::vector<int>> checked_maps(const G& game, const Words& observations,
                                           const Rows& rows, const Bytes& symmetries) {
  const int words = game.layout().words();
  if (observations.shape(1) != static_cast<std::size_t>(words) ||
      symmetries.shape(0) != rows.shape(0)) {
    misuse("samples of '", game.name(), "' have ", words, " words, which the arrays do not fit");
  }
  int count = 1;
  for (std::size_t i = 0; i < rows.shape(0); ++i) {
    count = std::max(count, symmetries.data()[i] + 1);
    const std::int64_t row = rows.data()[i];
    if (row < 0 || row >= static_cast<std::int64_t>(observations.shape(0))) {
      misuse("row ", row, " is not below ", observations.shape(0));
    }
  }
  return cell_maps(game, count);
}

template <Game G>
void bind_decoding(nb::module_& m) {
  using Planes = nb::ndarray<float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
  m.def(
      "decode_samples",
      [](const BoundGame<G>& game, Words observations, Rows rows, Bytes symmetries, Planes out) {
        const ObservationLayout& layout = game.rules->layout();
        const std::size_t batch = rows.shape(0);
        const auto words = static_cast<std::size_t>(layout.words());
        const auto floats = static_cast<std::size_t>(layout.floats());
        const auto maps = checked_maps(*game.rules, observations, rows, symmetries);
        if (out.size() != batch * floats) {
          misuse("samples of '", game.rules->name(), "' have ", floats,
                 " numbers, which the arrays do not fit");
        }
        nb::gil_scoped_release unlocked;
        for (std::size_t i = 0; i < batch; ++i) {
          const auto row = static_cast<std::size_t>(rows.data()[i]);
          decode_observation(layout, observations.data() + row * words, maps[symmetries.data()[i]],
                             out.data() + i * floats);
        }
      },
      nb::arg("game"), nb::arg("observations"), nb::arg("rows"), nb::arg("symmetries"),
      nb::arg("out"),
      "Expands rows of packed observations, each under its symmetry, into float32 planes.");
  m.def(
      "transform_samples",
      [](const BoundGame<G>& game, Words observations, Rows rows, Bytes symmetries) {
        const ObservationLayout& layout = game.rules->layout();
        const auto words = static_cast<std::size_t>(layout.words());
        const auto maps = checked_maps(*game.rules, observations, rows, symmetries);
        auto out = new_array<std::uint64_t>({rows.shape(0), words});
        nb::gil_scoped_release unlocked;
        for (std::size_t i = 0; i < rows.shape(0); ++i) {
          permute_observation(layout, observations.data() + rows.data()[i] * words,
                              maps[symmetries.data()[i]], out.data() + i * words);
        }
        nb::gil_scoped_acquire locked;
        return out.numpy();
      },
      nb::arg("game"), nb::arg("observations"), nb::arg("rows"), nb::arg("symmetries"),
      "Rows of packed observations, each under its symmetry, packed as they were.");
  m.def(
      "check_games",
      [](const BoundGame<G>& game, const nb::dict& samples, const nb::dict& games) {
        const auto rows = columns_from<SampleColumns>(samples);
        const auto records = columns_from<GameColumns>(games);
        FinishedGames<G>(*game.rules, rows, records).check();
      },
      nb::arg("game"), nb::arg("samples"), nb::arg("games"),
      "Plays recorded games through; refuses impossible ones, and samples that are not theirs. "
      "Samples stand by game, then by ply.");
  m.def(
      "action_maps",
      [](const BoundGame<G>& game, int count) {
        const auto actions = static_cast<std::size_t>(game.rules->num_actions());
        auto maps = new_array<std::uint16_t>({static_cast<std::size_t>(count), actions});
        for (int symmetry = 0; symmetry < count; ++symmetry) {
          for (std::size_t action = 0; action < actions; ++action) {
            maps.data()[static_cast<std::size_t>(symmetry) * actions + action] =
                symmetry == 0 ? static_cast<Action>(action)
                              : game.rules->transform_action(static_cast<Action>(action), symmetry);
          }
        }
        return maps.numpy();
      },
      nb::arg("game"), nb::arg("count"), "uint16 [count, actions]: every action by symmetry.");
}

template <Game G>
void bind_selfplay(nb::module_& m, const char* name) {
  using Self = BoundRunner<G>;
  using Guard = Busy<Self>;
  const std::string class_name = std::string(name) + "SelfPlay";
  nb::class_<Self>(m, class_name.c_str())
      .def(
          "play",
          [](Self& self, std::int64_t samples, double seconds, nb::object poll) {
            const auto call = [&poll] {
              nb::gil_scoped_acquire lock;
              if (PyErr_CheckSignals() != 0) throw nb::python_error();
              if (!poll.is_none()) poll();
            };
            const Guard busy(self);
            PlayedSamples played;
            {
              nb::gil_scoped_release unlocked;
              played = self.runner.play(samples, seconds, call);
            }
            return played_dict(played, static_cast<std::size_t>(self.game.rules->layout().words()));
          },
          nb::arg("samples"), nb::arg("seconds") = 0.0, nb::arg("poll") = nb::none(),
          "Plays until so many samples of finished games are there, or the seconds are over.")
      .def("stop", [](Self& self) { self.runner.stop(); })
      .def_prop_rw(
          "iteration", [](const Self& self) { return self.runner.iteration; },
          [](Self& self, std::uint32_t iteration) { self.runner.iteration = iteration; },
          "Recorded in every sample from now on.")
      .def_prop_ro("options", [](const Self& self) { return self.runner.options(); })
      .def("set_options",
           [](Self& self, const SelfPlayOptions& options) { self.runner.set_options(options); })
      .def("set_evaluator",
           [](Self& self, nb::object evaluator) {
             self.runner.set_evaluator(make_evaluator<G>(*self.game.rules, evaluator));
           })
      .def("drop_trees",
           [](Self& self) {
             const Guard busy(self);
             self.runner.drop_trees();
           })
      .def("save",
           [](Self& self) {
             const Guard busy(self);
             const std::string bytes = self.runner.save();
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("load",
           [](Self& self, nb::bytes bytes) {
             const Guard busy(self);
             self.runner.load({bytes.c_str(), bytes.size()});
           })
      .def_prop_ro(
          "regrets",
          [](const Self& self) {
            nb::list found;
            for (const RegretPosition& position : self.runner.regrets().positions()) {
              found.append(nb::make_tuple(
                  std::vector<int>(position.moves.begin(), position.moves.end()), position.regret));
            }
            return found;
          },
          "Positions that games may begin from: their moves and their regret.")
      .def_prop_ro(
          "moves", [](const Self& self) { return self.runner.moves(); },
          "Moves since `play` began, of unfinished games too; for its `poll`.")
      .def_prop_ro("nodes_in_use", [](const Self& self) { return self.runner.nodes_in_use(); })
      .def_prop_ro("bytes_reserved", [](const Self& self) { return self.runner.bytes_reserved(); });
  m.def(
      "make_selfplay",
      [](const BoundGame<G>& game, nb::object evaluator, const SearchOptions& search,
         const SelfPlayOptions& options, std::shared_ptr<EvaluationCache> cache) {
        return new Self{game, Runner<G>(*game.rules, make_evaluator<G>(*game.rules, evaluator),
                                        search, options, std::move(cache))};
      },
      nb::arg("game"), nb::arg("evaluator"), nb::arg("search"), nb::arg("options"),
      nb::arg("cache").none());
  bind_decoding<G>(m);
}

}  // namespace zermelo::bindings

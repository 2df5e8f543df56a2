// The types that do not depend on the game: options, evaluators, cache, result.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "base/random.hpp"
#include "bindings/arrays.hpp"
#include "bindings/bind_options.hpp"
#include "bindings/bindings.hpp"
#include "bindings/evaluators.hpp"
#include "search/cache.hpp"
#include "search/options.hpp"
#include "search/result.hpp"
#include "selfplay/options.hpp"
#include "selfplay/regret.hpp"

namespace zermelo::bindings {

namespace {

template <class T, class Read>
auto column(const SearchResult& r, Read read) {
  auto array = new_array<T>({r.actions.size()});
  for (std::size_t i = 0; i < r.actions.size(); ++i)
    array.data()[i] = static_cast<T>(read(r.actions[i]));
  return array.numpy();
}

void bind_result(nb::module_& m) {
  nb::class_<SearchResult>(m, "NativeResult")
      .def_prop_ro(
          "actions",
          [](const SearchResult& r) {
            return column<std::int64_t>(r, [](auto& a) { return a.action; });
          },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "visits",
          [](const SearchResult& r) {
            return column<std::int64_t>(r, [](auto& a) { return a.visits; });
          },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "q", [](const SearchResult& r) { return column<double>(r, [](auto& a) { return a.q; }); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "prior",
          [](const SearchResult& r) { return column<double>(r, [](auto& a) { return a.prior; }); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "network_prior",
          [](const SearchResult& r) {
            return column<double>(r, [](auto& a) { return a.network_prior; });
          },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "outcome",
          [](const SearchResult& r) {
            return column<double>(r, [](auto& a) { return a.outcome; });
          },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "draw",
          [](const SearchResult& r) { return column<double>(r, [](auto& a) { return a.draw; }); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "forced",
          [](const SearchResult& r) {
            return column<std::int64_t>(r, [](auto& a) { return a.forced; });
          },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "target",
          [](const SearchResult& r) {
            auto array = new_array<double>({r.target.size()});
            std::copy(r.target.begin(), r.target.end(), array.data());
            return array.numpy();
          },
          nb::rv_policy::automatic)
      .def_prop_ro("certain_actions",
                   [](const SearchResult& r) {
                     nb::list out;
                     for (const auto& a : r.actions) out.append(certain_tuple(a.certain));
                     return out;
                   })
      .def("pv",
           [](const SearchResult& r, std::size_t index) {
             return std::vector<int>(r.actions.at(index).pv.begin(), r.actions.at(index).pv.end());
           })
      .def_ro("best", &SearchResult::best)
      .def_ro("root_visits", &SearchResult::visits)
      .def_ro("value", &SearchResult::value)
      .def_prop_ro("certain", [](const SearchResult& r) { return certain_tuple(r.certain); })
      .def_prop_ro("stop",
                   [](const SearchResult& r) {
                     constexpr const char* kNames[] = {"", "stopped", "time", "max_nodes",
                                                       "settled"};
                     return std::string(kNames[static_cast<int>(r.stop)]);
                   })
      .def_prop_ro("counters",
                   [](const SearchResult& r) {
                     nb::dict out;
                     out["simulations"] = r.counters.simulations;
                     out["evaluations"] = r.counters.evaluations;
                     out["batches"] = r.counters.batches;
                     out["cache_hits"] = r.counters.cache_hits;
                     out["collisions"] = r.counters.collisions;
                     out["saved"] = r.counters.saved;
                     out["max_depth"] = r.counters.max_depth;
                     out["mean_depth"] = r.counters.simulations
                                             ? static_cast<double>(r.counters.depth_sum) /
                                                   static_cast<double>(r.counters.simulations)
                                             : 0.0;
                     return out;
                   })
      .def_ro("nodes", &SearchResult::nodes)
      .def_ro("bytes", &SearchResult::bytes)
      .def_ro("seconds", &SearchResult::seconds)
      .def_ro("full", &SearchResult::full);
}

// P8, for tests of its rules; self-play owns buffers of its own.
struct BoundRegrets {
  RegretRules rules;
  RegretBuffer buffer;
};

void bind_regret(nb::module_& m) {
  using Self = BoundRegrets;
  nb::class_<Self>(m, "RegretBuffer", "Positions by regret, from which games begin again.")
      .def(
          "__init__",
          [](Self* self, std::size_t capacity, double temperature, double rate) {
            new (self) Self{{capacity, temperature, rate}, {}};
          },
          nb::arg("capacity"), nb::arg("temperature"), nb::arg("rate"))
      .def("add", [](Self& self, const std::vector<Action>& moves,
                     double regret) { self.buffer.add(moves, regret, self.rules); })
      .def("again", [](Self& self, const std::vector<Action>& moves,
                       double regret) { return self.buffer.again(moves, regret, self.rules); })
      .def(
          "draw",
          [](const Self& self, Random& random) { return self.buffer.draw(self.rules, random); },
          nb::sig("def draw(self, random: Random) -> list[int] | None"))
      .def_prop_ro("positions", [](const Self& self) {
        nb::list found;
        for (const RegretPosition& p : self.buffer.positions()) {
          found.append(nb::make_tuple(p.moves, p.regret));
        }
        return found;
      });
}

}  // namespace

void bind_search_types(nb::module_& m) {
  bind_options<SearchOptions>(m, "SearchOptions",
                              "Everything that can be chosen about a search; see table().",
                              search_option_table());
  bind_options<SelfPlayOptions>(m, "SelfPlayOptions",
                                "Everything that can be chosen about self-play; see table().",
                                selfplay_option_table());
  bind_result(m);
  nb::class_<UniformSpec>(m, "UniformEvaluator", "Equal priors, value 0: the search on its own.")
      .def(nb::init<>());
  nb::class_<HashSpec>(m, "HashEvaluator",
                       "A hash as the network: the same in Python, bit for bit.")
      .def(nb::init<std::uint64_t>(), nb::arg("seed") = 0)
      .def_ro("seed", &HashSpec::seed);
  nb::class_<RolloutSpec>(m, "RolloutEvaluator",
                          "Equal priors; the value is the mean of random games.")
      .def(
          "__init__",
          [](RolloutSpec* self, int rollouts, int max_plies, std::uint64_t seed) {
            if (rollouts < 1 || max_plies < 1) fail("rollouts and max_plies must be at least 1");
            new (self) RolloutSpec{rollouts, max_plies, seed};
          },
          nb::arg("rollouts") = 1, nb::arg("max_plies") = 1000, nb::arg("seed") = 0);
  nb::class_<GatherSpec>(m, "GatheringEvaluator", nb::is_weak_referenceable(),
                         "Lets searches of one game in several threads share batches.")
      .def(
          "__init__",
          [](GatherSpec* self, nb::object inner, std::size_t batch) {
            if (batch < 1) fail("batch must be at least 1");
            new (self) GatherSpec{std::move(inner), batch};
          },
          nb::arg("evaluator"), nb::arg("batch"));
  nb::class_<EvaluationCache>(m, "EvaluationCache", nb::is_weak_referenceable(),
                              "Evaluations by position, bounded in memory.")
      .def(nb::init<std::size_t, std::size_t>(), nb::arg("mib"), nb::arg("actions"))
      .def("clear", &EvaluationCache::clear)
      .def_prop_ro("hits", &EvaluationCache::hits)
      .def_prop_ro("misses", &EvaluationCache::misses)
      .def_prop_ro("capacity", &EvaluationCache::capacity)
      .def_prop_ro("permille_full", &EvaluationCache::permille_full);
  nb::class_<Random>(m, "Random", "SplitMix64 and the distributions that the search draws from.")
      .def(nb::init<std::uint64_t>(), nb::arg("seed") = 0)
      .def("next", &Random::next)
      .def("uniform", &Random::uniform)
      .def("gamma", &Random::gamma, nb::arg("shape"))
      .def(
          "dirichlet",
          [](Random& self, double alpha, std::size_t size) {
            std::vector<double> out(size);
            self.dirichlet(alpha, out);
            return out;
          },
          nb::arg("alpha"), nb::arg("size"));
  bind_regret(m);
}

}  // namespace zermelo::bindings

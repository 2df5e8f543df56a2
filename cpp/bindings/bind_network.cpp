// The processor network: its features for the trainer, and itself for searches.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <numeric>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "search/sparse_evaluator.hpp"

namespace zermelo::bindings {

namespace {

using Packed = nb::ndarray<const std::uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
// What Python has of a network. Searching threads own networks too and free them without Python,
// maybe after it has ended, so it is no part of the Python object.
struct NetworkHandle {
  std::shared_ptr<const SparseNetwork> network;
};
// (rows, columns, binary planes, scales of the scalar planes, dense planes)
using Layout = std::tuple<int, int, int, std::vector<float>, int>;

template <class T>
std::vector<T> numbers(const nb::dict& arrays, const char* name) {
  if (!arrays.contains(name)) misuse("the array '", name, "' is missing");
  using Array = nb::ndarray<const T, nb::c_contig, nb::device::cpu>;
  Array array;
  if (!nb::try_cast(arrays[name], array, false)) {
    misuse("the array '", name, "' has another type than it must have, or is not contiguous");
  }
  return std::vector<T>(array.data(), array.data() + array.size());
}

void check_words(const FeatureSet& features, const Packed& packed) {
  const auto words = static_cast<std::size_t>(features.layout().words());
  if (packed.shape(1) != words) {
    misuse("packed observations have ", packed.shape(1), " words, not ", words);
  }
}

// Rows of the features of a batch, one position after the other, and where each position begins;
// then the same for rows with a factor.
nb::tuple read_batch(const FeatureSet& features, const Packed& packed) {
  check_words(features, packed);
  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> scaled;
  std::vector<float> factors;
  const std::size_t batch = packed.shape(0);
  auto offsets = new_array<std::int64_t>({batch});
  auto scaled_offsets = new_array<std::int64_t>({batch});
  {
    nb::gil_scoped_release unlocked;
    Features found;
    for (std::size_t i = 0; i < batch; ++i) {
      features.read(packed.data() + i * packed.shape(1), found);
      offsets.data()[i] = static_cast<std::int64_t>(rows.size());
      scaled_offsets.data()[i] = static_cast<std::int64_t>(scaled.size());
      rows.insert(rows.end(), found.rows.begin(), found.rows.end());
      for (const ScaledRow& row : found.scaled) {
        scaled.push_back(static_cast<std::int32_t>(row.row));
        factors.push_back(static_cast<float>(row.factor) / kFactorOne);
      }
    }
  }
  const auto array = [](const auto& values) {
    auto out = new_array<std::decay_t<decltype(values[0])>>({values.size()});
    std::copy(values.begin(), values.end(), out.data());
    return out.numpy();
  };
  return nb::make_tuple(array(rows), offsets.numpy(), array(scaled), scaled_offsets.numpy(),
                        array(factors));
}

using Actions = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

nb::ndarray<nb::numpy, std::int32_t> read_actions(const FeatureSet& features, const Packed& packed,
                                                  const Actions& actions, std::size_t num_actions) {
  check_words(features, packed);
  const std::size_t batch = packed.shape(0);
  const std::size_t each = actions.shape(1);
  if (actions.shape(0) != batch) misuse("there are not as many rows of actions as positions");
  const GameInputs* inputs = features.inputs();
  const std::size_t more = inputs ? inputs->per_action : 0;
  auto out = new_array<std::int32_t>({batch, each, 1 + more});
  {
    nb::gil_scoped_release unlocked;
    std::vector<Action> of_position(each);
    std::vector<std::uint16_t> rows(each * more);
    for (std::size_t i = 0; i < batch; ++i) {
      for (std::size_t k = 0; k < each; ++k) {
        const std::int64_t action = actions.data()[i * each + k];
        if (action < 0 || static_cast<std::size_t>(action) >= num_actions) {
          throw std::invalid_argument("there is no action " + std::to_string(action));
        }
        of_position[k] = static_cast<Action>(action);
      }
      if (inputs) {
        inputs->read_actions(packed.data() + i * packed.shape(1), of_position,
                             static_cast<std::uint16_t>(num_actions), rows.data());
      }
      std::int32_t* row = out.data() + i * each * (1 + more);
      for (std::size_t k = 0; k < each; ++k) {
        *row++ = of_position[k];
        row = std::copy_n(rows.data() + k * more, more, row);
      }
    }
  }
  return out.numpy();
}

const Kernels& kernels_named(const std::string& name) {
  if (name.empty()) return best_kernels();
  for (const Kernels* kernels : {portable_kernels(), avx2_kernels(), avx512_kernels()}) {
    if (kernels && name == kernels->name) return *kernels;
  }
  misuse("this machine has no kernels '", name, "'");
}

// Logits of every action [B, actions], win, draw and loss [B, 3].
nb::tuple evaluate_batch(const NetworkHandle& handle, const Packed& packed) {
  const SparseNetwork& network = *handle.network;
  check_words(network.features(), packed);
  const std::size_t batch = packed.shape(0);
  auto logits = new_array<float>({batch, network.num_actions()});
  auto wdl = new_array<float>({batch, 3});
  {
    nb::gil_scoped_release unlocked;
    std::vector<Action> actions(network.num_actions());
    std::iota(actions.begin(), actions.end(), Action{0});
    SparseScratch scratch;
    for (std::size_t i = 0; i < batch; ++i) {
      const SparseAnswer answer =
          network.evaluate(packed.data() + i * packed.shape(1), actions,
                           {logits.data() + i * actions.size(), actions.size()}, scratch);
      std::copy(answer.wdl.begin(), answer.wdl.end(), wdl.data() + i * 3);
    }
  }
  return nb::make_tuple(logits.numpy(), wdl.numpy());
}

using Ragged = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Logits of the given actions only, one position's after the other's; position i has those from
// offsets[i] to offsets[i + 1].
nb::tuple evaluate_legal(const NetworkHandle& handle, const Packed& packed, const Ragged& actions,
                         const Ragged& offsets) {
  const SparseNetwork& network = *handle.network;
  check_words(network.features(), packed);
  const std::size_t batch = packed.shape(0);
  if (offsets.shape(0) != batch + 1) misuse("offsets are one more than positions");
  std::vector<Action> all(actions.shape(0));
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::int64_t action = actions.data()[k];
    if (action < 0 || static_cast<std::size_t>(action) >= network.num_actions()) {
      throw std::invalid_argument("there is no action " + std::to_string(action));
    }
    all[k] = static_cast<Action>(action);
  }
  for (std::size_t i = 0; i <= batch; ++i) {
    const std::int64_t before = i ? offsets.data()[i - 1] : 0;
    const std::int64_t at = offsets.data()[i];
    if (at < before || static_cast<std::size_t>(at) > all.size()) misuse("offsets do not rise");
  }
  auto logits = new_array<float>({all.size()});
  auto wdl = new_array<float>({batch, 3});
  std::fill_n(logits.data(), all.size(), 0.0F);
  {
    nb::gil_scoped_release unlocked;
    SparseScratch scratch;
    for (std::size_t i = 0; i < batch; ++i) {
      const auto first = static_cast<std::size_t>(offsets.data()[i]);
      const auto count = static_cast<std::size_t>(offsets.data()[i + 1]) - first;
      const SparseAnswer answer =
          network.evaluate(packed.data() + i * packed.shape(1), {all.data() + first, count},
                           {logits.data() + first, count}, scratch);
      std::copy(answer.wdl.begin(), answer.wdl.end(), wdl.data() + i * 3);
    }
  }
  return nb::make_tuple(logits.numpy(), wdl.numpy());
}

}  // namespace

void bind_network(nb::module_& m) {
  nb::class_<FeatureSet>(m, "SparseFeatures", "Which rows of the first layer a position adds up.")
      .def(
          "__init__",
          [](FeatureSet* self, const Layout& layout, const std::vector<int>& window_planes,
             const std::vector<std::vector<int>>& windows, const std::string& inputs) {
            const auto& [rows, columns, binary, scales, dense] = layout;
            const GameInputs* named = inputs_named(inputs);
            if (!named && !inputs.empty()) misuse("no game has the inputs '", inputs, "'");
            new (self)
                FeatureSet({rows, columns, binary, scales, dense}, window_planes, windows, named);
          },
          nb::arg("layout"), nb::arg("window_planes") = std::vector<int>{},
          nb::arg("windows") = std::vector<std::vector<int>>{}, nb::arg("inputs") = "")
      .def_prop_ro("num_rows", &FeatureSet::num_rows, "The bias, which is the last, included.")
      .def_prop_ro(
          "num_action_rows",
          [](const FeatureSet& f) { return f.inputs() ? f.inputs()->action_rows : 0; },
          "Those of the game's inputs, beside one for each action.")
      .def("read_actions", &read_actions, nb::arg("packed"), nb::arg("actions"),
           nb::arg("num_actions"),
           "Rows [B, K, 1 + more] of actions [B, K]: each one's own, then those of the inputs.")
      .def(
          "pack",
          [](const FeatureSet& features,
             nb::ndarray<const float, nb::ndim<4>, nb::c_contig, nb::device::cpu> planes) {
            const ObservationLayout& layout = features.layout();
            const std::size_t batch = planes.shape(0);
            if (planes.size() != batch * static_cast<std::size_t>(layout.floats())) {
              misuse("planes of a position are ", layout.floats(), " numbers");
            }
            const auto words = static_cast<std::size_t>(layout.words());
            auto out = new_array<std::uint64_t>({batch, words});
            for (std::size_t i = 0; i < batch; ++i) {
              pack_observation(layout,
                               planes.data() + i * static_cast<std::size_t>(layout.floats()),
                               out.data() + i * words);
            }
            return out.numpy();
          },
          nb::arg("planes"), "Planes [B, planes, rows, columns] as packed observations.")
      .def("read", &read_batch, nb::arg("packed"),
           "Rows of packed observations [B, words] and where each position's begin; then rows "
           "with a factor, where they begin, and the factors.");
  nb::class_<NetworkHandle>(m, "SparseNetwork", "The processor network, integers only.")
      .def(
          "__init__",
          [](NetworkHandle* self, const FeatureSet& features, std::size_t hidden,
             std::size_t policy_hidden, std::size_t value_hidden, std::size_t num_actions,
             const nb::dict& arrays, const std::string& kernels) {
            SparseArrays a;
            a.hidden = hidden;
            a.policy_hidden = policy_hidden;
            a.value_hidden = value_hidden;
            a.num_actions = num_actions;
            a.table = numbers<std::int16_t>(arrays, "table");
            a.tail = numbers<std::int8_t>(arrays, "tail");
            a.tail_bias = numbers<std::int32_t>(arrays, "tail_bias");
            a.actions = numbers<std::int8_t>(arrays, "actions");
            a.action_bias = numbers<std::int32_t>(arrays, "action_bias");
            a.value1 = numbers<std::int8_t>(arrays, "value1");
            a.value1_bias = numbers<std::int32_t>(arrays, "value1_bias");
            a.value2 = numbers<std::int8_t>(arrays, "value2");
            a.value2_bias = numbers<std::int32_t>(arrays, "value2_bias");
            new (self) NetworkHandle{std::make_shared<const SparseNetwork>(features, std::move(a),
                                                                           kernels_named(kernels))};
          },
          nb::arg("features"), nb::arg("hidden"), nb::arg("policy_hidden"), nb::arg("value_hidden"),
          nb::arg("num_actions"), nb::arg("arrays"), nb::arg("kernels") = "")
      .def_prop_ro(
          "kernels",
          [](const NetworkHandle& handle) { return std::string(handle.network->kernels_name()); })
      .def("evaluate", &evaluate_batch, nb::arg("packed"),
           "Logits [B, actions] and win, draw, loss [B, 3] of packed observations [B, words].")
      .def("evaluate_legal", &evaluate_legal, nb::arg("packed"), nb::arg("actions"),
           nb::arg("offsets"),
           "Logits of these actions only and win, draw, loss [B, 3]; position i has the actions "
           "from offsets[i] to offsets[i + 1].");
  nb::class_<SparseSlot>(m, "SparseSlot", "A processor network for searches, exchangeable.")
      .def(
          "__init__",
          [](SparseSlot* self, const NetworkHandle& handle) {
            new (self) SparseSlot(handle.network);
          },
          nb::arg("network"))
      .def(
          "set", [](SparseSlot& self, const NetworkHandle& handle) { self.set(handle.network); },
          nb::arg("network"), "Searches take it for their next batch; any thread.");
}

}  // namespace zermelo::bindings

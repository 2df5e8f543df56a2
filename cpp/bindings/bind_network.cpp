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

const Kernels& kernels_named(const std::string& name) {
  if (name.empty()) return best_kernels();
  for (const Kernels* kernels : {portable_kernels(), avx2_kernels(), avx512_kernels()}) {
    if (kernels && name == kernels->name) return *kernels;
  }
  misuse("this machine has no kernels '", name, "'");
}

// Logits of every action [B, actions], win, draw and loss [B, 3].
nb::tuple evaluate_batch(const SparseNetwork& network, const Packed& packed) {
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

}  // namespace

void bind_network(nb::module_& m) {
  nb::class_<FeatureSet>(m, "SparseFeatures", "Which rows of the first layer a position adds up.")
      .def(
          "__init__",
          [](FeatureSet* self, const Layout& layout, const std::vector<int>& window_planes,
             const std::vector<std::vector<int>>& windows) {
            const auto& [rows, columns, binary, scales, dense] = layout;
            new (self) FeatureSet({rows, columns, binary, scales, dense}, window_planes, windows);
          },
          nb::arg("layout"), nb::arg("window_planes") = std::vector<int>{},
          nb::arg("windows") = std::vector<std::vector<int>>{})
      .def_prop_ro("num_rows", &FeatureSet::num_rows, "The bias, which is the last, included.")
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
  nb::class_<SparseNetwork>(m, "SparseNetwork", "The processor network, integers only.")
      .def(
          "__init__",
          [](SparseNetwork* self, const FeatureSet& features, std::size_t hidden,
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
            new (self) SparseNetwork(features, std::move(a), kernels_named(kernels));
          },
          nb::arg("features"), nb::arg("hidden"), nb::arg("policy_hidden"), nb::arg("value_hidden"),
          nb::arg("num_actions"), nb::arg("arrays"), nb::arg("kernels") = "")
      .def_prop_ro("kernels", [](const SparseNetwork& n) { return std::string(n.kernels_name()); })
      .def("evaluate", &evaluate_batch, nb::arg("packed"),
           "Logits [B, actions] and win, draw, loss [B, 3] of packed observations [B, words].");
  nb::class_<SparseSlot>(m, "SparseSlot", "A processor network for searches, exchangeable.")
      .def(
          "__init__",
          [](SparseSlot* self, std::shared_ptr<SparseNetwork> network) {
            new (self) SparseSlot(std::move(network));
          },
          nb::arg("network"))
      .def(
          "set",
          [](SparseSlot& self, std::shared_ptr<SparseNetwork> network) {
            self.set(std::move(network));
          },
          nb::arg("network"), "Searches take it for their next batch; any thread.");
}

}  // namespace zermelo::bindings

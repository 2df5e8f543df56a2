// The processor network's layers of looked-up rows, for the trainer.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>

#include "bindings/arrays.hpp"
#include "bindings/bindings.hpp"
#include "network/training.hpp"

namespace zermelo::bindings {

namespace {

template <class T, std::size_t dimensions>
using Array = nb::ndarray<const T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

void check_rows(std::span<const std::int32_t> rows, std::size_t most) {
  for (const std::int32_t row : rows) {
    if (row < 0 || static_cast<std::size_t>(row) >= most) misuse("there is no row ", row);
  }
}

void check_offsets(std::span<const std::int64_t> offsets, std::size_t size) {
  std::int64_t before = 0;
  for (const std::int64_t offset : offsets) {
    if (offset < before || static_cast<std::size_t>(offset) > size) {
      misuse("offsets do not ascend within ", size);
    }
    before = offset;
  }
}

// What SparseFeatures.read gave.
struct ReadFeatures {
  Array<std::int32_t, 1> rows;
  Array<std::int64_t, 1> offsets;
  Array<std::int32_t, 1> scaled;
  Array<std::int64_t, 1> scaled_offsets;
  Array<float, 1> factors;

  FeatureBatch batch(std::size_t table_rows) const {
    const auto span = [](const auto& array) { return std::span(array.data(), array.size()); };
    FeatureBatch found{span(rows), span(offsets), span(scaled), span(scaled_offsets),
                       span(factors)};
    check_rows(found.rows, table_rows);
    check_rows(found.scaled, table_rows);
    check_offsets(found.offsets, found.rows.size());
    check_offsets(found.scaled_offsets, found.scaled.size());
    if (found.factors.size() != found.scaled.size() ||
        found.scaled_offsets.size() != found.offsets.size()) {
      misuse("the parts of the features do not belong together");
    }
    return found;
  }
};

ReadFeatures features_from(const nb::tuple& parts) {
  return {nb::cast<Array<std::int32_t, 1>>(parts[0]), nb::cast<Array<std::int64_t, 1>>(parts[1]),
          nb::cast<Array<std::int32_t, 1>>(parts[2]), nb::cast<Array<std::int64_t, 1>>(parts[3]),
          nb::cast<Array<float, 1>>(parts[4])};
}

void check_same(std::size_t found, std::size_t wanted, const char* what) {
  if (found != wanted) misuse("there are ", found, " ", what, ", not ", wanted);
}

nb::tuple forward_hidden(const nb::tuple& parts, const Array<float, 2>& table,
                         std::size_t threads) {
  const ReadFeatures features = features_from(parts);
  const FeatureBatch batch = features.batch(table.shape(0));
  const std::size_t hidden = table.shape(1);
  auto sums = new_array<std::int16_t>({batch.size(), hidden});
  auto activations = new_array<float>({batch.size(), hidden});
  {
    nb::gil_scoped_release unlocked;
    hidden_forward(batch, table.data(), hidden, sums.data(), activations.data(), threads);
  }
  return nb::make_tuple(sums.numpy(), activations.numpy());
}

nb::ndarray<nb::numpy, float> backward_hidden(const nb::tuple& parts,
                                              const Array<std::int16_t, 2>& sums,
                                              const Array<float, 2>& gradient,
                                              std::size_t table_rows, std::size_t threads) {
  const ReadFeatures features = features_from(parts);
  const FeatureBatch batch = features.batch(table_rows);
  const std::size_t hidden = sums.shape(1);
  check_same(sums.shape(0), batch.size(), "positions");
  check_same(gradient.shape(0), batch.size(), "positions");
  check_same(gradient.shape(1), hidden, "hidden units");
  auto out = new_array<float>({table_rows, hidden});
  {
    nb::gil_scoped_release unlocked;
    std::fill_n(out.data(), table_rows * hidden, 0.0f);
    hidden_backward(batch, sums.data(), gradient.data(), hidden, out.data(), threads);
  }
  return out.numpy();
}

ActionBatch actions_from(const Array<std::int32_t, 3>& rows, const Array<float, 2>& inputs,
                         const Array<float, 2>& table) {
  check_rows({rows.data(), rows.size()}, table.shape(0));
  check_same(rows.shape(0), inputs.shape(0), "positions");
  check_same(inputs.shape(1), table.shape(1), "inputs");
  if (rows.shape(1) == 0 || rows.shape(2) == 0) misuse("there are no actions");
  if (table.shape(1) % 16) misuse("the inputs are no multiple of 16");
  return {rows.data(), rows.shape(0), rows.shape(1), rows.shape(2)};
}

nb::ndarray<nb::numpy, float> forward_policy(const Array<std::int32_t, 3>& rows,
                                             const Array<float, 2>& inputs,
                                             const Array<float, 2>& table,
                                             const Array<float, 1>& bias, std::size_t threads) {
  const ActionBatch batch = actions_from(rows, inputs, table);
  check_same(bias.shape(0), table.shape(0), "biases");
  auto logits = new_array<float>({batch.positions, batch.actions});
  {
    nb::gil_scoped_release unlocked;
    policy_forward(batch, inputs.data(), table.data(), bias.data(), table.shape(1), logits.data(),
                   threads);
  }
  return logits.numpy();
}

nb::tuple backward_policy(const Array<std::int32_t, 3>& rows, const Array<float, 2>& inputs,
                          const Array<float, 2>& table, const Array<float, 2>& gradient,
                          std::size_t threads) {
  const ActionBatch batch = actions_from(rows, inputs, table);
  check_same(gradient.shape(0), batch.positions, "positions");
  check_same(gradient.shape(1), batch.actions, "actions");
  const std::size_t width = table.shape(1);
  auto of_inputs = new_array<float>({batch.positions, width});
  auto of_table = new_array<float>({table.shape(0), width});
  auto of_bias = new_array<float>({table.shape(0)});
  {
    nb::gil_scoped_release unlocked;
    std::fill_n(of_table.data(), table.size(), 0.0f);
    std::fill_n(of_bias.data(), table.shape(0), 0.0f);
    policy_backward(batch, inputs.data(), table.data(), gradient.data(), width, of_inputs.data(),
                    of_table.data(), of_bias.data(), threads);
  }
  return nb::make_tuple(of_inputs.numpy(), of_table.numpy(), of_bias.numpy());
}

}  // namespace

void bind_training(nb::module_& m) {
  m.def("sparse_hidden_forward", &forward_hidden, nb::arg("features"), nb::arg("table"),
        nb::arg("threads"), "Sums [B, hidden] and activations of a table [rows, hidden].");
  m.def("sparse_hidden_backward", &backward_hidden, nb::arg("features"), nb::arg("sums"),
        nb::arg("gradient"), nb::arg("table_rows"), nb::arg("threads"),
        "Gradient of the table, from that of the activations.");
  m.def("sparse_policy_forward", &forward_policy, nb::arg("rows"), nb::arg("inputs"),
        nb::arg("table"), nb::arg("bias"), nb::arg("threads"),
        "Logits [B, K] of actions with rows [B, K, each], for inputs [B, width].");
  m.def("sparse_policy_backward", &backward_policy, nb::arg("rows"), nb::arg("inputs"),
        nb::arg("table"), nb::arg("gradient"), nb::arg("threads"),
        "Gradients of inputs, table and bias, from that of the logits.");
}

}  // namespace zermelo::bindings

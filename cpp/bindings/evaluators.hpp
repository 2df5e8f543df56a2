// Evaluators from Python: native ones by description, and any callable on NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <typeinfo>
#include <variant>
#include <vector>

#include "bindings/arrays.hpp"
#include "search/evaluator.hpp"
#include "search/gather.hpp"
#include "search/sparse_evaluator.hpp"
#include "search/tree.hpp"

namespace zermelo::bindings {

namespace nb = nanobind;

// What Python holds of a native evaluator; the search makes the real one for its game.
struct UniformSpec {};
struct HashSpec {
  std::uint64_t seed;
};
struct RolloutSpec {
  int rollouts;
  int max_plies;
  std::uint64_t seed;
};

// One evaluator for the searches of several threads, whose leaves share batches. The searches must
// be of one game.
struct GatherSpec {
  nb::object inner;
  std::size_t batch;
  std::shared_ptr<void> made = nullptr;  // a GatheringEvaluator<G>, once a search asked for it
  const std::type_info* kind = nullptr;  // G
  std::string game = {};                 // its name: sizes and encoders differ within a kind
};

// (result, distance) for the chooser, or None.
inline nb::object certain_tuple(Certain certain) {
  if (!certain) return nb::none();
  return nb::make_tuple(certain.result(), certain.distance);
}

inline std::string shape_text(nb::handle array) {
  return nb::cast<std::string>(nb::str(nb::handle(array.attr("shape"))));
}

// Memory for the planes of batches, used again and again: a batch's planes are large enough that
// the allocator would map fresh pages for each, and unmapping them stops all other threads.
class PlaneMemory : public std::enable_shared_from_this<PlaneMemory> {
 public:
  // A NumPy array's memory, which comes back when the array is gone.
  struct Block {
    std::vector<float> floats;
    std::shared_ptr<PlaneMemory> home;
  };

  // Thread rule: any thread, with or without the interpreter's lock.
  std::unique_ptr<Block> take(std::size_t floats) {
    auto block = std::make_unique<Block>();
    {
      const std::lock_guard guard(mutex_);
      if (!spare_.empty()) {
        block->floats = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    if (block->floats.size() < floats) block->floats.resize(floats);
    block->home = shared_from_this();
    return block;
  }
  void give_back(std::vector<float> floats) {
    const std::lock_guard guard(mutex_);
    if (spare_.size() < kMostSpare) spare_.push_back(std::move(floats));
  }

 private:
  static constexpr std::size_t kMostSpare = 8;
  std::mutex mutex_;
  std::vector<std::vector<float>> spare_;  // guarded by mutex_
};

// A Python callable: observations -> (policy logits [batch, actions], value [batch] or WDL
// probabilities [batch, 3]), for the player to move. With an attribute `packed` that is true it
// gets uint64 [batch, words], else float32 [batch, planes, rows, columns]. With a callable
// attribute `with_plies_left` that is asked instead, and also returns plies left [batch].
template <Game G>
class PyEvaluator final : public Evaluator<G> {
 public:
  PyEvaluator(const G& game, nb::object callable)
      : layout_(game.layout()),
        num_actions_(static_cast<std::size_t>(game.num_actions())),
        callable_(std::move(callable)),
        packed_(nb::hasattr(callable_, "packed") && nb::cast<bool>(callable_.attr("packed"))) {
    if (nb::hasattr(callable_, "with_plies_left")) {
      full_answer_ = callable_.attr("with_plies_left");
      tells_plies_left_ = !full_answer_.is_none();
    }
  }
  ~PyEvaluator() override {
    nb::gil_scoped_acquire lock;
    callable_.reset();
    full_answer_.reset();
  }

  bool wants_observations() const override { return true; }
  bool tells_plies_left() const override { return tells_plies_left_; }

  void evaluate(std::span<Position<G>> batch) override {
    // Planes are expanded before the interpreter's lock is taken.
    const std::size_t floats = static_cast<std::size_t>(layout_.floats());
    std::unique_ptr<PlaneMemory::Block> block;
    if (!packed_) {
      block = memory_->take(batch.size() * floats);
      for (std::size_t i = 0; i < batch.size(); ++i) {
        expand_observation(layout_, batch[i].observation, block->floats.data() + i * floats);
      }
    }
    nb::gil_scoped_acquire lock;
    const nb::object& asked = tells_plies_left_ ? full_answer_ : callable_;
    nb::object answer =
        asked(packed_ ? packed_array(batch) : planes_array(batch.size(), std::move(block)));
    if (!nb::isinstance<nb::tuple>(answer) || nb::len(answer) != (tells_plies_left_ ? 3 : 2)) {
      throw std::runtime_error(tells_plies_left_
                                   ? "the evaluator did not return (policy, value, plies left)"
                                   : "the evaluator did not return a pair (policy, value)");
    }
    nb::object numpy = nb::module_::import_("numpy");
    nb::object policy = contiguous(numpy, answer[0]);
    nb::object value = contiguous(numpy, answer[1]);
    read_policy(batch, policy);
    read_value(batch, value);
    if (tells_plies_left_) read_plies(batch, contiguous(numpy, answer[2]));
  }

 private:
  using Array = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

  static nb::object contiguous(const nb::object& numpy, nb::handle array) {
    return numpy.attr("ascontiguousarray")(array, numpy.attr("float32"));
  }
  nb::object planes_array(std::size_t size, std::unique_ptr<PlaneMemory::Block> block) const {
    float* memory = block->floats.data();
    nb::capsule owner(block.release(), [](void* p) noexcept {
      const std::unique_ptr<PlaneMemory::Block> gone(static_cast<PlaneMemory::Block*>(p));
      gone->home->give_back(std::move(gone->floats));
    });
    const std::size_t shape[] = {size, static_cast<std::size_t>(layout_.planes()),
                                 static_cast<std::size_t>(layout_.rows),
                                 static_cast<std::size_t>(layout_.columns)};
    return nb::ndarray<nb::numpy, float>(memory, 4, shape, owner).cast();
  }
  nb::object packed_array(std::span<Position<G>> batch) const {
    const auto words = static_cast<std::size_t>(layout_.words());
    auto array = new_array<std::uint64_t>({batch.size(), words});
    for (std::size_t i = 0; i < batch.size(); ++i) {
      std::copy_n(batch[i].observation, words, array.data() + i * words);
    }
    return array.numpy().cast();
  }

  void read_policy(std::span<Position<G>> batch, const nb::object& policy) const {
    const auto array = nb::cast<Array>(policy);
    if (array.ndim() != 2 || array.shape(0) != batch.size() || array.shape(1) != num_actions_) {
      throw std::runtime_error("the evaluator returned a policy of shape " + shape_text(policy) +
                               ", not (" + std::to_string(batch.size()) + ", " +
                               std::to_string(num_actions_) + ")");
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const float* row = array.data() + i * num_actions_;
      auto& position = batch[i];
      for (std::size_t k = 0; k < position.actions.size(); ++k) {
        position.logits[k] = row[position.actions[k]];
      }
    }
  }
  void read_value(std::span<Position<G>> batch, const nb::object& value) const {
    const auto array = nb::cast<Array>(value);
    const std::size_t columns = batch.empty() ? 0 : array.size() / batch.size();
    if (array.size() != columns * batch.size() || (columns != 1 && columns != 3)) {
      throw std::runtime_error("the evaluator returned values of shape " + shape_text(value) +
                               ", not (" + std::to_string(batch.size()) + ",) or (" +
                               std::to_string(batch.size()) + ", 3)");
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const float* row = array.data() + i * columns;
      batch[i].value = columns == 1 ? row[0] : row[0] - row[2];
      batch[i].draw = columns == 1 ? 0.0f : row[1];
    }
  }

  static void read_plies(std::span<Position<G>> batch, const nb::object& plies) {
    const auto array = nb::cast<Array>(plies);
    if (array.size() != batch.size()) {
      throw std::runtime_error("the evaluator returned plies left of shape " + shape_text(plies) +
                               ", not (" + std::to_string(batch.size()) + ",)");
    }
    for (std::size_t i = 0; i < batch.size(); ++i) batch[i].plies_left = array.data()[i];
  }

  ObservationLayout layout_;
  std::size_t num_actions_;
  nb::object callable_;
  nb::object full_answer_;  // the callable's `with_plies_left`, which is asked if it has one
  bool packed_;
  bool tells_plies_left_ = false;
  std::shared_ptr<PlaneMemory> memory_ = std::make_shared<PlaneMemory>();
};

// The native evaluator that `evaluator` describes, or a wrapper round the callable.
template <Game G>
std::shared_ptr<Evaluator<G>> make_evaluator(const G& game, nb::object evaluator) {
  if (nb::hasattr(evaluator, "native")) evaluator = evaluator.attr("native");
  if (nb::isinstance<UniformSpec>(evaluator)) return std::make_shared<UniformEvaluator<G>>();
  if (nb::isinstance<HashSpec>(evaluator)) {
    return std::make_shared<HashEvaluator<G>>(nb::cast<HashSpec>(evaluator).seed);
  }
  if (nb::isinstance<RolloutSpec>(evaluator)) {
    const auto spec = nb::cast<RolloutSpec>(evaluator);
    return std::make_shared<RolloutEvaluator<G>>(game, spec.rollouts, spec.max_plies, spec.seed);
  }
  if (nb::isinstance<SparseSlot>(evaluator)) {
    auto slot = nb::cast<std::shared_ptr<SparseSlot>>(evaluator);
    const auto network = slot->get();
    if (network->num_actions() != static_cast<std::size_t>(game.num_actions()) ||
        network->features().layout() != game.layout()) {
      misuse("the sparse network is for another game than '", game.name(), "'");
    }
    return std::make_shared<SparseEvaluator<G>>(std::move(slot));
  }
  if (nb::isinstance<GatherSpec>(evaluator)) {
    auto& spec = nb::cast<GatherSpec&>(evaluator);
    if (!spec.made) {
      spec.made =
          std::make_shared<GatheringEvaluator<G>>(make_evaluator(game, spec.inner), spec.batch);
      spec.kind = &typeid(G);
      spec.game = game.name();
    }
    if (*spec.kind != typeid(G) || spec.game != game.name()) {
      throw std::invalid_argument("a GatheringEvaluator serves searches of one game only");
    }
    return std::static_pointer_cast<GatheringEvaluator<G>>(spec.made);
  }
  if (!nb::isinstance<nb::callable>(evaluator)) {
    throw std::invalid_argument(
        "an evaluator is a callable on observations, or one of "
        "UniformEvaluator, HashEvaluator and RolloutEvaluator");
  }
  return std::make_shared<PyEvaluator<G>>(game, std::move(evaluator));
}

}  // namespace zermelo::bindings

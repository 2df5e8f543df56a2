#include "network/sparse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/exp.hpp"

namespace zermelo {

namespace {

constexpr float kLogit = 1.0f / (1 << (kActivationBits + kActionBits));
constexpr float kValueLogit = 1.0f / (1 << (kActivationBits + kValueBits));
constexpr float kPliesUnit = 32.0f;  // an output of 1.0 is so many plies

void require(bool holds, const std::string& sentence) {
  if (!holds) throw std::invalid_argument(sentence);
}

void require_size(std::size_t found, std::size_t wanted, const char* name) {
  require(found == wanted, std::string("the sparse network's '") + name + "' has " +
                               std::to_string(found) + " numbers, not " + std::to_string(wanted));
}

// [outputs][inputs] -> [inputs / 4][padded outputs][4]; the padding is 0.
std::vector<std::int8_t> repacked(const std::vector<std::int8_t>& weights, std::size_t outputs,
                                  std::size_t inputs, std::size_t padded) {
  std::vector<std::int8_t> out(padded * inputs);
  for (std::size_t n = 0; n < outputs; ++n) {
    for (std::size_t i = 0; i < inputs; ++i) {
      out[(i / 4 * padded + n) * 4 + i % 4] = weights[n * inputs + i];
    }
  }
  return out;
}

// How many rows of a table [rows][hidden] at least have sums that fit an int16, whichever they are:
// by each column's largest weights.
std::size_t rows_at_once(const std::vector<std::int16_t>& table, std::size_t hidden) {
  constexpr std::size_t kWeights = kMostRowWeight + 1;
  const std::size_t rows = table.size() / hidden;
  std::size_t least = rows;
  std::vector<std::uint32_t> counts(kHiddenStep * kWeights);
  for (std::size_t begin = 0; begin < hidden; begin += kHiddenStep) {
    std::fill(counts.begin(), counts.end(), 0);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::int16_t* weights = table.data() + row * hidden + begin;
      for (std::size_t i = 0; i < kHiddenStep; ++i) {
        ++counts[i * kWeights + static_cast<std::size_t>(std::abs(weights[i]))];
      }
    }
    for (std::size_t i = 0; i < kHiddenStep; ++i) {
      std::size_t left = std::numeric_limits<std::int16_t>::max();
      std::size_t fit = 0;
      for (std::size_t weight = kWeights - 1; weight > 0; --weight) {
        const std::size_t count = counts[i * kWeights + weight];
        const std::size_t taken = std::min(count, left / weight);
        fit += taken;
        left -= taken * weight;
        if (taken < count) break;
        if (weight == 1) fit = rows;
      }
      least = std::min(least, fit);
    }
  }
  return least;
}

// Sums of a layer whose weights have `bits` to activations.
void clip(std::span<const std::int32_t> sums, int bits, std::uint8_t* out) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    out[i] = static_cast<std::uint8_t>(std::clamp(sums[i] >> bits, 0, (1 << kActivationBits) - 1));
  }
}

}  // namespace

SparseNetwork::SparseNetwork(FeatureSet features, SparseArrays arrays, const Kernels& kernels)
    : features_(std::move(features)), arrays_(std::move(arrays)), kernels_(&kernels) {
  check();
  at_once_ = rows_at_once(arrays_.table, arrays_.hidden);
  const std::size_t tails = arrays_.policy_hidden + arrays_.value_hidden;
  arrays_.tail = repacked(arrays_.tail, tails, arrays_.hidden, tails);
  arrays_.value1 = repacked(arrays_.value1, kValueLast, arrays_.value_hidden, kValueLast);
  arrays_.value2 = repacked(arrays_.value2, kValueOutputs, kValueLast, kOutputStep);
  arrays_.value2_bias.resize(kOutputStep, 0);
}

void SparseNetwork::check() const {
  const auto& a = arrays_;
  require(a.hidden > 0 && a.hidden % kHiddenStep == 0 && a.hidden <= 4096,
          "hidden is " + std::to_string(a.hidden) + ", not a multiple of 64 up to 4096");
  require(
      a.policy_hidden % kInputStep == 0 && a.policy_hidden <= 1024,
      "policy_hidden is " + std::to_string(a.policy_hidden) + ", not a multiple of 32 up to 1024");
  require(
      a.value_hidden > 0 && a.value_hidden % kInputStep == 0 && a.value_hidden <= 1024,
      "value_hidden is " + std::to_string(a.value_hidden) + ", not a multiple of 32 up to 1024");
  const std::size_t tails = a.policy_hidden + a.value_hidden;
  const std::size_t action_length = a.policy_hidden ? a.policy_hidden : a.hidden;
  require_size(a.table.size(), std::size_t{features_.num_rows()} * a.hidden, "table");
  require_size(a.tail.size(), tails * a.hidden, "tail");
  require_size(a.tail_bias.size(), tails, "tail_bias");
  require_size(a.actions.size(), num_action_rows() * action_length, "actions");
  require_size(a.action_bias.size(), num_action_rows(), "action_bias");
  require_size(a.value1.size(), kValueLast * a.value_hidden, "value1");
  require_size(a.value1_bias.size(), kValueLast, "value1_bias");
  require_size(a.value2.size(), kValueOutputs * kValueLast, "value2");
  require_size(a.value2_bias.size(), kValueOutputs, "value2_bias");
  const auto too_large = [](std::int16_t w) { return std::abs(w) > kMostRowWeight; };
  require(std::none_of(a.table.begin(), a.table.end(), too_large),
          "the sparse network's 'table' has weights beyond " + std::to_string(kMostRowWeight));
  require(num_action_rows() <= std::size_t{std::numeric_limits<Action>::max()} + 1,
          "there are more actions than numbers of actions");
  // A layer's sum is at most inputs * 127 * 128 < 2^27; with a bias within 2^28 neither it nor the
  // difference of two can overflow.
  for (const auto* bias : {&a.tail_bias, &a.action_bias, &a.value1_bias, &a.value2_bias}) {
    require(std::all_of(bias->begin(), bias->end(),
                        [](std::int32_t b) { return b > -(1 << 28) && b < 1 << 28; }),
            "the sparse network has a bias beyond 2^28");
  }
}

void SparseNetwork::policy(const std::uint64_t* words, std::span<const Action> actions,
                           std::span<const std::uint8_t> inputs, std::span<float> logits,
                           SparseScratch& s) const {
  const auto& a = arrays_;
  const GameInputs* more = features_.inputs();
  if (!more) {
    s.dots.resize(actions.size());
    kernels_->dots(inputs, a.actions.data(), actions, s.dots.data());
    for (std::size_t k = 0; k < actions.size(); ++k) {
      logits[k] = static_cast<float>(s.dots[k] + a.action_bias[actions[k]]) * kLogit;
    }
    return;
  }
  // The actions' own rows first, then the others of each.
  const std::size_t each = more->per_action;
  s.rows.resize(actions.size() * (1 + each));
  s.dots.resize(s.rows.size());
  std::copy(actions.begin(), actions.end(), s.rows.begin());
  more->read_actions(words, actions, static_cast<std::uint16_t>(a.num_actions),
                     s.rows.data() + actions.size());
  kernels_->dots(inputs, a.actions.data(), s.rows, s.dots.data());
  for (std::size_t i = 0; i < s.rows.size(); ++i) s.dots[i] += a.action_bias[s.rows[i]];
  for (std::size_t k = 0; k < actions.size(); ++k) {
    std::int32_t sum = s.dots[k];
    for (std::size_t i = 0; i < each; ++i) sum += s.dots[actions.size() + k * each + i];
    logits[k] = static_cast<float>(sum) * kLogit;
  }
}

SparseAnswer SparseNetwork::evaluate(const std::uint64_t* words, std::span<const Action> actions,
                                     std::span<float> logits, SparseScratch& s) const {
  const auto& a = arrays_;
  const std::size_t tails = a.policy_hidden + a.value_hidden;
  s.hidden.resize(a.hidden);
  s.tails.resize(tails + kValueLast);
  s.sums.resize(std::max(tails, kValueLast));
  features_.read(words, s.features);
  kernels_->hidden(a.table.data(), a.hidden, at_once_, s.features.rows, s.features.scaled,
                   s.hidden.data());

  kernels_->dense(s.hidden, a.tail.data(), a.tail_bias, s.sums.data());
  clip({s.sums.data(), tails}, kTailBits, s.tails.data());

  policy(words, actions,
         a.policy_hidden ? std::span<const std::uint8_t>(s.tails).first(a.policy_hidden)
                         : std::span<const std::uint8_t>(s.hidden),
         logits, s);

  const auto value =
      std::span<const std::uint8_t>(s.tails).subspan(a.policy_hidden, a.value_hidden);
  std::uint8_t* last = s.tails.data() + tails;
  kernels_->dense(value, a.value1.data(), a.value1_bias, s.sums.data());
  clip({s.sums.data(), kValueLast}, kValueBits, last);
  std::int32_t out[kOutputStep];
  kernels_->dense({last, kValueLast}, a.value2.data(), a.value2_bias, out);

  SparseAnswer answer;
  const std::int32_t most = std::max({out[0], out[1], out[2]});
  double parts[3];
  double sum = 0;
  for (int i = 0; i < 3; ++i) {
    parts[i] = portable_exp(static_cast<double>(static_cast<float>(out[i] - most) * kValueLogit));
    sum += parts[i];
  }
  for (std::size_t i = 0; i < 3; ++i) answer.wdl[i] = static_cast<float>(parts[i] / sum);
  answer.plies_left = static_cast<float>(std::max(out[3], 0)) * kValueLogit * kPliesUnit;
  return answer;
}

}  // namespace zermelo

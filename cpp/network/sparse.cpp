#include "network/sparse.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

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

// Sums of a layer whose weights have `bits` to activations.
void clip(std::span<const std::int32_t> sums, int bits, std::uint8_t* out) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    out[i] = static_cast<std::uint8_t>(std::clamp(sums[i] >> bits, 0, (1 << kActivationBits) - 1));
  }
}

}  // namespace

double portable_exp(double x) {
  constexpr double kLn2High = 6.93147180369123816490e-01;
  constexpr double kLn2Low = 1.90821492927058770002e-10;
  if (x < -700) return 0;
  if (x > 700) x = 700;
  const double n = std::nearbyint(x * 1.4426950408889634074);
  const double r = (x - n * kLn2High) - n * kLn2Low;  // |r| <= ln(2) / 2
  double sum = 1;
  for (int i = 13; i >= 1; --i) sum = 1 + sum * r / i;
  return std::ldexp(sum, static_cast<int>(n));
}

SparseNetwork::SparseNetwork(FeatureSet features, SparseArrays arrays, const Kernels& kernels)
    : features_(std::move(features)), arrays_(std::move(arrays)), kernels_(&kernels) {
  check();
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
  require_size(a.actions.size(), a.num_actions * action_length, "actions");
  require_size(a.action_bias.size(), a.num_actions, "action_bias");
  require_size(a.value1.size(), kValueLast * a.value_hidden, "value1");
  require_size(a.value1_bias.size(), kValueLast, "value1_bias");
  require_size(a.value2.size(), kValueOutputs * kValueLast, "value2");
  require_size(a.value2_bias.size(), kValueOutputs, "value2_bias");
  const auto too_large = [](std::int16_t w) { return std::abs(w) > kMostRowWeight; };
  require(std::none_of(a.table.begin(), a.table.end(), too_large),
          "the sparse network's 'table' has weights beyond " + std::to_string(kMostRowWeight));
  // A layer's sum is at most inputs * 127 * 128 < 2^27; a bias within 2^30 cannot overflow it.
  for (const auto* bias : {&a.tail_bias, &a.action_bias, &a.value1_bias, &a.value2_bias}) {
    require(std::all_of(bias->begin(), bias->end(),
                        [](std::int32_t b) { return b > -(1 << 30) && b < 1 << 30; }),
            "the sparse network has a bias beyond 2^30");
  }
}

SparseAnswer SparseNetwork::evaluate(const std::uint64_t* words, std::span<const Action> actions,
                                     std::span<float> logits, SparseScratch& s) const {
  const auto& a = arrays_;
  const std::size_t tails = a.policy_hidden + a.value_hidden;
  s.hidden.resize(a.hidden);
  s.tails.resize(tails + kValueLast);
  s.sums.resize(std::max(tails, kValueLast));
  s.dots.resize(actions.size());
  features_.read(words, s.features);
  kernels_->hidden(a.table.data(), a.hidden, s.features.rows, s.features.scaled, s.hidden.data());

  kernels_->dense(s.hidden, a.tail.data(), a.tail_bias, s.sums.data());
  clip({s.sums.data(), tails}, kTailBits, s.tails.data());

  const std::span<const std::uint8_t> policy =
      a.policy_hidden ? std::span<const std::uint8_t>(s.tails).first(a.policy_hidden)
                      : std::span<const std::uint8_t>(s.hidden);
  kernels_->dots(policy, a.actions.data(), actions, s.dots.data());
  for (std::size_t k = 0; k < actions.size(); ++k) {
    logits[k] = static_cast<float>(s.dots[k] + a.action_bias[actions[k]]) * kLogit;
  }

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

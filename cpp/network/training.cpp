#include "network/training.hpp"

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#include "network/kernels.hpp"

namespace zermelo {

namespace {

constexpr std::size_t kColumns = 16;  // shares of columns are multiples of it

// Calls work(begin, end) for parts of [0, size), each in a thread.
template <class Work>
void in_parts(std::size_t size, std::size_t step, std::size_t threads, const Work& work) {
  const std::size_t steps = (size + step - 1) / step;
  const std::size_t parts = std::max<std::size_t>(1, std::min(threads, steps));
  std::vector<std::jthread> others;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = part * steps / parts * step;
    const std::size_t end = std::min(size, (part + 1) * steps / parts * step);
    if (part + 1 < parts) {
      others.emplace_back([&work, begin, end] { work(begin, end); });
    } else {
      work(begin, end);
    }
  }
}

template <class T>
std::span<const T> of_position(std::span<const T> all, std::span<const std::int64_t> offsets,
                               std::size_t position) {
  const auto begin = static_cast<std::size_t>(offsets[position]);
  const std::size_t end =
      position + 1 < offsets.size() ? static_cast<std::size_t>(offsets[position + 1]) : all.size();
  return all.subspan(begin, end - begin);
}

}  // namespace

void hidden_forward(const FeatureBatch& batch, const float* table, std::size_t hidden,
                    std::int16_t* sums, float* activations, std::size_t threads) {
  in_parts(batch.size(), 1, threads, [&](std::size_t begin, std::size_t end) {
    std::vector<float> total(hidden);
    for (std::size_t b = begin; b < end; ++b) {
      std::fill(total.begin(), total.end(), 0.0f);
      for (const std::int32_t row : of_position(batch.rows, batch.offsets, b)) {
        const float* weights = table + static_cast<std::size_t>(row) * hidden;
        for (std::size_t i = 0; i < hidden; ++i) total[i] += weights[i];
      }
      const auto scaled = of_position(batch.scaled, batch.scaled_offsets, b);
      const auto factors = of_position(batch.factors, batch.scaled_offsets, b);
      for (std::size_t s = 0; s < scaled.size(); ++s) {
        const float* weights = table + static_cast<std::size_t>(scaled[s]) * hidden;
        for (std::size_t i = 0; i < hidden; ++i) {
          total[i] += std::floor(weights[i] * factors[s] + 0.5f);
        }
      }
      for (std::size_t i = 0; i < hidden; ++i) {
        const float whole = std::clamp(total[i], 0.0f, static_cast<float>(kHiddenOne));
        const float limited = std::min(whole, static_cast<float>(kHiddenOne - 1));
        sums[b * hidden + i] = static_cast<std::int16_t>(whole);
        activations[b * hidden + i] =
            std::floor(limited * limited * (1.0f / (1 << (2 * kHiddenBits - kActivationBits))));
      }
    }
  });
}

void hidden_backward(const FeatureBatch& batch, const std::int16_t* sums, const float* gradient,
                     std::size_t hidden, float* table_gradient, std::size_t threads) {
  constexpr float kSlope = 2.0f / (1 << (2 * kHiddenBits - kActivationBits));
  in_parts(hidden, kColumns, threads, [&](std::size_t begin, std::size_t end) {
    const std::size_t width = end - begin;
    std::vector<float> slope(width);
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const std::int16_t* x = sums + b * hidden + begin;
      const float* g = gradient + b * hidden + begin;
      for (std::size_t i = 0; i < width; ++i) {
        const float inside = x[i] < kHiddenOne ? kSlope : 0.0f;
        slope[i] = g[i] * inside * static_cast<float>(x[i]);
      }
      for (const std::int32_t row : of_position(batch.rows, batch.offsets, b)) {
        float* out = table_gradient + static_cast<std::size_t>(row) * hidden + begin;
        for (std::size_t i = 0; i < width; ++i) out[i] += slope[i];
      }
      const auto scaled = of_position(batch.scaled, batch.scaled_offsets, b);
      const auto factors = of_position(batch.factors, batch.scaled_offsets, b);
      for (std::size_t s = 0; s < scaled.size(); ++s) {
        float* out = table_gradient + static_cast<std::size_t>(scaled[s]) * hidden + begin;
        for (std::size_t i = 0; i < width; ++i) out[i] += slope[i] * factors[s];
      }
    }
  });
}

std::size_t ActionBatch::distinct(std::size_t position) const {
  const std::int32_t* first = of(position);
  std::size_t n = actions;
  while (n > 1 && first[(n - 1) * each] == 0 && first[(n - 2) * each] == 0) --n;
  return n;
}

void policy_forward(const ActionBatch& batch, const float* inputs, const float* table,
                    const float* bias, std::size_t width, float* logits, std::size_t threads) {
  in_parts(batch.positions, 1, threads, [&](std::size_t begin, std::size_t end) {
    std::vector<float> sum(width);
    for (std::size_t b = begin; b < end; ++b) {
      const std::size_t distinct = batch.distinct(b);
      const float* x = inputs + b * width;
      float* out = logits + b * batch.actions;
      for (std::size_t k = 0; k < distinct; ++k) {
        const std::int32_t* rows = batch.of(b) + k * batch.each;
        float total = 0;
        std::fill(sum.begin(), sum.end(), 0.0f);
        for (std::size_t e = 0; e < batch.each; ++e) {
          const auto row = static_cast<std::size_t>(rows[e]);
          for (std::size_t i = 0; i < width; ++i) sum[i] += table[row * width + i];
          total += bias[row];
        }
        // Whole numbers below 2^24, so the order of additions does not matter.
        float parts[kColumns] = {};
        for (std::size_t i = 0; i < width; i += kColumns) {
          for (std::size_t j = 0; j < kColumns; ++j) parts[j] += x[i + j] * sum[i + j];
        }
        for (const float part : parts) total += part;
        out[k] = total;
      }
      std::fill(out + distinct, out + batch.actions, out[distinct - 1]);
    }
  });
}

void policy_backward(const ActionBatch& batch, const float* inputs, const float* table,
                     const float* gradient, std::size_t width, float* input_gradient,
                     float* table_gradient, float* bias_gradient, std::size_t threads) {
  in_parts(width, kColumns, threads, [&](std::size_t begin, std::size_t end) {
    const std::size_t columns = end - begin;
    std::vector<float> mine(columns);
    for (std::size_t b = 0; b < batch.positions; ++b) {
      const std::size_t distinct = batch.distinct(b);
      const float* x = inputs + b * width + begin;
      const float* g = gradient + b * batch.actions;
      std::fill(mine.begin(), mine.end(), 0.0f);
      for (std::size_t k = 0; k < distinct; ++k) {
        float slope = g[k];
        if (k + 1 == distinct) {
          for (std::size_t same = distinct; same < batch.actions; ++same) slope += g[same];
        }
        if (slope == 0) continue;
        const std::int32_t* rows = batch.of(b) + k * batch.each;
        for (std::size_t e = 0; e < batch.each; ++e) {
          const auto row = static_cast<std::size_t>(rows[e]);
          const float* weights = table + row * width + begin;
          float* out = table_gradient + row * width + begin;
          for (std::size_t i = 0; i < columns; ++i) out[i] += slope * x[i];
          for (std::size_t i = 0; i < columns; ++i) mine[i] += slope * weights[i];
          if (begin == 0) bias_gradient[row] += slope;
        }
      }
      std::copy(mine.begin(), mine.end(), input_gradient + b * width + begin);
    }
  });
}

}  // namespace zermelo

// Evaluations by position (S14): shared by all games and threads of a process, bounded in memory.
//
// A table of buckets of four entries. An entry keeps value, draw and the 16-bit priors of the legal
// actions, in an order that the position alone determines. Older entries of a bucket give way.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "games/game.hpp"
#include "search/options.hpp"

namespace zermelo {

struct CachedEvaluation {
  float value = 0;
  float draw = 0;
  float plies_left = 0;
};

class EvaluationCache {
 public:
  // `actions` is how many priors an entry can hold; positions with more are not kept.
  EvaluationCache(std::size_t mib, std::size_t actions)
      : max_priors_(std::min<std::size_t>(actions, kMostPriors)),
        entry_bytes_((sizeof(Header) + 2 * max_priors_ + 7) / 8 * 8) {
    const std::size_t buckets = std::max<std::size_t>(1, (mib << 20) / (entry_bytes_ * kWays));
    buckets_ = buckets;
    allocate();
  }

  // Fills `priors` (one per action, see above). Thread-safe.
  bool find(std::uint64_t key, std::span<std::uint16_t> priors, CachedEvaluation& out) {
    const std::size_t bucket = bucket_of(key);
    const Lock lock(*this, bucket);
    for (std::size_t way = 0; way < kWays && touched(bucket); ++way) {
      Header* entry = at(bucket, way);
      if (entry->key != key || entry->count != priors.size()) continue;
      std::memcpy(priors.data(), entry + 1, priors.size_bytes());
      out = {entry->value, entry->draw, entry->plies_left};
      entry->age = 0;
      hits_.fetch_add(1, std::memory_order_relaxed);
      return true;
    }
    misses_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }

  void insert(std::uint64_t key, std::span<const std::uint16_t> priors, CachedEvaluation value) {
    if (priors.size() > max_priors_) return;
    const std::size_t bucket = bucket_of(key);
    const Lock lock(*this, bucket);
    touch(bucket);
    Header* victim = at(bucket, 0);
    for (std::size_t way = 0; way < kWays; ++way) {
      Header* entry = at(bucket, way);
      if (entry->key == key || entry->count == 0) {
        victim = entry;
        break;
      }
      if (entry->age > victim->age) victim = entry;
      if (entry->age < 0xFFFF) ++entry->age;
    }
    const auto count = static_cast<std::uint16_t>(priors.size());
    *victim = {key, value.value, value.draw, value.plies_left, count, 0};
    std::memcpy(victim + 1, priors.data(), priors.size_bytes());
  }

  // No search may be running. Takes fresh pages, so that an unused table costs no memory.
  void clear() {
    memory_.reset();
    allocate();
  }

  std::uint64_t hits() const { return hits_.load(std::memory_order_relaxed); }
  std::uint64_t misses() const { return misses_.load(std::memory_order_relaxed); }
  std::size_t capacity() const { return buckets_ * kWays; }
  // Share of sampled entries that are in use, in 1/1000 (UCI's hashfull).
  int permille_full() {
    const std::size_t sample = std::min<std::size_t>(buckets_, 250);
    std::size_t used = 0;
    for (std::size_t bucket = 0; bucket < sample; ++bucket) {
      const Lock lock(*this, bucket);
      for (std::size_t way = 0; way < kWays && touched(bucket); ++way) {
        used += at(bucket, way)->count != 0;
      }
    }
    return static_cast<int>(used * 1000 / (sample * kWays));
  }

 private:
  void allocate() {
    memory_.reset(static_cast<std::byte*>(std::calloc(buckets_ * kWays, entry_bytes_)));
    if (!memory_) throw std::bad_alloc();
    const std::size_t pages = buckets_ * kWays * entry_bytes_ / 4096 + 2;
    written_ = std::vector<std::atomic<std::uint64_t>>(pages / 64 + 1);
  }

  struct Header {
    std::uint64_t key;
    float value;
    float draw;
    float plies_left;
    std::uint16_t count;  // 0: empty
    std::uint16_t age;
  };
  static constexpr std::size_t kWays = 4;
  static constexpr std::size_t kMostPriors = 64;
  static constexpr std::size_t kLocks = 1024;

  class Lock {
   public:
    Lock(EvaluationCache& cache, std::size_t bucket) : flag_(cache.locks_[bucket % kLocks]) {
      while (flag_.test_and_set(std::memory_order_acquire)) {
      }
    }
    ~Lock() { flag_.clear(std::memory_order_release); }

   private:
    std::atomic_flag& flag_;
  };
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };

  // Whether all pages of the bucket were ever written. Reading memory that was never written maps
  // an empty page there, and the first write then has to take it back from every processor.
  bool touched(std::size_t bucket) const {
    const auto [first, last] = ends(bucket);
    return is_written(page_of(first)) && is_written(page_of(last));
  }
  // Caller: holds the bucket's lock.
  void touch(std::size_t bucket) {
    const auto [first, last] = ends(bucket);
    for (std::byte* byte : {first, last}) {
      const std::size_t page = page_of(byte);
      if (is_written(page)) continue;
      *byte = std::byte{0};  // as it was, since nothing of this page was written
      written_[page / 64].fetch_or(std::uint64_t{1} << (page % 64), std::memory_order_relaxed);
    }
  }
  bool is_written(std::size_t page) const {
    return written_[page / 64].load(std::memory_order_relaxed) >> (page % 64) & 1;
  }
  std::size_t page_of(const std::byte* byte) const {
    const auto pages = [](const std::byte* p) {
      return reinterpret_cast<std::uintptr_t>(p) / 4096;
    };
    return pages(byte) - pages(memory_.get());
  }
  std::pair<std::byte*, std::byte*> ends(std::size_t bucket) const {
    std::byte* first = memory_.get() + bucket * kWays * entry_bytes_;
    return {first, first + kWays * entry_bytes_ - 1};
  }

  std::size_t bucket_of(std::uint64_t key) const {
    return static_cast<std::size_t>((static_cast<unsigned __int128>(key) * buckets_) >> 64);
  }
  Header* at(std::size_t bucket, std::size_t way) const {
    return reinterpret_cast<Header*>(memory_.get() + (bucket * kWays + way) * entry_bytes_);
  }

  std::size_t max_priors_;
  std::size_t entry_bytes_;
  std::size_t buckets_;
  std::unique_ptr<std::byte, Free> memory_;          // entries, guarded by locks_[bucket % kLocks]
  std::vector<std::atomic<std::uint64_t>> written_;  // a bit for each page of memory_
  std::atomic_flag locks_[kLocks] = {};
  std::atomic<std::uint64_t> hits_{0};
  std::atomic<std::uint64_t> misses_{0};
};

// The key of a position, and the order in which its priors are kept.
//
// With symmetries the key is the smallest hash over them, and priors stand in the order of the
// transformed actions, so that all mirror images share an entry. Without, the order is that of the
// legal actions.
template <Game G>
class CacheKey {
 public:
  // Where positions are costly to transform, the key is that of the position as it stands; see
  // `widen`.
  void make(const G& game, const typename G::State& state, std::span<const Action> actions,
            const SearchOptions& options) {
    direct_.reset();
    order_.clear();
    if constexpr (kSeen) {
      key_ = game.hash(state);
    } else {
      make_of_images(game, state, actions, options);
    }
  }
  // After a look for the position as it stands: a key that its images share, if there are any,
  // made of what a network sees of them. False if there is nothing more to look for.
  bool widen(const G& game, const typename G::State& state, std::span<const Action> actions) {
    if constexpr (kSeen) {
      int best = 0;
      const auto key = game.image_key(state, actions, best);
      if (!key) return false;
      direct_ = this->key();
      key_ = *key;
      sort_actions(game, actions, best);
      return true;
    }
    return false;
  }

  // Whether positions with this key and the same actions have them in the same order.
  bool untransformed() const { return order_.empty(); }
  // A key for the bucket: hashes of small games are spread once more.
  std::uint64_t key() const { return mix64(key_ + 0x9E3779B97F4A7C15ull); }

  bool find(EvaluationCache& cache, std::vector<std::uint16_t>& priors, CachedEvaluation& out) {
    if (order_.empty()) return cache.find(key(), priors, out);
    kept_.resize(priors.size());
    if (!cache.find(key(), kept_, out)) return false;
    for (std::size_t i = 0; i < kept_.size(); ++i) priors[order_[i] & 0xFFFF] = kept_[i];
    if (direct_) cache.insert(*direct_, priors, out);
    return true;
  }
  void insert(EvaluationCache& cache, std::span<const std::uint16_t> priors,
              CachedEvaluation value) {
    if (order_.empty()) return cache.insert(key(), priors, value);
    kept_.resize(priors.size());
    for (std::size_t i = 0; i < kept_.size(); ++i) kept_[i] = priors[order_[i] & 0xFFFF];
    cache.insert(key(), kept_, value);
    if (direct_) cache.insert(*direct_, priors, value);
  }

 private:
  void make_of_images(const G& game, const typename G::State& state,
                      std::span<const Action> actions, const SearchOptions& options) {
    const auto hash_of = [&](const typename G::State& s) {
      if constexpr (requires { game.clockless_hash(s); }) {
        if (!options.cache_clock) return game.clockless_hash(s);
      }
      return game.hash(s);
    };
    bool symmetry = options.cache_symmetry;
    key_ = hash_of(state);
    if constexpr (requires { game.history_hash(state); }) {
      const std::uint64_t past = options.cache_history ? game.history_hash(state) : 0;
      key_ ^= past;
      symmetry = symmetry && past == 0;  // the past is not mirrored along
    }
    const int symmetries = symmetry ? game.num_symmetries(state) : 1;
    if (symmetries == 1) return;
    int best = 0;
    for (int k = 1; k < symmetries; ++k) {
      const std::uint64_t hash = hash_of(game.transform(state, k));
      if (hash < key_) {
        key_ = hash;
        best = k;
      }
    }
    sort_actions(game, actions, best);
  }

  void sort_actions(const G& game, std::span<const Action> actions, int symmetry) {
    order_.resize(actions.size());
    for (std::size_t i = 0; i < actions.size(); ++i) {
      order_[i] = std::uint32_t{game.transform_action(actions[i], symmetry)} << 16 |
                  static_cast<std::uint32_t>(i);
    }
    std::sort(order_.begin(), order_.end());
  }

  // Whether keys of images are made of what a network sees of them.
  static constexpr bool kSeen =
      requires(const G& game, const typename G::State& state, std::span<const Action> actions,
               int symmetry) { game.image_key(state, actions, symmetry); };

  std::optional<std::uint64_t> direct_;  // of the position as it stands, where `key_` is another
  std::uint64_t key_ = 0;
  std::vector<std::uint32_t> order_;  // transformed action << 16 | index; empty: as they are
  std::vector<std::uint16_t> kept_;
};

}  // namespace zermelo

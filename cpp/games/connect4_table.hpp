// The solver's transposition table: exact bounds of a position's score, in a fixed amount of
// memory. One owner, not thread-safe. It knows keys and bounds, no game.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "games/connect4_bits.hpp"
#include "games/text.hpp"

namespace zermelo::connect4 {

struct Bounds {
  int lower;
  int upper;
};

// Buckets of eight entries, one cache line each. The key is scrambled one-to-one; its low bits
// choose the bucket and all others stand in the entry, so an entry is never another position's.
class Table {
 public:
  static constexpr int kMaxMib = 1 << 16;

  // The largest power of two of bytes that fits into `mib`.
  explicit Table(int mib) {
    if (mib < 1 || mib > kMaxMib) {
      fail("the solver's table must have from 1 to ", kMaxMib, " MiB, not ", mib);
    }
    bucket_bits_ = std::bit_width((std::uint64_t{1} << 20) / sizeof(Bucket) * mib) - 1;
    buckets_.reset(allocate(num_buckets()));
    clear();
  }

  void clear() { std::uninitialized_fill_n(buckets_.get(), num_buckets(), Bucket{}); }

  // Where the bounds of a position belong; made once per position, for all calls below.
  struct Place {
    std::uint64_t bucket;
    std::uint64_t tag;
  };
  Place place(Bits key) const {
    const std::uint64_t mixed = scramble(key);
    return {mixed & (num_buckets() - 1), (mixed >> bucket_bits_) << kTagShift};
  }

  void prefetch(const Place& place) const { __builtin_prefetch(&buckets_[place.bucket]); }

  // False if nothing is known; then `bounds` stays as it is.
  bool find(const Place& place, Bounds& bounds) const {
    for (const std::uint64_t entry : buckets_[place.bucket].entries) {
      if ((entry & kTagMask) == place.tag && entry_work(entry) != 0) {
        bounds = entry_bounds(entry);
        return true;
      }
    }
    return false;
  }

  // `work` is the number of nodes that the bounds cost: the cheapest entry makes room.
  void store(const Place& place, Bounds bounds, std::uint64_t work) {
    auto& entries = buckets_[place.bucket].entries;
    const auto effort = static_cast<std::uint64_t>(std::bit_width(work | 1));
    std::size_t cheapest = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if ((entries[i] & kTagMask) == place.tag) {
        cheapest = i;
        break;
      }
      if (entry_work(entries[i]) < entry_work(entries[cheapest])) cheapest = i;
    }
    entries[cheapest] = place.tag | effort << 12 |
                        static_cast<std::uint64_t>(bounds.upper + kBias) << 6 |
                        static_cast<std::uint64_t>(bounds.lower + kBias);
  }

 private:
  // Bits 0-5 lower bound + kBias, 6-11 upper bound + kBias, 12-17 work (0 = empty), 18-63 tag.
  static constexpr int kTagShift = 18;
  static constexpr std::uint64_t kTagMask = ~((std::uint64_t{1} << kTagShift) - 1);
  static constexpr int kBias = 32;
  static constexpr std::size_t kPageBytes = std::size_t{2} << 20;

  struct alignas(64) Bucket {
    std::array<std::uint64_t, 8> entries{};
  };

  static std::uint64_t entry_work(std::uint64_t entry) { return entry >> 12 & 63; }
  static Bounds entry_bounds(std::uint64_t entry) {
    return {static_cast<int>(entry & 63) - kBias, static_cast<int>(entry >> 6 & 63) - kBias};
  }

  // A bijection of kKeyBits-bit numbers: odd multiplications and shifted xors.
  static constexpr std::uint64_t scramble(std::uint64_t key) {
    constexpr std::uint64_t mask = (std::uint64_t{1} << kKeyBits) - 1;
    key = key * 0x9E3779B97F4A7C15ull & mask;
    key ^= key >> 25;
    key = key * 0xBF58476D1CE4E5B9ull & mask;
    return key ^ key >> 24;
  }

  // Random access to many small pages would mostly wait for address translation.
  static Bucket* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(Bucket);
    void* memory = ::operator new(bytes, std::align_val_t{kPageBytes});
#ifdef __linux__
    madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: without it everything works, more slowly
#endif
    return static_cast<Bucket*>(memory);
  }
  struct Release {
    void operator()(Bucket* buckets) const {
      ::operator delete(static_cast<void*>(buckets), std::align_val_t{kPageBytes});
    }
  };

  std::size_t num_buckets() const { return std::size_t{1} << bucket_bits_; }

  int bucket_bits_;
  std::unique_ptr<Bucket[], Release> buckets_;
};

}  // namespace zermelo::connect4

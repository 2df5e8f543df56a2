// Memory for trees: blocks of whole units addressed by 32-bit indices, in segments that never move.
//
// An Arena hands out regions; each searching thread cuts blocks from its own Allocator, which keeps
// a short list of freed blocks per size, so the hot loop rarely takes a lock and calls no malloc.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace zermelo {

// Index 0 means "none".
using BlockIndex = std::uint32_t;

template <std::size_t UnitBytes>
class Arena {
 public:
  static constexpr std::size_t kSegmentBytes = std::size_t{1} << 21;
  static constexpr std::size_t kSegmentUnits = kSegmentBytes / UnitBytes;
  static constexpr std::size_t kMaxSegments = (std::size_t{1} << 32) / kSegmentUnits;

  // Behind every segment of an annexed arena lies another of the same size, so that each unit has a
  // second one at a fixed distance (annex_of in node.hpp).
  explicit Arena(bool annexed = false)
      : segment_bytes_(kSegmentBytes * (annexed ? 2 : 1)),
        table_(static_cast<std::atomic<std::byte*>*>(std::calloc(kMaxSegments, sizeof(void*)))) {
    if (!table_) throw std::bad_alloc();
  }
  ~Arena() {
    for (std::size_t i = 0; i < segments_; ++i) std::free(table_[i].load());
    std::free(static_cast<void*>(table_));
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  std::byte* at(BlockIndex index) const {
    return table_[index / kSegmentUnits].load(std::memory_order_relaxed) +
           index % kSegmentUnits * UnitBytes;
  }

  // Thread-safe. `units` contiguous units, at most a segment; unit 0 is never handed out.
  BlockIndex region(std::size_t units) {
    const std::lock_guard lock(mutex_);
    if (segments_ == 0 || used_ + units > kSegmentUnits) next_segment();
    const std::size_t index = current_ * kSegmentUnits + used_;
    used_ += units;
    return static_cast<BlockIndex>(index);
  }

  // Thread-safe. Freed blocks of one size, chained through their first word: threads give them back
  // here and take some at a time, so that what one thread frees serves all.
  void give(std::size_t list, BlockIndex block) {
    const std::lock_guard lock(mutex_);
    if (list >= free_.size()) free_.resize(list + 1, 0);
    next_free(block) = free_[list];
    free_[list] = block;
  }
  // A chain of at most `most` blocks, 0 when there is none.
  BlockIndex take(std::size_t list, int most) {
    const std::lock_guard lock(mutex_);
    if (list >= free_.size() || free_[list] == 0) return 0;
    const BlockIndex first = free_[list];
    BlockIndex last = first;
    for (int i = 1; i < most && next_free(last) != 0; ++i) last = next_free(last);
    free_[list] = next_free(last);
    next_free(last) = 0;
    return first;
  }
  BlockIndex& next_free(BlockIndex block) const {
    return *reinterpret_cast<BlockIndex*>(at(block));
  }

  // Takes everything back at once; no block may be in use. A little memory is kept, the rest goes
  // back to the system.
  void reset() {
    const std::lock_guard lock(mutex_);
    while (segments_ > kKeptSegments) std::free(table_[--segments_].exchange(nullptr));
    free_.clear();
    current_ = 0;
    used_ = kFirstUnits;
  }

  std::size_t reserved_bytes() const {
    const std::lock_guard lock(mutex_);
    return segments_ * segment_bytes_;
  }

 private:
  static constexpr std::size_t kKeptSegments = 16;
  static constexpr std::size_t kFirstUnits = 64 / UnitBytes;  // chunks stay aligned to cache lines

  void next_segment() {
    const bool first = segments_ == 0;
    if (first || current_ + 1 == segments_) add_segment();
    current_ = first ? 0 : current_ + 1;
    used_ = first ? kFirstUnits : 0;
  }

  void add_segment() {
    if (segments_ == kMaxSegments) throw std::bad_alloc();
    void* memory = std::aligned_alloc(kSegmentBytes, segment_bytes_);
    if (!memory) throw std::bad_alloc();
#if defined(__linux__)
    // Large trees are walked at random: huge pages save most of the address translation. The first
    // segment stays in small pages, so that small trees stay small.
    if (segments_ > 0) madvise(memory, segment_bytes_, MADV_HUGEPAGE);
#endif
    table_[segments_].store(static_cast<std::byte*>(memory), std::memory_order_release);
    ++segments_;
  }

  const std::size_t segment_bytes_;
  mutable std::mutex mutex_;  // guards the four below
  std::vector<BlockIndex> free_;
  std::size_t segments_ = 0;
  std::size_t current_ = 0;               // the segment that regions are cut from
  std::size_t used_ = 0;                  // its units that are cut off
  std::atomic<std::byte*>* const table_;  // entries are written once
};

// One thread's share of an arena. Not thread-safe.
template <std::size_t UnitBytes>
class Allocator {
 public:
  explicit Allocator(Arena<UnitBytes>& arena) : arena_(&arena) {}

  BlockIndex allocate(std::size_t units) {
    use(static_cast<std::int64_t>(units));
    const std::size_t list = list_of(units);
    if (list >= free_.size()) free_.resize(list + 1, 0);
    const std::size_t rounded = rounded_units(units);
    if (free_[list] == 0 && left_ < rounded) free_[list] = arena_->take(list, kTake);
    if (free_[list] != 0) {
      const BlockIndex block = free_[list];
      free_[list] = arena_->next_free(block);
      return block;
    }
    if (left_ < rounded) {
      // What is left of the region stays unused; it is less than one block.
      const std::size_t region = rounded > kRegionUnits ? rounded : kRegionUnits;
      next_ = arena_->region(region);
      left_ = region;
    }
    const BlockIndex block = next_;
    next_ += static_cast<BlockIndex>(rounded);
    left_ -= rounded;
    return block;
  }

  void free(BlockIndex block, std::size_t units) {
    use(-static_cast<std::int64_t>(units));
    arena_->give(list_of(units), block);
  }

  // After the arena's reset().
  void reset() {
    free_.clear();
    next_ = 0;
    left_ = 0;
    used_units_.store(0, std::memory_order_relaxed);
  }

  // Bytes of blocks that are in use; any thread may ask. Frees may be booked on another allocator
  // of the arena, so it can be negative.
  std::int64_t used_bytes() const {
    return used_units_.load(std::memory_order_relaxed) * static_cast<std::int64_t>(UnitBytes);
  }

 private:
  static constexpr std::size_t kRegionUnits = (std::size_t{1} << 16) / UnitBytes;
  static constexpr int kTake = 64;
  static constexpr std::size_t kExact = 128;  // larger blocks are rounded up to powers of two

  void use(std::int64_t units) {
    used_units_.store(used_units_.load(std::memory_order_relaxed) + units,
                      std::memory_order_relaxed);
  }
  static std::size_t rounded_units(std::size_t units) {
    if (units <= kExact) return units;
    std::size_t rounded = kExact;
    while (rounded < units) rounded *= 2;
    return rounded;
  }
  static std::size_t list_of(std::size_t units) {
    if (units <= kExact) return units;
    std::size_t list = kExact;
    for (std::size_t rounded = kExact; rounded < units; rounded *= 2) ++list;
    return list;
  }

  Arena<UnitBytes>* arena_;
  BlockIndex next_ = 0;
  std::size_t left_ = 0;
  std::atomic<std::int64_t> used_units_{0};  // written by the owner only
  std::vector<BlockIndex> free_;
};

}  // namespace zermelo

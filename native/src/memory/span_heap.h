#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lava {

inline constexpr size_t kMemoryPageBytes = 4096;
inline constexpr size_t kHugePageBytes = size_t{2} << 20;

/// A run of pages of a range that is allocated or free as one. Its facts stand at its first page,
/// and at its last those that its neighbour behind asks for.
struct Span {
  enum class State : uint8_t {
    kNone,  // a page inside of a span
    kUsed,
    kSlots,     // used, and cut into slots (SlotHeap)
    kResident,  // free, with its pages
    kReturned,  // free, its pages given back to the system: they read as zero
  };
  Span* previous = nullptr;  // in a list
  Span* next = nullptr;
  uint32_t pages = 0;
  uint32_t first_page = 0;  // of a page of slots: where its span begins in the range
  uint16_t free_slots = 0;  // a bit for each
  uint8_t slot_class = 0;
  State state = State::kNone;
};

/// A list of spans that allocates nothing.
class SpanList {
 public:
  bool empty() const { return first_ == nullptr; }
  Span* first() const { return first_; }
  void Push(Span* span);
  void Remove(Span* span);

 private:
  Span* first_ = nullptr;
};

/// Addresses of kRangeBytes, at a multiple of that, which are cut into spans; the facts of spans
/// stand at its beginning. A range is of small pages or of huge ones, of which a span is one.
struct Range {
  static constexpr size_t kBytes = size_t{64} << 20;
  static constexpr size_t kPages = kBytes / kMemoryPageBytes;

  static Range* Of(const void* memory) {
    return reinterpret_cast<Range*>(reinterpret_cast<uintptr_t>(memory) & ~uintptr_t{kBytes - 1});
  }
  Span* SpanAt(const void* memory) {
    return &spans[(reinterpret_cast<uintptr_t>(memory) & (kBytes - 1)) / kMemoryPageBytes];
  }
  char* MemoryOf(const Span* span) {
    return reinterpret_cast<char*>(this) +
           static_cast<size_t>(span - spans.data()) * kMemoryPageBytes;
  }

  Range* next;  // of its heap
  std::array<Span, kPages> spans;
};

/// Spans of pages from ranges that it reserves: allocated, freed and joined with free neighbours.
/// It does not itself give pages back. A resident span goes before a returned one, a small one
/// before a large one.
/// Threads:    the caller holds a lock. Allocates nothing from malloc.
/// Ownership:  all memory until destruction.
class SpanHeap {
 public:
  /// Of one span. What is larger is mapped by itself.
  static constexpr size_t kSpanBytesMax = size_t{16} << 20;
  static constexpr uint32_t kSpanPagesMax = kSpanBytesMax / kMemoryPageBytes;

  constexpr SpanHeap() = default;
  ~SpanHeap();
  SpanHeap(const SpanHeap&) = delete;
  SpanHeap& operator=(const SpanHeap&) = delete;

  /// Used then. state: what it was before. Null when the system has no addresses left.
  Span* Take(uint32_t pages, Span::State* state);
  /// Says of each page of a used span that the span is cut into slots. Under the caller's lock, as
  /// neighbours look at the span's ends.
  static void MarkSlots(Span* span);
  /// Used by nobody now: joined with its neighbours of the same state.
  void Put(Span* span, Span::State state);
  /// The largest resident span, used then, or so many pages of it; null if there is none.
  Span* TakeLargestResident(uint32_t pages_max);

  /// The same for huge pages, each at a multiple of its size.
  Span* TakeHuge(Span::State* state);
  void PutHuge(Span* span, Span::State state);
  Span* TakeResidentHuge();

  static char* MemoryOf(Span* span) { return Range::Of(span)->MemoryOf(span); }
  uint64_t reserved_bytes() const { return ranges_count_ * Range::kBytes; }

 private:
  static constexpr size_t kExactBins = 64, kBins = kExactBins + 32;
  static constexpr int kLookedAtMax = 16;
  class FreeSpans {
   public:
    void Insert(Span* span);
    void Remove(Span* span);
    Span* Find(uint32_t pages) const;
    Span* Largest() const;

   private:
    static size_t BinOf(uint32_t pages);
    std::array<SpanList, kBins> bins_{};
    std::array<uint64_t, 2> filled_{};  // a bit for each bin
  };

  FreeSpans* FreeOf(Span::State state) {
    return state == Span::State::kResident ? &resident_ : &returned_;
  }
  static void Mark(Span* span, uint32_t pages, Span::State state);
  bool AddRange();
  bool AddHugeRange();
  void Own(Range* range);

  FreeSpans resident_, returned_;
  SpanList huge_resident_, huge_returned_;
  Range* ranges_ = nullptr;
  uint64_t ranges_count_ = 0;
};

/// Whether memory lies in a range of any heap, or was mapped by MapOwned().
bool IsOwnedMemory(const void* memory);
/// Bytes mapped by themselves, page-aligned; null when the system has none.
char* MapOwned(size_t bytes);
/// How many bytes it has, in whole pages.
size_t OwnedBytes(const char* memory);
void UnmapOwned(char* memory);
/// Whether it begins a map of its own rather than a span.
inline bool IsMappedByItself(const void* memory) {
  const auto offset = reinterpret_cast<uintptr_t>(memory) & (Range::kBytes - 1);
  return offset == kMemoryPageBytes;  // where a range has its facts
}

/// A map of zeroes; null when the system has none. Aligned to a huge page's size or a range's.
char* MapMemory(size_t bytes, size_t alignment, bool huge);
/// False when the system could not, as when it has no more maps: then all is as before.
bool UnmapMemory(char* memory, size_t bytes);
bool GiveBackMemory(char* memory, size_t bytes);

}  // namespace lava

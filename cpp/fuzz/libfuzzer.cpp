// One target for libFuzzer; which one, the build says.
#include "fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  zermelo::fuzz::ZERMELO_FUZZ_TARGET({data, size});
  return 0;
}

// What the core says no to: input of a person or a file that it cannot take. The message is one
// sentence for the person. Python knows it as RefusedError. A call that a correct program never
// makes, and what must not happen, are other exceptions.
#pragma once

#include <stdexcept>

namespace zermelo {

class Refused : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

}  // namespace zermelo

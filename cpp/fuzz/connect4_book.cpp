#include <unistd.h>

#include <cstdio>
#include <memory>

#include "base/archive.hpp"
#include "base/refused.hpp"
#include "fuzz/targets.hpp"
#include "games/connect4_book.hpp"

namespace zermelo::fuzz {

void connect4_book(Bytes bytes) {
  WriteArchive archive;
  archive.bytes.assign(bytes.begin(), bytes.end());
  const std::string data = sealed(std::move(archive));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  must(file && std::fwrite(data.data(), 1, data.size(), file.get()) == data.size() &&
           std::fflush(file.get()) == 0,
       "there is room for a temporary file");
  try {
    const auto book = connect4::Book::load("/proc/self/fd/" + std::to_string(fileno(file.get())));
    connect4::Board board;
    must(book.size() <= data.size() / 8, "an entry has eight bytes");
    book.find(board);
  } catch (const Refused&) {
  }
}

}  // namespace zermelo::fuzz

// The functions of libthunder that the backend calls. They are looked up at run time in
// the library that the Python package has loaded.
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "thunder.h"

namespace thunder {

struct Library {
  decltype(&thunder_run) run;
  decltype(&thunder_start) start;
  decltype(&thunder_split) split;
  decltype(&thunder_rank) rank;
  decltype(&thunder_size) size;
  decltype(&thunder_abort) abort;
  decltype(&thunder_close) close;
  decltype(&thunder_last_error) last_error;

  explicit Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW)) {
    if (handle_ == nullptr) {
      throw std::runtime_error("thunder: " + std::string(dlerror()));
    }
    find(run, "thunder_run");
    find(start, "thunder_start");
    find(split, "thunder_split");
    find(rank, "thunder_rank");
    find(size, "thunder_size");
    find(abort, "thunder_abort");
    find(close, "thunder_close");
    find(last_error, "thunder_last_error");
  }

 private:
  template <typename F>
  void find(F& f, const char* name) {
    f = reinterpret_cast<F>(dlsym(handle_, name));
    if (f == nullptr) {
      throw std::runtime_error("thunder: the library has no " + std::string(name));
    }
  }

  void* handle_; // never closed: a Go library cannot be unloaded
};

} // namespace thunder

// The Python module of the backend.
#include <pybind11/chrono.h>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/utils/pybind.h>

#include "backend.hpp"

#include <algorithm>

// Not in backend.cpp, because it calls Python, which makes the groups.
c10::intrusive_ptr<c10d::Backend> thunder::Backend::split(
    const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks, const c10::intrusive_ptr<Options>& opts) {
  auto mine = std::find(ranks.begin(), ranks.end(), rank_);
  if (mine == ranks.end()) {
    return nullptr;
  }
  pybind11::gil_scoped_acquire gil;
  auto make = pybind11::module_::import("thundercollective.torch._register").attr("make");
  auto made = make(store, static_cast<int>(mine - ranks.begin()), static_cast<int>(ranks.size()), opts ? opts->timeout : timeout_);
  return made.cast<c10::intrusive_ptr<c10d::Backend>>();
}

PYBIND11_MODULE(THUNDER_MODULE, m) {
  m.def(
      "create",
      [](const std::string& library, uint64_t comm, std::chrono::milliseconds timeout) -> c10::intrusive_ptr<c10d::Backend> {
        return c10::make_intrusive<thunder::Backend>(std::make_shared<thunder::Library>(library), comm, timeout);
      },
      pybind11::arg("library"), pybind11::arg("comm"), pybind11::arg("timeout"));
}

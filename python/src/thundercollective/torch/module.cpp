// What Python sees of the backend.
#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>

#include "backend.hpp"

PYBIND11_MODULE(THUNDER_MODULE, m) {
  m.def(
      "create",
      [](const std::string& library, uint64_t comm, std::chrono::milliseconds timeout) -> c10::intrusive_ptr<c10d::Backend> {
        return c10::make_intrusive<thunder::Backend>(std::make_shared<thunder::Library>(library), comm, timeout);
      },
      pybind11::arg("library"), pybind11::arg("comm"), pybind11::arg("timeout"));
}

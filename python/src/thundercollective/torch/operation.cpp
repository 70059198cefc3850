#include "operation.hpp"

#include <Python.h>

#include <pybind11/pybind11.h>

namespace thunder {

void raise(int code, const std::string& text) {
  switch (code) {
    case THUNDER_INVALID:
      C10_THROW_ERROR(ValueError, text);
    case THUNDER_PEER_LOST:
      C10_THROW_ERROR(DistNetworkError, text);
    default:
      C10_THROW_ERROR(DistBackendError, text);
  }
}

Operation::Operation(std::shared_ptr<Library> lib, thunder_comm comm, int rank, c10d::OpType type, uint64_t number)
    : Work(rank, type), lib_(std::move(lib)), comm_(comm), number_(number) {}

at::Tensor Operation::hold(at::Tensor t) {
  held_.push_back(t);
  return t;
}

thunder_request& Operation::add(int kind, int dtype) {
  thunder_request r{};
  r.struct_size = sizeof r;
  r.kind = kind;
  r.dtype = dtype;
  requests_.push_back(r);
  return requests_.back();
}

const int64_t* Operation::keep(std::vector<int64_t> counts) {
  counts_.push_back(std::make_unique<std::vector<int64_t>>(std::move(counts)));
  return counts_.back()->data();
}

void Operation::set_timeout(std::chrono::milliseconds timeout) {
  for (auto& r : requests_) {
    r.timeout_ms = timeout.count();
  }
}

void Operation::run() {
  left_ = 1;
  for (const auto& r : requests_) {
    if (int code = lib_->run(comm_, &r); code != THUNDER_OK) {
      count_down(code, lib_->last_error());
      return;
    }
  }
  count_down(THUNDER_OK, "");
}

void Operation::start() {
  left_ = requests_.size() + 1; // the extra one is removed below, when all have started
  for (const auto& r : requests_) {
    c10::raw::intrusive_ptr::incref(this); // released by request_done
    if (int code = lib_->start(comm_, &r, request_done, this, nullptr); code != THUNDER_OK) {
      request_done(this, code, lib_->last_error());
    }
  }
  count_down(THUNDER_OK, "");
}

void Operation::request_done(void* self, int code, const char* text) {
  auto op = c10::intrusive_ptr<Operation>::reclaim(static_cast<Operation*>(self));
  op->count_down(code, text == nullptr ? "" : text);
}

void Operation::count_down(int code, const std::string& text) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (code != THUNDER_OK && code_ == THUNDER_OK) {
      code_ = code;
      text_ = text;
    }
    if (--left_ > 0) {
      return;
    }
  }
  complete(); // only the last request gets here
}

void Operation::complete() {
  if (code_ == THUNDER_OK) {
    try {
      at::NoGradGuard no_grad;
      for (const auto& f : after_) {
        f();
      }
    } catch (const std::exception& e) {
      code_ = THUNDER_ERROR;
      text_ = e.what();
    }
  }
  after_.clear();
  held_.clear();
  c10::intrusive_ptr<c10::ivalue::Future> future;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    completed_ = true;
    exception_ = failure();
    future = future_;
  }
  cv_.notify_all();
  if (future) {
    if (exception_) {
      future->setError(exception_);
    } else {
      future->markCompleted(c10::IValue(outputs_));
    }
  }
}

std::exception_ptr Operation::failure() const {
  if (code_ == THUNDER_OK) {
    return nullptr;
  }
  try {
    raise(code_, text_);
  } catch (...) {
    return std::current_exception();
  }
}

bool Operation::isCompleted() {
  std::lock_guard<std::mutex> lock(mutex_);
  return completed_;
}

bool Operation::isSuccess() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return completed_ && !exception_;
}

bool Operation::wait(std::chrono::milliseconds timeout) {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds slice(100); // between checks for Ctrl-C
  const bool bounded = timeout > std::chrono::milliseconds(0);
  const auto deadline = bounded ? clock::now() + timeout : clock::time_point::max();
  std::unique_lock<std::mutex> lock(mutex_);
  while (!cv_.wait_until(lock, std::min(deadline, clock::now() + slice), [this] { return completed_; })) {
    lock.unlock();
    TORCH_CHECK_WITH(
        DistBackendError, clock::now() < deadline, "thunder: ", c10d::opTypeToString(opType_),
        " was not done after ", timeout.count(), " ms of waiting");
    check_signals();
    lock.lock();
  }
  lock.unlock();
  if (exception_) {
    if (code_ == THUNDER_ABORTED) {
      check_signals(); // Ctrl-C may have ended it
    }
    std::rethrow_exception(exception_);
  }
  return true;
}

// Runs Python's signal handlers, as the interpreter does between bytecodes. If one raises,
// the exception may only propagate when the buffers are no longer in use.
void Operation::check_signals() {
  if (!Py_IsInitialized()) {
    return;
  }
  pybind11::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() == 0) {
    return;
  }
  pybind11::error_already_set raised;
  {
    pybind11::gil_scoped_release no_gil;
    lib_->abort(comm_, "interrupted (Ctrl-C)");
    std::unique_lock<std::mutex> lock(mutex_);
    cv_.wait(lock, [this] { return completed_; });
  }
  throw raised;
}

void Operation::abort() {
  lib_->abort(comm_, "an operation was aborted");
}

c10::intrusive_ptr<c10::ivalue::Future> Operation::getFuture() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!future_) {
    future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
    if (completed_ && exception_) {
      future_->setError(exception_);
    } else if (completed_) {
      future_->markCompleted(c10::IValue(outputs_));
    }
  }
  return future_;
}

} // namespace thunder

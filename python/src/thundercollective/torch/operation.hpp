// A running operation of torch.distributed.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "library.hpp"

namespace thunder {

// Throws PyTorch's exception for a code of thunder.h.
[[noreturn]] void raise(int code, const std::string& text);

// One or more requests that form one operation, which is done when all of them are. It
// holds the tensors whose memory they use.
class Operation : public c10d::Work {
 public:
  Operation(std::shared_ptr<Library> lib, thunder_comm comm, int rank, c10d::OpType type, uint64_t number);

  // Keeps a tensor alive until the operation is done.
  at::Tensor hold(at::Tensor t);
  // Adds a tensor to those that the future and result() return.
  void add_output(at::Tensor t) { outputs_.push_back(std::move(t)); }
  // Adds a function to call when all requests have succeeded, such as a copy from a
  // contiguous tensor.
  void afterwards(std::function<void()> f) { after_.push_back(std::move(f)); }
  // Adds a request. keep stores the counts of a request.
  thunder_request& add(int kind, int dtype = 0);
  const int64_t* keep(std::vector<int64_t> counts);

  // Sets the timeout of all requests added so far.
  void set_timeout(std::chrono::milliseconds timeout);
  // Runs the requests and waits for them, or starts them. wait throws their errors.
  void run();
  void start();

  bool isCompleted() override;
  bool isSuccess() const override;
  bool wait(std::chrono::milliseconds timeout) override;
  void synchronize() override {}
  void abort() override;
  std::vector<at::Tensor> result() override { return outputs_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  uint64_t getSequencenumber() const override { return number_; }

 private:
  static void request_done(void* self, int code, const char* text);
  void count_down(int code, const std::string& text);
  void complete();
  std::exception_ptr failure() const;
  void check_signals();

  std::shared_ptr<Library> lib_;
  const thunder_comm comm_;
  const uint64_t number_;
  std::vector<thunder_request> requests_;
  std::vector<std::unique_ptr<std::vector<int64_t>>> counts_;
  std::vector<at::Tensor> held_;
  std::vector<at::Tensor> outputs_;
  std::vector<std::function<void()>> after_;

  // Protected by mutex_ of the base class.
  size_t left_ = 0; // requests that are not done
  int code_ = THUNDER_OK; // the first failure
  std::string text_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

} // namespace thunder

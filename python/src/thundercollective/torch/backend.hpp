// The backend "thunder" of torch.distributed. It turns each operation into requests of
// libthunder on the memory of the tensors.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <atomic>

#include "operation.hpp"

namespace thunder {

class Backend : public c10d::Backend {
 public:
  Backend(std::shared_ptr<Library> lib, thunder_comm comm, std::chrono::milliseconds timeout);
  ~Backend() override;

  using Tensors = std::vector<at::Tensor>;
  using WorkPtr = c10::intrusive_ptr<c10d::Work>;

  const std::string getBackendName() const override { return "thunder"; }
  c10::intrusive_ptr<Options> getBackendOptions() override;
  uint64_t getSequenceNumberForGroup() override { return number_; }
  void setSequenceNumberForGroup() override {} // starts at 0 on all ranks
  void setTimeout(std::chrono::milliseconds timeout) override { timeout_ = timeout; }
  void abort() override { lib_->abort(comm_, "the process group was aborted"); }
  void shutdown() override { close(); }
  void close();

  bool supportsSplitting() const override { return true; }
  // Makes a group of some of the ranks, which join through the store as for any group.
  c10::intrusive_ptr<c10d::Backend> split(
      const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks, const c10::intrusive_ptr<Options>& opts) override;

  bool supportsCoalescing() const override { return true; }
  void startCoalescing() override;
  WorkPtr endCoalescing() override;

  WorkPtr allreduce(Tensors&, const c10d::AllreduceOptions&) override;
  WorkPtr allreduce_coalesced(Tensors&, const c10d::AllreduceCoalescedOptions&) override;
  WorkPtr reduce(Tensors&, const c10d::ReduceOptions&) override;
  WorkPtr broadcast(Tensors&, const c10d::BroadcastOptions&) override;
  WorkPtr allgather(std::vector<Tensors>&, Tensors&, const c10d::AllgatherOptions&) override;
  WorkPtr allgather_coalesced(std::vector<Tensors>&, Tensors&, const c10d::AllgatherOptions&) override;
  WorkPtr _allgather_base(at::Tensor&, at::Tensor&, const c10d::AllgatherOptions&) override;
  WorkPtr allgather_into_tensor_coalesced(Tensors&, Tensors&, const c10d::AllgatherOptions&) override;
  WorkPtr reduce_scatter(Tensors&, std::vector<Tensors>&, const c10d::ReduceScatterOptions&) override;
  WorkPtr _reduce_scatter_base(at::Tensor&, at::Tensor&, const c10d::ReduceScatterOptions&) override;
  WorkPtr reduce_scatter_tensor_coalesced(Tensors&, Tensors&, const c10d::ReduceScatterOptions&) override;
  WorkPtr gather(std::vector<Tensors>&, Tensors&, const c10d::GatherOptions&) override;
  WorkPtr scatter(Tensors&, std::vector<Tensors>&, const c10d::ScatterOptions&) override;
  WorkPtr alltoall(Tensors&, Tensors&, const c10d::AllToAllOptions&) override;
  WorkPtr alltoall_base(at::Tensor&, at::Tensor&, std::vector<int64_t>&, std::vector<int64_t>&, const c10d::AllToAllOptions&) override;
  WorkPtr send(Tensors&, int to, int tag) override;
  WorkPtr recv(Tensors&, int from, int tag) override;
  WorkPtr recvAnysource(Tensors&, int tag) override;
  WorkPtr barrier(const c10d::BarrierOptions&) override;
  void monitoredBarrier(const c10d::BarrierOptions&, bool wait_all_ranks) override;

 private:
  c10::intrusive_ptr<Operation> begin(c10d::OpType type);
  // Each adds one request to an operation.
  void add_allreduce(Operation& op, const at::Tensor& t, const c10d::ReduceOp& how);
  void add_allgather(Operation& op, const Tensors& out, const at::Tensor& in);
  void add_allgather_into(Operation& op, const at::Tensor& out, const at::Tensor& in);
  void add_reduce_scatter(Operation& op, const at::Tensor& out, const at::Tensor& in, const c10d::ReduceOp& how);
  WorkPtr launch(c10::intrusive_ptr<Operation> op, std::chrono::milliseconds timeout, bool asynchronous);

  std::shared_ptr<Library> lib_;
  const thunder_comm comm_;
  const std::chrono::milliseconds initial_timeout_; // the one that the library was given
  std::chrono::milliseconds timeout_;
  std::atomic<uint64_t> number_{0};
  std::atomic<bool> closed_{false};
  c10::intrusive_ptr<Operation> coalesced_; // collects requests between start and end
};

} // namespace thunder

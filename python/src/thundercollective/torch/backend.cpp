#include "backend.hpp"

#include "memory.hpp"

namespace thunder {

using c10d::OpType;

Backend::Backend(std::shared_ptr<Library> lib, thunder_comm comm, std::chrono::milliseconds timeout)
    : c10d::Backend(lib->rank(comm), lib->size(comm)), lib_(std::move(lib)), comm_(comm), initial_timeout_(timeout), timeout_(timeout) {}

Backend::~Backend() { close(); }

void Backend::close() {
  if (!closed_.exchange(true)) {
    lib_->close(comm_);
  }
}

c10::intrusive_ptr<c10d::Backend::Options> Backend::getBackendOptions() {
  return c10::make_intrusive<Options>("thunder", timeout_);
}

c10::intrusive_ptr<Operation> Backend::begin(OpType type) {
  if (coalesced_) {
    return coalesced_;
  }
  return c10::make_intrusive<Operation>(lib_, comm_, rank_, type, ++number_);
}

Backend::WorkPtr Backend::launch(c10::intrusive_ptr<Operation> op, std::chrono::milliseconds timeout, bool asynchronous) {
  if (op == coalesced_) {
    return op; // endCoalescing starts it
  }
  if (timeout == c10d::kUnsetTimeout && timeout_ != initial_timeout_) {
    timeout = timeout_;
  }
  if (timeout != c10d::kUnsetTimeout) {
    op->set_timeout(timeout);
  }
  // If the caller waits at once, run it without a second thread: that makes small
  // operations fast.
  asynchronous ? op->start() : op->run();
  return op;
}

void Backend::startCoalescing() {
  TORCH_CHECK(!coalesced_, "thunder: coalescing has already started");
  coalesced_ = begin(OpType::COALESCED);
}

Backend::WorkPtr Backend::endCoalescing() {
  TORCH_CHECK(coalesced_, "thunder: coalescing has not started");
  auto op = std::move(coalesced_);
  coalesced_.reset();
  return launch(std::move(op), c10d::kUnsetTimeout, true);
}

void Backend::add_allreduce(Operation& op, const at::Tensor& t, const c10d::ReduceOp& how) {
  const int dtype = reduce_type(t, how), reduction = reduce_op(how);
  auto target = writable(op, t);
  auto input = summand(op, t, how);
  auto& r = op.add(THUNDER_ALL_REDUCE, dtype);
  r.op = reduction;
  receive_in(r, target);
  if (!input.is_same(target)) {
    send_from(r, input);
  }
  op.add_output(t);
}

Backend::WorkPtr Backend::allreduce(Tensors& tensors, const c10d::AllreduceOptions& opts) {
  auto op = begin(OpType::ALLREDUCE);
  add_allreduce(*op, only(tensors), opts.reduceOp);
  return launch(op, opts.timeout, opts.asyncOp);
}

Backend::WorkPtr Backend::allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& opts) {
  auto op = begin(OpType::ALLREDUCE_COALESCED);
  for (const auto& t : tensors) {
    check_tensor(t);
    add_allreduce(*op, t, opts.reduceOp);
  }
  return launch(op, opts.timeout, opts.asyncOp);
}

Backend::WorkPtr Backend::reduce(Tensors& tensors, const c10d::ReduceOptions& opts) {
  auto op = begin(OpType::REDUCE);
  const auto& t = only(tensors);
  const int dtype = reduce_type(t, opts.reduceOp), reduction = reduce_op(opts.reduceOp);
  auto input = summand(*op, t, opts.reduceOp);
  // In place on the input or its copy; the result is only on the root.
  auto& r = op->add(THUNDER_REDUCE, dtype);
  r.op = reduction;
  r.root = static_cast<int32_t>(opts.rootRank);
  receive_in(r, input);
  if (opts.rootRank == rank_ && !input.is_same(t)) {
    op->afterwards([t, input] { t.copy_(input); });
  }
  op->add_output(t);
  return launch(op, opts.timeout, opts.asyncOp);
}

Backend::WorkPtr Backend::broadcast(Tensors& tensors, const c10d::BroadcastOptions& opts) {
  auto op = begin(OpType::BROADCAST);
  const auto& t = only(tensors);
  auto memory = opts.rootRank == rank_ ? readable(*op, t) : writable(*op, t);
  auto& r = op->add(THUNDER_BROADCAST, move_type(t));
  r.root = static_cast<int32_t>(opts.rootRank);
  receive_in(r, memory);
  op->add_output(t);
  return launch(op, opts.timeout, opts.asyncOp);
}

void Backend::add_allgather(Operation& op, const Tensors& out, const at::Tensor& in) {
  TORCH_CHECK_VALUE(out.size() == static_cast<size_t>(size_), "thunder: all_gather into ", out.size(), " tensors on ", size_, " ranks");
  check_tensor(in);
  check_same_type(out[0], in);
  auto counts = lengths(out);
  auto input = readable(op, in);
  auto whole = unpacked(op, out);
  auto& r = op.add(THUNDER_ALL_GATHER, move_type(in));
  send_from(r, input);
  receive_in(r, whole);
  if (!all_equal(counts)) {
    r.varying = 1;
    r.recv_counts = op.keep(std::move(counts));
  }
  for (const auto& t : out) {
    op.add_output(t);
  }
}

Backend::WorkPtr Backend::allgather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) {
  TORCH_CHECK_VALUE(outputs.size() == 1, "thunder: all_gather of ", outputs.size(), " lists");
  auto op = begin(OpType::ALLGATHER);
  add_allgather(*op, outputs[0], only(inputs));
  return launch(op, opts.timeout, opts.asyncOp);
}

Backend::WorkPtr Backend::allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) {
  // The lists are by rank, each with one tensor per input.
  TORCH_CHECK_VALUE(outputs.size() == static_cast<size_t>(size_), "thunder: ", outputs.size(), " lists on ", size_, " ranks");
  auto op = begin(OpType::ALLGATHER_COALESCED);
  for (size_t i = 0; i < inputs.size(); i++) {
    Tensors out;
    for (const auto& list : outputs) {
      out.push_back(list.at(i));
    }
    add_allgather(*op, out, inputs[i]);
  }
  return launch(op, opts.timeout, opts.asyncOp);
}

void Backend::add_allgather_into(Operation& op, const at::Tensor& out, const at::Tensor& in) {
  check_tensor(in);
  check_same_type(out, in);
  auto input = readable(op, in);
  auto target = writable(op, out);
  auto& r = op.add(THUNDER_ALL_GATHER, move_type(in));
  send_from(r, input);
  receive_in(r, target);
  op.add_output(out);
}

// Returns whether two tensors share memory. Some callers gather into a buffer that already
// contains their own part.
static bool overlap(const at::Tensor& a, const at::Tensor& b) {
  auto first = static_cast<const char*>(a.const_data_ptr()), second = static_cast<const char*>(b.const_data_ptr());
  return a.nbytes() > 0 && b.nbytes() > 0 && first < second + b.nbytes() && second < first + a.nbytes();
}

Backend::WorkPtr Backend::_allgather_base(at::Tensor& out, at::Tensor& in, const c10d::AllgatherOptions& opts) {
  auto op = begin(OpType::_ALLGATHER_BASE);
  add_allgather_into(*op, out, overlap(out, in) ? in.clone() : in);
  return launch(op, opts.timeout, opts.asyncOp);
}

Backend::WorkPtr Backend::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs, const c10d::AllgatherOptions& opts) {
  TORCH_CHECK_VALUE(outputs.size() == inputs.size(), "thunder: ", outputs.size(), " outputs for ", inputs.size(), " inputs");
  auto op = begin(OpType::ALLGATHER_INTO_TENSOR_COALESCED);
  for (size_t i = 0; i < inputs.size(); i++) {
    add_allgather_into(*op, outputs[i], overlap(outputs[i], inputs[i]) ? inputs[i].clone() : inputs[i]);
  }
  return launch(op, opts.timeout, opts.asyncOp);
}

void Backend::add_reduce_scatter(Operation& op, const at::Tensor& out, const at::Tensor& in, const c10d::ReduceOp& how) {
  const int dtype = reduce_type(in, how), reduction = reduce_op(how);
  check_same_type(out, in);
  auto input = summand(op, overlap(out, in) ? in.clone() : in, how);
  auto target = writable(op, out);
  auto& r = op.add(THUNDER_REDUCE_SCATTER, dtype);
  r.op = reduction;
  send_from(r, input);
  receive_in(r, target);
  op.add_output(out);
}

Backend::WorkPtr Backend::reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ReduceScatterOptions& opts) {
  TORCH_CHECK_VALUE(
      inputs.size() == 1 && inputs[0].size() == static_cast<size_t>(size_), "thunder: reduce_scatter needs one input per rank");
  auto op = begin(OpType::REDUCE_SCATTER);
  const auto& out = only(outputs);
  const auto& in = inputs[0];
  check_same_type(out, in[rank_]);
  TORCH_CHECK_VALUE(out.numel() == in[rank_].numel(), "thunder: reduce_scatter of ", in[rank_].numel(), " elements into ", out.numel());
  if (all_equal(lengths(in))) {
    add_reduce_scatter(*op, out, packed(*op, in), opts.reduceOp);
    return launch(op, opts.timeout, opts.asyncOp);
  }
  const int dtype = reduce_type(out, opts.reduceOp), reduction = reduce_op(opts.reduceOp);
  for (int i = 0; i < size_; i++) {
    auto part = summand(*op, in[i], opts.reduceOp);
    if (part.is_same(in[i])) {
      part = op->hold(in[i].clone()); // the input must not change
    }
    auto& r = op->add(THUNDER_REDUCE, dtype);
    r.op = reduction;
    r.root = i;
    receive_in(r, part);
    if (i == rank_) {
      op->afterwards([out, part] { out.copy_(part.view(out.sizes())); });
    }
  }
  op->add_output(out);
  return launch(op, opts.timeout, opts.asyncOp);
}

Backend::WorkPtr Backend::_reduce_scatter_base(at::Tensor& out, at::Tensor& in, const c10d::ReduceScatterOptions& opts) {
  auto op = begin(OpType::_REDUCE_SCATTER_BASE);
  add_reduce_scatter(*op, out, in, opts.reduceOp);
  return launch(op, opts.timeout, opts.asyncOp);
}

Backend::WorkPtr Backend::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs, const c10d::ReduceScatterOptions& opts) {
  TORCH_CHECK_VALUE(outputs.size() == inputs.size(), "thunder: ", outputs.size(), " outputs for ", inputs.size(), " inputs");
  auto op = begin(OpType::REDUCE_SCATTER_TENSOR_COALESCED);
  for (size_t i = 0; i < inputs.size(); i++) {
    add_reduce_scatter(*op, outputs[i], inputs[i], opts.reduceOp);
  }
  return launch(op, opts.timeout, opts.asyncOp);
}

Backend::WorkPtr Backend::gather(std::vector<Tensors>& outputs, Tensors& inputs, const c10d::GatherOptions& opts) {
  auto op = begin(OpType::GATHER);
  const auto& in = only(inputs);
  auto input = readable(*op, in);
  at::Tensor whole;
  if (opts.rootRank == rank_) {
    TORCH_CHECK_VALUE(
        outputs.size() == 1 && outputs[0].size() == static_cast<size_t>(size_), "thunder: gather needs one output per rank on the root");
    check_same_type(outputs[0][0], in);
    whole = unpacked(*op, outputs[0]);
    for (const auto& t : outputs[0]) {
      op->add_output(t);
    }
  }
  // Always with counts: only the root knows whether they differ.
  auto& r = op->add(THUNDER_GATHER, move_type(in));
  r.root = static_cast<int32_t>(opts.rootRank);
  r.varying = 1;
  send_from(r, input);
  if (whole.defined()) {
    r.recv_counts = op->keep(lengths(outputs[0]));
    receive_in(r, whole);
  }
  return launch(op, opts.timeout, opts.asyncOp);
}

Backend::WorkPtr Backend::scatter(Tensors& outputs, std::vector<Tensors>& inputs, const c10d::ScatterOptions& opts) {
  auto op = begin(OpType::SCATTER);
  const auto& out = only(outputs);
  auto target = writable(*op, out);
  at::Tensor whole;
  if (opts.rootRank == rank_) {
    TORCH_CHECK_VALUE(
        inputs.size() == 1 && inputs[0].size() == static_cast<size_t>(size_), "thunder: scatter needs one input per rank on the root");
    check_same_type(inputs[0][0], out);
    whole = packed(*op, inputs[0]);
  }
  auto& r = op->add(THUNDER_SCATTER, move_type(out));
  r.root = static_cast<int32_t>(opts.rootRank);
  r.varying = 1;
  receive_in(r, target);
  if (whole.defined()) {
    r.send_counts = op->keep(lengths(inputs[0]));
    send_from(r, whole);
  }
  op->add_output(out);
  return launch(op, opts.timeout, opts.asyncOp);
}

Backend::WorkPtr Backend::alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& opts) {
  const auto n = static_cast<size_t>(size_);
  TORCH_CHECK_VALUE(outputs.size() == n && inputs.size() == n, "thunder: all_to_all needs one input and one output per rank");
  auto op = begin(OpType::ALLTOALL);
  check_same_type(outputs[0], inputs[0]);
  auto from = packed(*op, inputs), to = unpacked(*op, outputs);
  auto& r = op->add(THUNDER_ALL_TO_ALL, move_type(from));
  r.varying = 1;
  r.send_counts = op->keep(lengths(inputs));
  r.recv_counts = op->keep(lengths(outputs));
  send_from(r, from);
  receive_in(r, to);
  for (const auto& t : outputs) {
    op->add_output(t);
  }
  return launch(op, opts.timeout, opts.asyncOp);
}

// Returns the number of elements of each rank's part, from its rows; equal parts if rows
// is empty.
static std::vector<int64_t> part_lengths(const at::Tensor& t, const std::vector<int64_t>& rows, int size) {
  TORCH_CHECK_VALUE(t.dim() > 0, "thunder: all_to_all_single of a tensor without dimensions");
  TORCH_CHECK_VALUE(rows.empty() || rows.size() == static_cast<size_t>(size), "thunder: ", rows.size(), " split sizes on ", size, " ranks");
  TORCH_CHECK_VALUE(!rows.empty() || t.size(0) % size == 0, "thunder: ", t.size(0), " rows cannot be divided among ", size, " ranks");
  int64_t row = units(t);
  for (int64_t d = 1; d < t.dim(); d++) {
    row *= t.size(d);
  }
  std::vector<int64_t> list;
  for (int i = 0; i < size; i++) {
    list.push_back((rows.empty() ? t.size(0) / size : rows[i]) * row);
  }
  return list;
}

Backend::WorkPtr Backend::alltoall_base(
    at::Tensor& out, at::Tensor& in, std::vector<int64_t>& out_rows, std::vector<int64_t>& in_rows, const c10d::AllToAllOptions& opts) {
  auto op = begin(OpType::ALLTOALL_BASE);
  check_same_type(out, in);
  auto input = readable(*op, in), target = writable(*op, out);
  auto send_counts = part_lengths(in, in_rows, size_), recv_counts = part_lengths(out, out_rows, size_);
  // Always with counts: ranks may differ in whether they give split sizes.
  auto& r = op->add(THUNDER_ALL_TO_ALL, move_type(in));
  r.varying = 1;
  r.send_counts = op->keep(std::move(send_counts));
  r.recv_counts = op->keep(std::move(recv_counts));
  send_from(r, input);
  receive_in(r, target);
  op->add_output(out);
  return launch(op, opts.timeout, opts.asyncOp);
}

// Messages to a rank arrive in the order in which they were sent; tags are ignored, as
// with NCCL.
Backend::WorkPtr Backend::send(Tensors& tensors, int to, int /*tag*/) {
  auto op = begin(OpType::SEND);
  auto input = readable(*op, only(tensors));
  auto& r = op->add(THUNDER_SEND, move_type(input));
  r.root = to;
  send_from(r, input);
  return launch(op, c10d::kUnsetTimeout, true);
}

Backend::WorkPtr Backend::recv(Tensors& tensors, int from, int /*tag*/) {
  auto op = begin(OpType::RECV);
  const auto& t = only(tensors);
  auto target = writable(*op, t);
  auto& r = op->add(THUNDER_RECV, move_type(t));
  r.root = from;
  receive_in(r, target);
  op->add_output(t);
  return launch(op, c10d::kUnsetTimeout, true);
}

Backend::WorkPtr Backend::recvAnysource(Tensors&, int) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "thunder: recv needs a source (src=)");
}

Backend::WorkPtr Backend::barrier(const c10d::BarrierOptions& opts) {
  auto op = begin(OpType::BARRIER);
  op->add(THUNDER_BARRIER);
  return launch(op, opts.timeout, opts.asyncOp);
}

void Backend::monitoredBarrier(const c10d::BarrierOptions& opts, bool /*wait_all_ranks*/) {
  auto op = begin(OpType::BARRIER);
  op->add(THUNDER_BARRIER);
  // The error of a timeout names all ranks that did not arrive.
  launch(op, opts.timeout, true)->wait();
}

} // namespace thunder

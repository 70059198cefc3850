#include "memory.hpp"

#include <ATen/ATen.h>

namespace thunder {

void check_tensor(const at::Tensor& t) {
  TORCH_CHECK_TYPE(t.defined(), "thunder: the tensor is undefined");
  TORCH_CHECK_TYPE(t.device().is_cpu(), "thunder: the tensor is on ", t.device(), "; this backend is for the CPU");
  TORCH_CHECK_TYPE(t.layout() == at::kStrided, "thunder: the tensor is ", t.layout(), "; only dense ones can be sent");
}

void check_same_type(const at::Tensor& a, const at::Tensor& b) {
  TORCH_CHECK_TYPE(a.scalar_type() == b.scalar_type(), "thunder: tensors of ", a.scalar_type(), " and ", b.scalar_type(), " in one operation");
}

const at::Tensor& only(const std::vector<at::Tensor>& tensors) {
  TORCH_CHECK_VALUE(tensors.size() == 1, "thunder: ", tensors.size(), " tensors, want one");
  check_tensor(tensors[0]);
  return tensors[0];
}

static int code_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat: return THUNDER_F32;
    case at::kDouble: return THUNDER_F64;
    case at::kHalf: return THUNDER_F16;
    case at::kBFloat16: return THUNDER_BF16;
    case at::kChar: return THUNDER_I8;
    case at::kShort: return THUNDER_I16;
    case at::kInt: return THUNDER_I32;
    case at::kLong: return THUNDER_I64;
    case at::kByte: return THUNDER_U8;
    case at::kUInt16: return THUNDER_U16;
    case at::kUInt32: return THUNDER_U32;
    case at::kUInt64: return THUNDER_U64;
    case at::kBool: return THUNDER_BOOL;
    default: return 0;
  }
}

int move_type(const at::Tensor& t) {
  int code = code_of(t.scalar_type());
  return code != 0 ? code : THUNDER_U8; // as bytes: see send_from
}

int reduce_type(const at::Tensor& t, const c10d::ReduceOp& how) {
  auto type = t.scalar_type();
  if (c10::isComplexType(type)) {
    TORCH_CHECK_VALUE(
        how == c10d::ReduceOp::SUM || how == c10d::ReduceOp::AVG || how == c10d::ReduceOp::PREMUL_SUM,
        "thunder: complex numbers can only be summed and averaged");
    type = c10::toRealValueType(type);
  }
  int code = code_of(type);
  TORCH_CHECK_TYPE(code != 0, "thunder: tensors of ", t.scalar_type(), " cannot be combined");
  return code;
}

int reduce_op(const c10d::ReduceOp& how) {
  switch (how) {
    case c10d::ReduceOp::SUM: return THUNDER_SUM;
    case c10d::ReduceOp::PREMUL_SUM: return THUNDER_SUM;
    case c10d::ReduceOp::AVG: return THUNDER_AVG;
    case c10d::ReduceOp::PRODUCT: return THUNDER_PROD;
    case c10d::ReduceOp::MIN: return THUNDER_MIN;
    case c10d::ReduceOp::MAX: return THUNDER_MAX;
    case c10d::ReduceOp::BAND: return THUNDER_AND;
    case c10d::ReduceOp::BOR: return THUNDER_OR;
    case c10d::ReduceOp::BXOR: return THUNDER_XOR;
    default: TORCH_CHECK_VALUE(false, "thunder: unknown reduction");
  }
}

static bool in_order(const at::Tensor& t) {
  return t.is_contiguous() && !t.is_conj() && !t.is_neg();
}

static at::Tensor fresh(const at::Tensor& t) {
  return at::empty(t.sizes(), t.options().memory_format(at::MemoryFormat::Contiguous));
}

at::Tensor readable(Operation& op, const at::Tensor& t) {
  check_tensor(t);
  return op.hold(in_order(t) ? t : fresh(t).copy_(t));
}

at::Tensor summand(Operation& op, const at::Tensor& t, const c10d::ReduceOp& how) {
  if (how != c10d::ReduceOp::PREMUL_SUM) {
    return readable(op, t);
  }
  check_tensor(t);
  const auto* factor = static_cast<const c10d::NCCLPreMulSumSupplement*>(how.supplement_.get());
  TORCH_CHECK_VALUE(factor != nullptr, "thunder: PREMUL_SUM without its factor");
  auto scaled = fresh(t).copy_(t);
  if (factor->tensor_factor.defined()) {
    scaled.mul_(factor->tensor_factor.reshape({}));
  } else {
    scaled.mul_(factor->double_factor);
  }
  return op.hold(std::move(scaled));
}

at::Tensor writable(Operation& op, const at::Tensor& t) {
  check_tensor(t);
  if (in_order(t)) {
    return op.hold(t);
  }
  auto memory = fresh(t);
  op.afterwards([t, memory] { t.copy_(memory); });
  return op.hold(std::move(memory));
}

void send_from(thunder_request& r, const at::Tensor& t) {
  r.send = t.const_data_ptr();
  r.send_bytes = t.nbytes();
}

void receive_in(thunder_request& r, const at::Tensor& t) {
  r.recv = t.data_ptr();
  r.recv_bytes = t.nbytes();
}

static at::Tensor room_for(const std::vector<at::Tensor>& parts) {
  int64_t total = 0;
  for (const auto& p : parts) {
    check_tensor(p);
    check_same_type(p, parts[0]);
    total += p.numel();
  }
  return at::empty({total}, parts.at(0).options().memory_format(at::MemoryFormat::Contiguous));
}

// Calls f with each part and the slice of whole that belongs to it.
template <typename F>
static void each_part(const std::vector<at::Tensor>& parts, const at::Tensor& whole, F f) {
  int64_t at = 0;
  for (const auto& p : parts) {
    f(p, whole.narrow(0, at, p.numel()).view(p.sizes()));
    at += p.numel();
  }
}

at::Tensor packed(Operation& op, const std::vector<at::Tensor>& parts) {
  auto whole = room_for(parts);
  each_part(parts, whole, [](const at::Tensor& p, at::Tensor place) { place.copy_(p); });
  return op.hold(std::move(whole));
}

at::Tensor unpacked(Operation& op, const std::vector<at::Tensor>& parts) {
  auto whole = room_for(parts);
  op.afterwards([parts, whole] {
    each_part(parts, whole, [](const at::Tensor& p, at::Tensor place) { p.copy_(place); });
  });
  return op.hold(std::move(whole));
}

int64_t units(const at::Tensor& t) {
  return code_of(t.scalar_type()) != 0 ? 1 : static_cast<int64_t>(t.element_size());
}

std::vector<int64_t> lengths(const std::vector<at::Tensor>& parts) {
  std::vector<int64_t> list;
  for (const auto& p : parts) {
    list.push_back(p.numel() * units(p));
  }
  return list;
}

bool all_equal(const std::vector<int64_t>& lengths) {
  return std::all_of(lengths.begin(), lengths.end(), [&](int64_t n) { return n == lengths.front(); });
}

} // namespace thunder

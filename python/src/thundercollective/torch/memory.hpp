// Access to the memory of tensors, for libthunder to read and write.
#pragma once

#include "operation.hpp"

namespace thunder {

// Throws if the tensor's memory cannot be used: it is not dense, or not on the CPU.
void check_tensor(const at::Tensor& t);
void check_same_type(const at::Tensor& a, const at::Tensor& b);
const at::Tensor& only(const std::vector<at::Tensor>& tensors);

// The codes of an element type: move_type for moving elements, where any type of the same
// size works, and reduce_type for combining them.
int move_type(const at::Tensor& t);
int reduce_type(const at::Tensor& t, const c10d::ReduceOp& how);
int reduce_op(const c10d::ReduceOp& how);

// Returns t if it is contiguous, otherwise a contiguous copy.
at::Tensor readable(Operation& op, const at::Tensor& t);
// The same for a reduction, which may need its input multiplied.
at::Tensor summand(Operation& op, const at::Tensor& t, const c10d::ReduceOp& how);
// Returns t if it is contiguous, otherwise a tensor that is copied to t when the operation
// has succeeded.
at::Tensor writable(Operation& op, const at::Tensor& t);

void send_from(thunder_request& r, const at::Tensor& t);
void receive_in(thunder_request& r, const at::Tensor& t);

// Returns one tensor for the elements of several: packed contains them, unpacked is copied
// to them when the operation has succeeded.
at::Tensor packed(Operation& op, const std::vector<at::Tensor>& parts);
at::Tensor unpacked(Operation& op, const std::vector<at::Tensor>& parts);
// How many elements of move_type one element of t has, and each of several tensors.
int64_t units(const at::Tensor& t);
std::vector<int64_t> lengths(const std::vector<at::Tensor>& parts);
bool all_equal(const std::vector<int64_t>& lengths);

} // namespace thunder

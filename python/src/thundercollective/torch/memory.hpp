// Tensors as memory that libthunder reads and writes.
#pragma once

#include "operation.hpp"

namespace thunder {

// Refuses what has no memory here.
void check_tensor(const at::Tensor& t);
void check_same_type(const at::Tensor& a, const at::Tensor& b);
const at::Tensor& only(const std::vector<at::Tensor>& tensors);

// The code of an element type: one for moving elements, of which any will do, and
// one for combining them.
int move_type(const at::Tensor& t);
int reduce_type(const at::Tensor& t, const c10d::ReduceOp& how);
int reduce_op(const c10d::ReduceOp& how);

// t itself if its elements lie one behind the other, else a copy that does.
at::Tensor readable(Operation& op, const at::Tensor& t);
// The same for a reduction, which may want its input multiplied.
at::Tensor summand(Operation& op, const at::Tensor& t, const c10d::ReduceOp& how);
// t itself, or memory that is copied to t when the operation has succeeded.
at::Tensor writable(Operation& op, const at::Tensor& t);

void send_from(thunder_request& r, const at::Tensor& t);
void receive_in(thunder_request& r, const at::Tensor& t);

// One tensor for the elements of several, by its length; in the first form, filled.
at::Tensor packed(Operation& op, const std::vector<at::Tensor>& parts);
at::Tensor unpacked(Operation& op, const std::vector<at::Tensor>& parts);
// How many elements of move_type are in one of t, and in each of several tensors.
int64_t units(const at::Tensor& t);
std::vector<int64_t> lengths(const std::vector<at::Tensor>& parts);
bool all_equal(const std::vector<int64_t>& lengths);

} // namespace thunder

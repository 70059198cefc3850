package thunder

import "context"

// Barrier returns when all ranks have called it. Like every operation, it ends the group
// at all ranks if it fails or if ctx ends first; see Comm.
func Barrier(ctx context.Context, c *Comm) error {
	return c.Do(ctx, &Request{Kind: KindBarrier})
}

// AllReduce combines buf of all ranks element by element and leaves the result in
// buf of all ranks, the same bits everywhere.
func AllReduce[T Element](ctx context.Context, c *Comm, buf []T, op Op) error {
	r := allReduceRequest(buf, op)
	return c.Do(ctx, &r)
}

// Reduce is AllReduce with the result in buf of root only; the other ranks' buf is
// left as it was.
func Reduce[T Element](ctx context.Context, c *Comm, buf []T, op Op, root int) error {
	r := reduceRequest(buf, op, root)
	return c.Do(ctx, &r)
}

// ReduceScatter combines src of all ranks and gives each rank its part: rank r gets
// elements r·len(dst) and on. len(src) is Size times len(dst).
func ReduceScatter[T Element](ctx context.Context, c *Comm, dst, src []T, op Op) error {
	r := reduceScatterRequest(dst, src, op)
	return c.Do(ctx, &r)
}

// AllGather puts src of all ranks one behind the other, by rank, into dst of all.
// len(dst) is Size times len(src).
func AllGather[T Element](ctx context.Context, c *Comm, dst, src []T) error {
	r := allGatherRequest(dst, src)
	return c.Do(ctx, &r)
}

// AllGatherV is AllGather of parts that differ in length: counts[r] is that of rank
// r, and all ranks give the same counts.
func AllGatherV[T Element](ctx context.Context, c *Comm, dst, src []T, counts []int) error {
	r := allGatherVRequest(dst, src, counts)
	return c.Do(ctx, &r)
}

// Broadcast copies buf of root to buf of all ranks.
func Broadcast[T Element](ctx context.Context, c *Comm, buf []T, root int) error {
	r := broadcastRequest(buf, root)
	return c.Do(ctx, &r)
}

// Gather is AllGather to root only; dst of the other ranks is ignored.
func Gather[T Element](ctx context.Context, c *Comm, dst, src []T, root int) error {
	r := gatherRequest(dst, src, root)
	return c.Do(ctx, &r)
}

// GatherV is Gather of parts that differ in length; only root has to know counts.
func GatherV[T Element](ctx context.Context, c *Comm, dst, src []T, counts []int, root int) error {
	r := gatherVRequest(dst, src, counts, root)
	return c.Do(ctx, &r)
}

// Scatter cuts src of root into equal parts and gives rank r the r-th, in dst; src
// of the other ranks is ignored.
func Scatter[T Element](ctx context.Context, c *Comm, dst, src []T, root int) error {
	r := scatterRequest(dst, src, root)
	return c.Do(ctx, &r)
}

// ScatterV is Scatter of parts that differ in length; only root has to know counts.
func ScatterV[T Element](ctx context.Context, c *Comm, dst, src []T, counts []int, root int) error {
	r := scatterVRequest(dst, src, counts, root)
	return c.Do(ctx, &r)
}

// AllToAll cuts src into Size equal parts, sends the r-th to rank r, and puts what
// rank r sent into the r-th part of dst.
func AllToAll[T Element](ctx context.Context, c *Comm, dst, src []T) error {
	r := allToAllRequest(dst, src)
	return c.Do(ctx, &r)
}

// AllToAllV is AllToAll of parts that differ in length: sendCounts[r] elements go to
// rank r, recvCounts[r] come from it.
func AllToAllV[T Element](ctx context.Context, c *Comm, dst, src []T, sendCounts, recvCounts []int) error {
	r := allToAllVRequest(dst, src, sendCounts, recvCounts)
	return c.Do(ctx, &r)
}

// Send sends buf to one rank, which has to Recv as many elements.
func Send[T Element](ctx context.Context, c *Comm, buf []T, to int) error {
	r := sendRequest(buf, to)
	return c.Do(ctx, &r)
}

// Recv receives buf from one rank.
func Recv[T Element](ctx context.Context, c *Comm, buf []T, from int) error {
	r := recvRequest(buf, from)
	return c.Do(ctx, &r)
}

// SendRecv sends to one rank while it receives from another, or the same.
func SendRecv[T Element](ctx context.Context, c *Comm, send []T, to int, recv []T, from int) error {
	r := sendRecvRequest(send, to, recv, from)
	return c.Do(ctx, &r)
}

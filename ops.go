package thunder

import "context"

// Barrier returns when all ranks have called it.
func Barrier(ctx context.Context, c *Comm) error {
	return c.Do(ctx, &Request{Kind: KindBarrier})
}

// AllReduce combines buf of all ranks element by element and leaves the result in
// buf of all ranks, the same bits everywhere.
func AllReduce[T Element](ctx context.Context, c *Comm, buf []T, op Op) error {
	return c.Do(ctx, allReduceRequest(buf, op))
}

// Reduce is AllReduce with the result in buf of root only; the other ranks' buf is
// left as it was.
func Reduce[T Element](ctx context.Context, c *Comm, buf []T, op Op, root int) error {
	return c.Do(ctx, reduceRequest(buf, op, root))
}

// ReduceScatter combines src of all ranks and gives each rank its part: rank r gets
// elements r·len(dst) and on. len(src) is Size times len(dst).
func ReduceScatter[T Element](ctx context.Context, c *Comm, dst, src []T, op Op) error {
	return c.Do(ctx, reduceScatterRequest(dst, src, op))
}

// AllGather puts src of all ranks one behind the other, by rank, into dst of all.
// len(dst) is Size times len(src).
func AllGather[T Element](ctx context.Context, c *Comm, dst, src []T) error {
	return c.Do(ctx, allGatherRequest(dst, src))
}

// AllGatherV is AllGather of parts that differ in length: counts[r] is that of rank
// r, and all ranks give the same counts.
func AllGatherV[T Element](ctx context.Context, c *Comm, dst, src []T, counts []int) error {
	return c.Do(ctx, allGatherVRequest(dst, src, counts))
}

// Broadcast copies buf of root to buf of all ranks.
func Broadcast[T Element](ctx context.Context, c *Comm, buf []T, root int) error {
	return c.Do(ctx, broadcastRequest(buf, root))
}

// Gather is AllGather to root only; dst of the other ranks is ignored.
func Gather[T Element](ctx context.Context, c *Comm, dst, src []T, root int) error {
	return c.Do(ctx, gatherRequest(dst, src, root))
}

// GatherV is Gather of parts that differ in length; only root has to know counts.
func GatherV[T Element](ctx context.Context, c *Comm, dst, src []T, counts []int, root int) error {
	return c.Do(ctx, gatherVRequest(dst, src, counts, root))
}

// Scatter cuts src of root into equal parts and gives rank r the r-th, in dst; src
// of the other ranks is ignored.
func Scatter[T Element](ctx context.Context, c *Comm, dst, src []T, root int) error {
	return c.Do(ctx, scatterRequest(dst, src, root))
}

// ScatterV is Scatter of parts that differ in length; only root has to know counts.
func ScatterV[T Element](ctx context.Context, c *Comm, dst, src []T, counts []int, root int) error {
	return c.Do(ctx, scatterVRequest(dst, src, counts, root))
}

// AllToAll cuts src into Size equal parts, sends the r-th to rank r, and puts what
// rank r sent into the r-th part of dst.
func AllToAll[T Element](ctx context.Context, c *Comm, dst, src []T) error {
	return c.Do(ctx, allToAllRequest(dst, src))
}

// AllToAllV is AllToAll of parts that differ in length: sendCounts[r] elements go to
// rank r, recvCounts[r] come from it.
func AllToAllV[T Element](ctx context.Context, c *Comm, dst, src []T, sendCounts, recvCounts []int) error {
	return c.Do(ctx, allToAllVRequest(dst, src, sendCounts, recvCounts))
}

// Send sends buf to one rank, which has to Recv as many elements.
func Send[T Element](ctx context.Context, c *Comm, buf []T, to int) error {
	return c.Do(ctx, sendRequest(buf, to))
}

// Recv receives buf from one rank.
func Recv[T Element](ctx context.Context, c *Comm, buf []T, from int) error {
	return c.Do(ctx, recvRequest(buf, from))
}

// SendRecv sends to one rank while it receives from another, or the same.
func SendRecv[T Element](ctx context.Context, c *Comm, send []T, to int, recv []T, from int) error {
	return c.Do(ctx, sendRecvRequest(send, to, recv, from))
}

package thunder

import "context"

// BarrierAsync begins a Barrier.
func BarrierAsync(ctx context.Context, c *Comm) *Work {
	return c.Start(ctx, &Request{Kind: KindBarrier})
}

// AllReduceAsync begins a AllReduce.
func AllReduceAsync[T Element](ctx context.Context, c *Comm, buf []T, op Op) *Work {
	return c.Start(ctx, allReduceRequest(buf, op))
}

// ReduceAsync begins a Reduce.
func ReduceAsync[T Element](ctx context.Context, c *Comm, buf []T, op Op, root int) *Work {
	return c.Start(ctx, reduceRequest(buf, op, root))
}

// ReduceScatterAsync begins a ReduceScatter.
func ReduceScatterAsync[T Element](ctx context.Context, c *Comm, dst, src []T, op Op) *Work {
	return c.Start(ctx, reduceScatterRequest(dst, src, op))
}

// AllGatherAsync begins a AllGather.
func AllGatherAsync[T Element](ctx context.Context, c *Comm, dst, src []T) *Work {
	return c.Start(ctx, allGatherRequest(dst, src))
}

// AllGatherVAsync begins a AllGatherV.
func AllGatherVAsync[T Element](ctx context.Context, c *Comm, dst, src []T, counts []int) *Work {
	return c.Start(ctx, allGatherVRequest(dst, src, counts))
}

// BroadcastAsync begins a Broadcast.
func BroadcastAsync[T Element](ctx context.Context, c *Comm, buf []T, root int) *Work {
	return c.Start(ctx, broadcastRequest(buf, root))
}

// GatherAsync begins a Gather.
func GatherAsync[T Element](ctx context.Context, c *Comm, dst, src []T, root int) *Work {
	return c.Start(ctx, gatherRequest(dst, src, root))
}

// GatherVAsync begins a GatherV.
func GatherVAsync[T Element](ctx context.Context, c *Comm, dst, src []T, counts []int, root int) *Work {
	return c.Start(ctx, gatherVRequest(dst, src, counts, root))
}

// ScatterAsync begins a Scatter.
func ScatterAsync[T Element](ctx context.Context, c *Comm, dst, src []T, root int) *Work {
	return c.Start(ctx, scatterRequest(dst, src, root))
}

// ScatterVAsync begins a ScatterV.
func ScatterVAsync[T Element](ctx context.Context, c *Comm, dst, src []T, counts []int, root int) *Work {
	return c.Start(ctx, scatterVRequest(dst, src, counts, root))
}

// AllToAllAsync begins a AllToAll.
func AllToAllAsync[T Element](ctx context.Context, c *Comm, dst, src []T) *Work {
	return c.Start(ctx, allToAllRequest(dst, src))
}

// AllToAllVAsync begins a AllToAllV.
func AllToAllVAsync[T Element](ctx context.Context, c *Comm, dst, src []T, sendCounts, recvCounts []int) *Work {
	return c.Start(ctx, allToAllVRequest(dst, src, sendCounts, recvCounts))
}

// SendAsync begins a Send.
func SendAsync[T Element](ctx context.Context, c *Comm, buf []T, to int) *Work {
	return c.Start(ctx, sendRequest(buf, to))
}

// RecvAsync begins a Recv.
func RecvAsync[T Element](ctx context.Context, c *Comm, buf []T, from int) *Work {
	return c.Start(ctx, recvRequest(buf, from))
}

// SendRecvAsync begins a SendRecv.
func SendRecvAsync[T Element](ctx context.Context, c *Comm, send []T, to int, recv []T, from int) *Work {
	return c.Start(ctx, sendRecvRequest(send, to, recv, from))
}

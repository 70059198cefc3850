package thunder

import "context"

// BarrierAsync starts a Barrier.
func BarrierAsync(ctx context.Context, c *Comm) *Work {
	return c.Start(ctx, &Request{Kind: KindBarrier})
}

// AllReduceAsync starts an AllReduce.
func AllReduceAsync[T Element](ctx context.Context, c *Comm, buf []T, op Op) *Work {
	r := allReduceRequest(buf, op)
	return c.Start(ctx, &r)
}

// ReduceAsync starts a Reduce.
func ReduceAsync[T Element](ctx context.Context, c *Comm, buf []T, op Op, root int) *Work {
	r := reduceRequest(buf, op, root)
	return c.Start(ctx, &r)
}

// ReduceScatterAsync starts a ReduceScatter.
func ReduceScatterAsync[T Element](ctx context.Context, c *Comm, dst, src []T, op Op) *Work {
	r := reduceScatterRequest(dst, src, op)
	return c.Start(ctx, &r)
}

// AllGatherAsync starts an AllGather.
func AllGatherAsync[T Element](ctx context.Context, c *Comm, dst, src []T) *Work {
	r := allGatherRequest(dst, src)
	return c.Start(ctx, &r)
}

// AllGatherVAsync starts an AllGatherV.
func AllGatherVAsync[T Element](ctx context.Context, c *Comm, dst, src []T, counts []int) *Work {
	r := allGatherVRequest(dst, src, counts)
	return c.Start(ctx, &r)
}

// BroadcastAsync starts a Broadcast.
func BroadcastAsync[T Element](ctx context.Context, c *Comm, buf []T, root int) *Work {
	r := broadcastRequest(buf, root)
	return c.Start(ctx, &r)
}

// GatherAsync starts a Gather.
func GatherAsync[T Element](ctx context.Context, c *Comm, dst, src []T, root int) *Work {
	r := gatherRequest(dst, src, root)
	return c.Start(ctx, &r)
}

// GatherVAsync starts a GatherV.
func GatherVAsync[T Element](ctx context.Context, c *Comm, dst, src []T, counts []int, root int) *Work {
	r := gatherVRequest(dst, src, counts, root)
	return c.Start(ctx, &r)
}

// ScatterAsync starts a Scatter.
func ScatterAsync[T Element](ctx context.Context, c *Comm, dst, src []T, root int) *Work {
	r := scatterRequest(dst, src, root)
	return c.Start(ctx, &r)
}

// ScatterVAsync starts a ScatterV.
func ScatterVAsync[T Element](ctx context.Context, c *Comm, dst, src []T, counts []int, root int) *Work {
	r := scatterVRequest(dst, src, counts, root)
	return c.Start(ctx, &r)
}

// AllToAllAsync starts an AllToAll.
func AllToAllAsync[T Element](ctx context.Context, c *Comm, dst, src []T) *Work {
	r := allToAllRequest(dst, src)
	return c.Start(ctx, &r)
}

// AllToAllVAsync starts an AllToAllV.
func AllToAllVAsync[T Element](ctx context.Context, c *Comm, dst, src []T, sendCounts, recvCounts []int) *Work {
	r := allToAllVRequest(dst, src, sendCounts, recvCounts)
	return c.Start(ctx, &r)
}

// SendAsync starts a Send.
func SendAsync[T Element](ctx context.Context, c *Comm, buf []T, to int) *Work {
	r := sendRequest(buf, to)
	return c.Start(ctx, &r)
}

// RecvAsync starts a Recv.
func RecvAsync[T Element](ctx context.Context, c *Comm, buf []T, from int) *Work {
	r := recvRequest(buf, from)
	return c.Start(ctx, &r)
}

// SendRecvAsync starts a SendRecv.
func SendRecvAsync[T Element](ctx context.Context, c *Comm, send []T, to int, recv []T, from int) *Work {
	r := sendRecvRequest(send, to, recv, from)
	return c.Start(ctx, &r)
}

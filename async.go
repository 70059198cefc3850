package thunder

import "context"

// BarrierAsync begins a Barrier.
func BarrierAsync(ctx context.Context, c *Comm) *Work {
	return c.Start(ctx, &Request{Kind: KindBarrier})
}

// AllReduceAsync begins a AllReduce.
func AllReduceAsync[T Element](ctx context.Context, c *Comm, buf []T, op Op) *Work {
	r := allReduceRequest(buf, op)
	return c.Start(ctx, &r)
}

// ReduceAsync begins a Reduce.
func ReduceAsync[T Element](ctx context.Context, c *Comm, buf []T, op Op, root int) *Work {
	r := reduceRequest(buf, op, root)
	return c.Start(ctx, &r)
}

// ReduceScatterAsync begins a ReduceScatter.
func ReduceScatterAsync[T Element](ctx context.Context, c *Comm, dst, src []T, op Op) *Work {
	r := reduceScatterRequest(dst, src, op)
	return c.Start(ctx, &r)
}

// AllGatherAsync begins a AllGather.
func AllGatherAsync[T Element](ctx context.Context, c *Comm, dst, src []T) *Work {
	r := allGatherRequest(dst, src)
	return c.Start(ctx, &r)
}

// AllGatherVAsync begins a AllGatherV.
func AllGatherVAsync[T Element](ctx context.Context, c *Comm, dst, src []T, counts []int) *Work {
	r := allGatherVRequest(dst, src, counts)
	return c.Start(ctx, &r)
}

// BroadcastAsync begins a Broadcast.
func BroadcastAsync[T Element](ctx context.Context, c *Comm, buf []T, root int) *Work {
	r := broadcastRequest(buf, root)
	return c.Start(ctx, &r)
}

// GatherAsync begins a Gather.
func GatherAsync[T Element](ctx context.Context, c *Comm, dst, src []T, root int) *Work {
	r := gatherRequest(dst, src, root)
	return c.Start(ctx, &r)
}

// GatherVAsync begins a GatherV.
func GatherVAsync[T Element](ctx context.Context, c *Comm, dst, src []T, counts []int, root int) *Work {
	r := gatherVRequest(dst, src, counts, root)
	return c.Start(ctx, &r)
}

// ScatterAsync begins a Scatter.
func ScatterAsync[T Element](ctx context.Context, c *Comm, dst, src []T, root int) *Work {
	r := scatterRequest(dst, src, root)
	return c.Start(ctx, &r)
}

// ScatterVAsync begins a ScatterV.
func ScatterVAsync[T Element](ctx context.Context, c *Comm, dst, src []T, counts []int, root int) *Work {
	r := scatterVRequest(dst, src, counts, root)
	return c.Start(ctx, &r)
}

// AllToAllAsync begins a AllToAll.
func AllToAllAsync[T Element](ctx context.Context, c *Comm, dst, src []T) *Work {
	r := allToAllRequest(dst, src)
	return c.Start(ctx, &r)
}

// AllToAllVAsync begins a AllToAllV.
func AllToAllVAsync[T Element](ctx context.Context, c *Comm, dst, src []T, sendCounts, recvCounts []int) *Work {
	r := allToAllVRequest(dst, src, sendCounts, recvCounts)
	return c.Start(ctx, &r)
}

// SendAsync begins a Send.
func SendAsync[T Element](ctx context.Context, c *Comm, buf []T, to int) *Work {
	r := sendRequest(buf, to)
	return c.Start(ctx, &r)
}

// RecvAsync begins a Recv.
func RecvAsync[T Element](ctx context.Context, c *Comm, buf []T, from int) *Work {
	r := recvRequest(buf, from)
	return c.Start(ctx, &r)
}

// SendRecvAsync begins a SendRecv.
func SendRecvAsync[T Element](ctx context.Context, c *Comm, send []T, to int, recv []T, from int) *Work {
	r := sendRecvRequest(send, to, recv, from)
	return c.Start(ctx, &r)
}

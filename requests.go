package thunder

import "thundercollective/internal/reduce"

// The requests behind the generic functions, blocking and asynchronous.

func allReduceRequest[T Element](buf []T, op Op) Request {
	return Request{Kind: KindAllReduce, DType: reduce.DTypeOf[T](), Op: op, Recv: reduce.Bytes(buf)}
}

func reduceRequest[T Element](buf []T, op Op, root int) Request {
	return Request{Kind: KindReduce, DType: reduce.DTypeOf[T](), Op: op, Root: root, Recv: reduce.Bytes(buf)}
}

func reduceScatterRequest[T Element](dst, src []T, op Op) Request {
	return Request{Kind: KindReduceScatter, DType: reduce.DTypeOf[T](), Op: op, Send: reduce.Bytes(src), Recv: reduce.Bytes(dst)}
}

func allGatherRequest[T Element](dst, src []T) Request {
	return Request{Kind: KindAllGather, DType: reduce.DTypeOf[T](), Send: reduce.Bytes(src), Recv: reduce.Bytes(dst)}
}

func allGatherVRequest[T Element](dst, src []T, counts []int) Request {
	return Request{Kind: KindAllGather, DType: reduce.DTypeOf[T](), Send: reduce.Bytes(src), Recv: reduce.Bytes(dst), RecvCounts: counts, Varying: true}
}

func broadcastRequest[T Element](buf []T, root int) Request {
	return Request{Kind: KindBroadcast, DType: reduce.DTypeOf[T](), Root: root, Recv: reduce.Bytes(buf)}
}

func gatherRequest[T Element](dst, src []T, root int) Request {
	return Request{Kind: KindGather, DType: reduce.DTypeOf[T](), Root: root, Send: reduce.Bytes(src), Recv: reduce.Bytes(dst)}
}

func gatherVRequest[T Element](dst, src []T, counts []int, root int) Request {
	return Request{Kind: KindGather, DType: reduce.DTypeOf[T](), Root: root, Send: reduce.Bytes(src), Recv: reduce.Bytes(dst), RecvCounts: counts, Varying: true}
}

func scatterRequest[T Element](dst, src []T, root int) Request {
	return Request{Kind: KindScatter, DType: reduce.DTypeOf[T](), Root: root, Send: reduce.Bytes(src), Recv: reduce.Bytes(dst)}
}

func scatterVRequest[T Element](dst, src []T, counts []int, root int) Request {
	return Request{Kind: KindScatter, DType: reduce.DTypeOf[T](), Root: root, Send: reduce.Bytes(src), Recv: reduce.Bytes(dst), SendCounts: counts, Varying: true}
}

func allToAllRequest[T Element](dst, src []T) Request {
	return Request{Kind: KindAllToAll, DType: reduce.DTypeOf[T](), Send: reduce.Bytes(src), Recv: reduce.Bytes(dst)}
}

func allToAllVRequest[T Element](dst, src []T, sendCounts, recvCounts []int) Request {
	return Request{Kind: KindAllToAll, DType: reduce.DTypeOf[T](), Send: reduce.Bytes(src), Recv: reduce.Bytes(dst), SendCounts: sendCounts, RecvCounts: recvCounts, Varying: true}
}

func sendRequest[T Element](buf []T, to int) Request {
	return Request{Kind: KindSend, DType: reduce.DTypeOf[T](), Root: to, Send: reduce.Bytes(buf)}
}

func recvRequest[T Element](buf []T, from int) Request {
	return Request{Kind: KindRecv, DType: reduce.DTypeOf[T](), Root: from, Recv: reduce.Bytes(buf)}
}

func sendRecvRequest[T Element](send []T, to int, recv []T, from int) Request {
	return Request{Kind: KindSendRecv, DType: reduce.DTypeOf[T](), Root: to, From: from, Send: reduce.Bytes(send), Recv: reduce.Bytes(recv)}
}

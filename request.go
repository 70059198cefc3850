package thunder

import "thundercollective/internal/reduce"

// A Request is one operation in terms of bytes, for callers that know the element
// type only at run time, such as bindings. Go programs use AllReduce and the other
// generic functions.
//
//	operation      Send             Recv               Root        counts
//	AllReduce      – or input       buffer / result
//	Reduce         – or input       buffer; result on root  root
//	ReduceScatter  n × count        count
//	AllGather      count            n × count                      RecvCounts (v-form)
//	Broadcast      –                buffer             root
//	Gather         count            n × count on root  root        RecvCounts on root (v-form)
//	Scatter        n × count, root  count              root        SendCounts on root (v-form)
//	AllToAll       n × count        n × count                      both (v-form)
//	Barrier        –                –
//	Send           buffer           –                  receiver
//	Recv           –                buffer             sender
//	SendRecv       to Root          from From          receiver
//
// Counts are elements. Send and Recv must not overlap, except that for AllReduce and
// Reduce a nil Send means in place. In the v-forms, all ranks set Varying; those
// that need no counts may leave them nil.
type Request struct {
	Kind       Kind
	DType      DType
	Op         Op   // reductions only
	Algo       Algo // Auto: the Comm's choice
	Root       int  // root of the operation, or the peer of Send, Recv and SendRecv
	From       int  // the sender in SendRecv
	Send, Recv []byte
	SendCounts []int
	RecvCounts []int
	Varying    bool // the v-form: ranks' parts may differ in length
}

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

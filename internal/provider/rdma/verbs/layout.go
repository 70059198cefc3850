package verbs

// The parts of the C structs of infiniband/verbs.h that this package reads or writes,
// and the constants it uses. TestLayout compares them with the header of the machine it
// runs on. They are the same on every LP64 system, in rdma-core from v44 to v65.
//
// Pointers to C objects are uintptr: nothing here is memory of the Go heap.

// context is the head of struct ibv_context.
type context struct {
	device      uintptr
	_           [11]uintptr
	pollCQ      uintptr // ops.poll_cq
	reqNotifyCQ uintptr
	_           [12]uintptr
	postSend    uintptr
	postRecv    uintptr
}

// compChannel is the head of struct ibv_comp_channel.
type compChannel struct {
	_  uintptr // context
	fd int32
}

// memoryRegion is the head of struct ibv_mr.
type memoryRegion struct {
	_    [36]byte
	lkey uint32
	rkey uint32
}

// queuePair is the head of struct ibv_qp.
type queuePair struct {
	_   [52]byte
	num uint32
}

// deviceAttr is struct ibv_device_attr, with room for a library whose struct is larger.
type deviceAttr struct {
	_         [80]byte
	maxMRSize uint64
	_         [20]byte
	maxQP     int32
	maxQPWR   int32
	_         uint32
	maxSGE    int32
	_         [8]byte
	maxCQE    int32
	maxMR     int32
	_         [372]byte
}

// portAttr is struct ibv_port_attr, which has grown from 52 to 56 bytes, with
// room for more.
type portAttr struct {
	state     uint32
	_         uint32
	activeMTU uint32
	gidTabLen int32
	_         uint32
	maxMsgSz  uint32
	_         [10]byte
	lid       uint16
	_         [10]byte
	linkLayer uint8
	_         [81]byte
}

// sendWR is struct ibv_send_wr.
type sendWR struct {
	id         uint64
	next       uintptr
	sgList     uintptr
	numSGE     int32
	opcode     uint32
	flags      uint32
	imm        uint32 // big endian
	remoteAddr uint64
	rkey       uint32
	_          [76]byte
}

// recvWR is struct ibv_recv_wr.
type recvWR struct {
	id     uint64
	next   uintptr
	sgList uintptr
	numSGE int32
	_      uint32
}

// sge is struct ibv_sge.
type sge struct {
	addr   uint64
	length uint32
	lkey   uint32
}

// workCompletion is struct ibv_wc.
type workCompletion struct {
	id      uint64
	status  uint32
	opcode  uint32
	vendor  uint32
	byteLen uint32
	imm     uint32 // big endian
	qpNum   uint32
	_       uint32
	flags   uint32
	_       [8]byte
}

// qpInitAttr is struct ibv_qp_init_attr.
type qpInitAttr struct {
	_          uintptr
	sendCQ     uintptr
	recvCQ     uintptr
	_          uintptr
	maxSendWR  uint32
	maxRecvWR  uint32
	maxSendSGE uint32
	maxRecvSGE uint32
	_          uint32 // cap.max_inline_data
	qpType     uint32
	sqSigAll   int32
	_          uint32
}

// qpAttr is struct ibv_qp_attr.
type qpAttr struct {
	state           uint32
	_               uint32
	pathMTU         uint32
	_               [8]byte
	rqPSN           uint32
	sqPSN           uint32
	destQPN         uint32
	accessFlags     uint32
	_               [20]byte
	ah              ahAttr
	_               [32]byte
	pkeyIndex       uint16
	_               [4]byte
	maxRDAtomic     uint8
	maxDestRDAtomic uint8
	minRNRTimer     uint8
	portNum         uint8
	timeout         uint8
	retryCnt        uint8
	rnrRetry        uint8
	_               [11]byte
}

// ahAttr is struct ibv_ah_attr.
type ahAttr struct {
	dgid      [16]byte
	_         uint32
	sgidIndex uint8
	hopLimit  uint8
	_         [2]byte
	dlid      uint16
	_         [3]byte
	isGlobal  uint8
	portNum   uint8
	_         uint8
}

const (
	qptRC, qptUC = 2, 3

	stateInit, stateRTR, stateRTS, stateErr = 1, 2, 3, 6

	maskState           = 1 << 0
	maskAccessFlags     = 1 << 3
	maskPkeyIndex       = 1 << 4
	maskPort            = 1 << 5
	maskAV              = 1 << 7
	maskPathMTU         = 1 << 8
	maskTimeout         = 1 << 9
	maskRetryCnt        = 1 << 10
	maskRNRRetry        = 1 << 11
	maskRQPSN           = 1 << 12
	maskMaxRDAtomic     = 1 << 13
	maskMinRNRTimer     = 1 << 15
	maskSQPSN           = 1 << 16
	maskMaxDestRDAtomic = 1 << 17
	maskDestQPN         = 1 << 20

	accessLocalWrite, accessRemoteWrite = 1 << 0, 1 << 1

	wrWrite, wrWriteImm, wrSend = 0, 1, 2
	sendSignaled                = 1 << 1

	wcRecv, wcRecvImm = 128, 129

	portActive = 4
	mtu256     = 1 // 512 is 2, and so on to 4096
)

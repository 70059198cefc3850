package verbs

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

// A field is what this package believes of one field of a C struct.
type field struct {
	name         string // struct.field, in C
	offset, size uintptr
}

func fields() []field {
	var (
		ctx  context
		ch   compChannel
		mr   memoryRegion
		qp   queuePair
		dev  deviceAttr
		port portAttr
		swr  sendWR
		rwr  recvWR
		sg   sge
		wc   workCompletion
		qi   qpInitAttr
		qa   qpAttr
		ah   ahAttr
	)
	return []field{
		{"ibv_context.device", unsafe.Offsetof(ctx.device), unsafe.Sizeof(ctx.device)},
		{"ibv_context.ops.poll_cq", unsafe.Offsetof(ctx.pollCQ), unsafe.Sizeof(ctx.pollCQ)},
		{"ibv_context.ops.req_notify_cq", unsafe.Offsetof(ctx.reqNotifyCQ), unsafe.Sizeof(ctx.reqNotifyCQ)},
		{"ibv_context.ops.post_send", unsafe.Offsetof(ctx.postSend), unsafe.Sizeof(ctx.postSend)},
		{"ibv_context.ops.post_recv", unsafe.Offsetof(ctx.postRecv), unsafe.Sizeof(ctx.postRecv)},
		{"ibv_comp_channel.fd", unsafe.Offsetof(ch.fd), unsafe.Sizeof(ch.fd)},
		{"ibv_mr.lkey", unsafe.Offsetof(mr.lkey), unsafe.Sizeof(mr.lkey)},
		{"ibv_mr.rkey", unsafe.Offsetof(mr.rkey), unsafe.Sizeof(mr.rkey)},
		{"ibv_qp.qp_num", unsafe.Offsetof(qp.num), unsafe.Sizeof(qp.num)},
		{"ibv_device_attr.max_mr_size", unsafe.Offsetof(dev.maxMRSize), unsafe.Sizeof(dev.maxMRSize)},
		{"ibv_device_attr.max_qp", unsafe.Offsetof(dev.maxQP), unsafe.Sizeof(dev.maxQP)},
		{"ibv_device_attr.max_qp_wr", unsafe.Offsetof(dev.maxQPWR), unsafe.Sizeof(dev.maxQPWR)},
		{"ibv_device_attr.max_sge", unsafe.Offsetof(dev.maxSGE), unsafe.Sizeof(dev.maxSGE)},
		{"ibv_device_attr.max_cqe", unsafe.Offsetof(dev.maxCQE), unsafe.Sizeof(dev.maxCQE)},
		{"ibv_device_attr.max_mr", unsafe.Offsetof(dev.maxMR), unsafe.Sizeof(dev.maxMR)},
		{"ibv_port_attr.state", unsafe.Offsetof(port.state), unsafe.Sizeof(port.state)},
		{"ibv_port_attr.active_mtu", unsafe.Offsetof(port.activeMTU), unsafe.Sizeof(port.activeMTU)},
		{"ibv_port_attr.gid_tbl_len", unsafe.Offsetof(port.gidTabLen), unsafe.Sizeof(port.gidTabLen)},
		{"ibv_port_attr.max_msg_sz", unsafe.Offsetof(port.maxMsgSz), unsafe.Sizeof(port.maxMsgSz)},
		{"ibv_port_attr.lid", unsafe.Offsetof(port.lid), unsafe.Sizeof(port.lid)},
		{"ibv_port_attr.link_layer", unsafe.Offsetof(port.linkLayer), unsafe.Sizeof(port.linkLayer)},
		{"ibv_send_wr.wr_id", unsafe.Offsetof(swr.id), unsafe.Sizeof(swr.id)},
		{"ibv_send_wr.next", unsafe.Offsetof(swr.next), unsafe.Sizeof(swr.next)},
		{"ibv_send_wr.sg_list", unsafe.Offsetof(swr.sgList), unsafe.Sizeof(swr.sgList)},
		{"ibv_send_wr.num_sge", unsafe.Offsetof(swr.numSGE), unsafe.Sizeof(swr.numSGE)},
		{"ibv_send_wr.opcode", unsafe.Offsetof(swr.opcode), unsafe.Sizeof(swr.opcode)},
		{"ibv_send_wr.send_flags", unsafe.Offsetof(swr.flags), unsafe.Sizeof(swr.flags)},
		{"ibv_send_wr.imm_data", unsafe.Offsetof(swr.imm), unsafe.Sizeof(swr.imm)},
		{"ibv_send_wr.wr.rdma.remote_addr", unsafe.Offsetof(swr.remoteAddr), unsafe.Sizeof(swr.remoteAddr)},
		{"ibv_send_wr.wr.rdma.rkey", unsafe.Offsetof(swr.rkey), unsafe.Sizeof(swr.rkey)},
		{"ibv_recv_wr.wr_id", unsafe.Offsetof(rwr.id), unsafe.Sizeof(rwr.id)},
		{"ibv_recv_wr.next", unsafe.Offsetof(rwr.next), unsafe.Sizeof(rwr.next)},
		{"ibv_recv_wr.sg_list", unsafe.Offsetof(rwr.sgList), unsafe.Sizeof(rwr.sgList)},
		{"ibv_recv_wr.num_sge", unsafe.Offsetof(rwr.numSGE), unsafe.Sizeof(rwr.numSGE)},
		{"ibv_sge.addr", unsafe.Offsetof(sg.addr), unsafe.Sizeof(sg.addr)},
		{"ibv_sge.length", unsafe.Offsetof(sg.length), unsafe.Sizeof(sg.length)},
		{"ibv_sge.lkey", unsafe.Offsetof(sg.lkey), unsafe.Sizeof(sg.lkey)},
		{"ibv_wc.wr_id", unsafe.Offsetof(wc.id), unsafe.Sizeof(wc.id)},
		{"ibv_wc.status", unsafe.Offsetof(wc.status), unsafe.Sizeof(wc.status)},
		{"ibv_wc.opcode", unsafe.Offsetof(wc.opcode), unsafe.Sizeof(wc.opcode)},
		{"ibv_wc.vendor_err", unsafe.Offsetof(wc.vendor), unsafe.Sizeof(wc.vendor)},
		{"ibv_wc.byte_len", unsafe.Offsetof(wc.byteLen), unsafe.Sizeof(wc.byteLen)},
		{"ibv_wc.imm_data", unsafe.Offsetof(wc.imm), unsafe.Sizeof(wc.imm)},
		{"ibv_wc.qp_num", unsafe.Offsetof(wc.qpNum), unsafe.Sizeof(wc.qpNum)},
		{"ibv_wc.wc_flags", unsafe.Offsetof(wc.flags), unsafe.Sizeof(wc.flags)},
		{"ibv_qp_init_attr.send_cq", unsafe.Offsetof(qi.sendCQ), unsafe.Sizeof(qi.sendCQ)},
		{"ibv_qp_init_attr.recv_cq", unsafe.Offsetof(qi.recvCQ), unsafe.Sizeof(qi.recvCQ)},
		{"ibv_qp_init_attr.cap.max_send_wr", unsafe.Offsetof(qi.maxSendWR), unsafe.Sizeof(qi.maxSendWR)},
		{"ibv_qp_init_attr.cap.max_recv_wr", unsafe.Offsetof(qi.maxRecvWR), unsafe.Sizeof(qi.maxRecvWR)},
		{"ibv_qp_init_attr.cap.max_send_sge", unsafe.Offsetof(qi.maxSendSGE), unsafe.Sizeof(qi.maxSendSGE)},
		{"ibv_qp_init_attr.cap.max_recv_sge", unsafe.Offsetof(qi.maxRecvSGE), unsafe.Sizeof(qi.maxRecvSGE)},
		{"ibv_qp_init_attr.qp_type", unsafe.Offsetof(qi.qpType), unsafe.Sizeof(qi.qpType)},
		{"ibv_qp_init_attr.sq_sig_all", unsafe.Offsetof(qi.sqSigAll), unsafe.Sizeof(qi.sqSigAll)},
		{"ibv_qp_attr.qp_state", unsafe.Offsetof(qa.state), unsafe.Sizeof(qa.state)},
		{"ibv_qp_attr.path_mtu", unsafe.Offsetof(qa.pathMTU), unsafe.Sizeof(qa.pathMTU)},
		{"ibv_qp_attr.rq_psn", unsafe.Offsetof(qa.rqPSN), unsafe.Sizeof(qa.rqPSN)},
		{"ibv_qp_attr.sq_psn", unsafe.Offsetof(qa.sqPSN), unsafe.Sizeof(qa.sqPSN)},
		{"ibv_qp_attr.dest_qp_num", unsafe.Offsetof(qa.destQPN), unsafe.Sizeof(qa.destQPN)},
		{"ibv_qp_attr.qp_access_flags", unsafe.Offsetof(qa.accessFlags), unsafe.Sizeof(qa.accessFlags)},
		{"ibv_qp_attr.ah_attr", unsafe.Offsetof(qa.ah), unsafe.Sizeof(qa.ah)},
		{"ibv_qp_attr.pkey_index", unsafe.Offsetof(qa.pkeyIndex), unsafe.Sizeof(qa.pkeyIndex)},
		{"ibv_qp_attr.max_rd_atomic", unsafe.Offsetof(qa.maxRDAtomic), unsafe.Sizeof(qa.maxRDAtomic)},
		{"ibv_qp_attr.max_dest_rd_atomic", unsafe.Offsetof(qa.maxDestRDAtomic), unsafe.Sizeof(qa.maxDestRDAtomic)},
		{"ibv_qp_attr.min_rnr_timer", unsafe.Offsetof(qa.minRNRTimer), unsafe.Sizeof(qa.minRNRTimer)},
		{"ibv_qp_attr.port_num", unsafe.Offsetof(qa.portNum), unsafe.Sizeof(qa.portNum)},
		{"ibv_qp_attr.timeout", unsafe.Offsetof(qa.timeout), unsafe.Sizeof(qa.timeout)},
		{"ibv_qp_attr.retry_cnt", unsafe.Offsetof(qa.retryCnt), unsafe.Sizeof(qa.retryCnt)},
		{"ibv_qp_attr.rnr_retry", unsafe.Offsetof(qa.rnrRetry), unsafe.Sizeof(qa.rnrRetry)},
		{"ibv_ah_attr.grh.dgid", unsafe.Offsetof(ah.dgid), unsafe.Sizeof(ah.dgid)},
		{"ibv_ah_attr.grh.sgid_index", unsafe.Offsetof(ah.sgidIndex), unsafe.Sizeof(ah.sgidIndex)},
		{"ibv_ah_attr.grh.hop_limit", unsafe.Offsetof(ah.hopLimit), unsafe.Sizeof(ah.hopLimit)},
		{"ibv_ah_attr.dlid", unsafe.Offsetof(ah.dlid), unsafe.Sizeof(ah.dlid)},
		{"ibv_ah_attr.is_global", unsafe.Offsetof(ah.isGlobal), unsafe.Sizeof(ah.isGlobal)},
		{"ibv_ah_attr.port_num", unsafe.Offsetof(ah.portNum), unsafe.Sizeof(ah.portNum)},
	}
}

// whole lists the structs that are handed over as a whole: ours must not be
// smaller than the header's, or equally large where C walks an array of them.
var whole = []struct {
	name  string
	size  uintptr
	exact bool
}{
	{"ibv_device_attr", unsafe.Sizeof(deviceAttr{}), false},
	{"ibv_port_attr", unsafe.Sizeof(portAttr{}), false},
	{"ibv_send_wr", unsafe.Sizeof(sendWR{}), true},
	{"ibv_recv_wr", unsafe.Sizeof(recvWR{}), true},
	{"ibv_sge", unsafe.Sizeof(sge{}), true},
	{"ibv_wc", unsafe.Sizeof(workCompletion{}), true},
	{"ibv_qp_init_attr", unsafe.Sizeof(qpInitAttr{}), true},
	{"ibv_qp_attr", unsafe.Sizeof(qpAttr{}), true},
	{"ibv_ah_attr", unsafe.Sizeof(ahAttr{}), true},
}

var constants = map[string]int{
	"IBV_QPT_RC": qptRC, "IBV_QPT_UC": qptUC,
	"IBV_QPS_INIT": stateInit, "IBV_QPS_RTR": stateRTR, "IBV_QPS_RTS": stateRTS, "IBV_QPS_ERR": stateErr,
	"IBV_QP_STATE": maskState, "IBV_QP_ACCESS_FLAGS": maskAccessFlags, "IBV_QP_PKEY_INDEX": maskPkeyIndex,
	"IBV_QP_PORT": maskPort, "IBV_QP_AV": maskAV, "IBV_QP_PATH_MTU": maskPathMTU, "IBV_QP_TIMEOUT": maskTimeout,
	"IBV_QP_RETRY_CNT": maskRetryCnt, "IBV_QP_RNR_RETRY": maskRNRRetry, "IBV_QP_RQ_PSN": maskRQPSN,
	"IBV_QP_MAX_QP_RD_ATOMIC": maskMaxRDAtomic, "IBV_QP_MIN_RNR_TIMER": maskMinRNRTimer, "IBV_QP_SQ_PSN": maskSQPSN,
	"IBV_QP_MAX_DEST_RD_ATOMIC": maskMaxDestRDAtomic, "IBV_QP_DEST_QPN": maskDestQPN,
	"IBV_ACCESS_LOCAL_WRITE": accessLocalWrite, "IBV_ACCESS_REMOTE_WRITE": accessRemoteWrite,
	"IBV_WR_RDMA_WRITE": wrWrite, "IBV_WR_RDMA_WRITE_WITH_IMM": wrWriteImm, "IBV_WR_SEND": wrSend,
	"IBV_SEND_SIGNALED": sendSignaled,
	"IBV_WC_RECV":       wcRecv, "IBV_WC_RECV_RDMA_WITH_IMM": wcRecvImm,
	"IBV_PORT_ACTIVE": portActive, "IBV_MTU_256": mtu256, "IBV_MTU_4096": mtu256 + 4,
}

// TestLayout compiles a C program against the header that is installed and
// compares what it says with what layout.go says.
func TestLayout(t *testing.T) {
	c := bytes.NewBufferString("#include <stdio.h>\n#include <stddef.h>\n#include <infiniband/verbs.h>\nint main(void) {\n")
	for _, f := range fields() {
		s, m, _ := strings.Cut(f.name, ".")
		fmt.Fprintf(c, "printf(\"%s %%zu %%zu\\n\", offsetof(struct %s, %s), sizeof(((struct %s *)0)->%s));\n", f.name, s, m, s, m)
	}
	for _, w := range whole {
		fmt.Fprintf(c, "printf(\"%s %%zu\\n\", sizeof(struct %s));\n", w.name, w.name)
	}
	for name := range constants {
		fmt.Fprintf(c, "printf(\"%s %%d\\n\", (int)%s);\n", name, name)
	}
	c.WriteString("return 0; }\n")

	said := map[string]string{}
	for line := range strings.Lines(runC(t, c.Bytes())) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		said[name] = rest
	}
	for _, f := range fields() {
		if want := fmt.Sprintf("%d %d", f.offset, f.size); said[f.name] != want {
			t.Errorf("%s is at, and has size, %q in C, %q here", f.name, said[f.name], want)
		}
	}
	for _, w := range whole {
		var size uintptr
		fmt.Sscan(said[w.name], &size)
		if size == 0 || size > w.size || w.exact && size != w.size {
			t.Errorf("struct %s has %q bytes in C, %d here", w.name, said[w.name], w.size)
		}
	}
	for name, v := range constants {
		if said[name] != fmt.Sprint(v) {
			t.Errorf("%s is %q in C, %d here", name, said[name], v)
		}
	}
}

// runC compiles and runs a program with the system's compiler. Where the test
// has to bring its own header, VERBS_INCLUDE names the directory.
func runC(t *testing.T, src []byte) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("SKIPPED: no C compiler (cc), so the layout of the verbs' structs is not checked here")
	}
	dir := t.TempDir()
	file, prog := filepath.Join(dir, "layout.c"), filepath.Join(dir, "layout")
	if err := os.WriteFile(file, src, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-o", prog, file}
	if inc := os.Getenv("VERBS_INCLUDE"); inc != "" {
		args = append([]string{"-I", inc}, args...)
	}
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && bytes.Contains(out, []byte("infiniband/verbs.h")) && bytes.Contains(out, []byte("not")) {
			t.Skip("SKIPPED: no header infiniband/verbs.h (libibverbs-dev), so the layout of the verbs' structs is not checked here")
		}
		t.Fatalf("compiling: %v\n%s", err, out)
	}
	out, err := exec.Command(prog).Output()
	if err != nil {
		t.Fatalf("running: %v", err)
	}
	return string(out)
}

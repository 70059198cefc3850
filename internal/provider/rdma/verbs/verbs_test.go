package verbs

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/ebitengine/purego"

	"thundercollective/internal/provider/rdma/internal/hca"
)

// testDevice names the device that the tests may use; without one they check
// only what needs none.
const testDevice = "THUNDER_TEST_RDMA"

func host(t *testing.T) *Host {
	t.Helper()
	h, err := NewHost()
	var missing *MissingError
	if errors.As(err, &missing) {
		if os.Getenv(testDevice) != "" {
			t.Fatal(err)
		}
		t.Skipf("SKIPPED: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestOpenUnknownDevice(t *testing.T) {
	if _, err := host(t).Open("no-such-device"); err == nil {
		t.Error("opened a device that does not exist")
	}
}

func TestErrorTellsErrno(t *testing.T) {
	err := error(&Error{Verb: "ibv_reg_mr", Errno: syscall.ENOMEM})
	if !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("%v is not ENOMEM", err)
	}
}

func TestMissingLibraryIsASentence(t *testing.T) {
	_, err := load([]string{"libno-such-library.so.9"})
	var missing *MissingError
	if !errors.As(err, &missing) || missing.Library != "libno-such-library.so.9" || missing.Fix == "" {
		t.Errorf("got %v, want a MissingError with the library and the fix", err)
	}
}

// TestDevice makes and releases everything once, on a real device, and moves a
// message from one queue pair to another.
func TestDevice(t *testing.T) {
	name := os.Getenv(testDevice)
	if name == "" {
		t.Skipf("SKIPPED: needs a real device, named in %s (scripts/rdma-vm.sh brings one)", testDevice)
	}
	h := host(t)
	d, err := h.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %+v", name, d.Limits())
	port, err := d.Port(1)
	if err != nil || !port.Active {
		t.Fatalf("port %+v, %v", port, err)
	}
	gid := mappedGID(t, d)
	pd := must(t)(d.NewPD()).(hca.PD)
	ch := must(t)(d.NewChannel()).(hca.Channel)
	cq := must(t)(d.NewCQ(64, ch)).(hca.CQ)
	mem, err := h.Map(8192)
	if err != nil {
		t.Fatal(err)
	}
	mr := must(t)(pd.Register(mem)).(hca.MR)
	var qps [2]hca.QP
	for i := range qps {
		qps[i] = must(t)(pd.NewQP(hca.QPConfig{RC: true, CQ: cq, SendWR: 4, RecvWR: 4, MaxSGE: 2, Port: 1})).(hca.QP)
	}
	for i, q := range qps {
		if err := q.Connect(hca.Remote{
			QPN: qps[1-i].Num(), PSN: 100, LocalPSN: 100, LID: port.LID, GID: gid.Addr, MTU: port.MTU,
			Port: 1, GIDIndex: gid.Index, Global: true, HopLimit: 1,
		}); err != nil {
			t.Fatal(err)
		}
	}
	addr := uint64(ptr(&mem[0]))
	if err := qps[1].PostRecv(7, hca.SGE{Addr: addr + 4096, Len: 4096, LKey: mr.LKey()}); err != nil {
		t.Fatal(err)
	}
	if err := cq.Arm(); err != nil {
		t.Fatal(err)
	}
	copy(mem, "over the wire")
	wr := &hca.SendWR{ID: 3, Op: hca.Send, NSGE: 2, SGE: [2]hca.SGE{{Addr: addr, Len: 5, LKey: mr.LKey()}, {Addr: addr + 5, Len: 8, LKey: mr.LKey()}}}
	if err := qps[0].PostSend(wr); err != nil {
		t.Fatal(err)
	}
	if err := ch.Wait(); err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]hca.WC{}
	for len(seen) < 2 {
		var wcs [4]hca.WC
		n, err := cq.Poll(wcs[:])
		if err != nil {
			t.Fatal(err)
		}
		for _, wc := range wcs[:n] {
			seen[wc.ID] = wc
		}
	}
	if seen[3].Status != hca.Success || seen[7].Status != hca.Success || seen[7].Len != 13 || string(mem[4096:4109]) != "over the wire" {
		t.Errorf("completions %+v, received %q", seen, mem[4096:4109])
	}
	// What is posted to a queue pair that fails comes back as flushed.
	if err := qps[1].PostRecv(8, hca.SGE{Addr: addr, Len: 4096, LKey: mr.LKey()}); err != nil {
		t.Fatal(err)
	}
	if err := qps[1].Fail(); err != nil {
		t.Fatal(err)
	}
	var wcs [4]hca.WC
	for n := 0; n == 0; {
		if n, err = cq.Poll(wcs[:]); err != nil {
			t.Fatal(err)
		}
	}
	if wcs[0].ID != 8 || wcs[0].Status != hca.Flushed {
		t.Errorf("after failing: %+v", wcs[0])
	}
	ch.Stop()
	for _, c := range []interface{ Close() error }{qps[0], qps[1], mr, cq, ch, pd, d} {
		if err := c.Close(); err != nil {
			t.Errorf("%T: %v", c, err)
		}
	}
	if err := h.Unmap(mem); err != nil {
		t.Error(err)
	}
}

func must(t *testing.T) func(v any, err error) any {
	return func(v any, err error) any {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func mappedGID(t *testing.T, d hca.Device) hca.GID {
	t.Helper()
	gids, err := d.GIDs(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range gids {
		if g.IPv4Mapped() {
			return g
		}
	}
	t.Fatalf("no IPv4-mapped GID among %v", gids)
	return hca.GID{}
}

// TestErrnoIsRead calls something of the C library that is known to fail.
func TestErrnoIsRead(t *testing.T) {
	errno, err := errnoFunc()
	if err != nil {
		t.Fatal(err)
	}
	fn, err := purego.Dlsym(purego.RTLD_DEFAULT, "close")
	if err != nil {
		t.Fatal(err)
	}
	bad := int32(-1)
	if got := (verb{"close", fn, errno}).do(uintptr(uint32(bad))); !errors.Is(got, syscall.EBADF) {
		t.Errorf("closing no file: %v, want EBADF", got)
	}
}

// TestCallsDoNotAllocate calls a function the way the data path does.
func TestCallsDoNotAllocate(t *testing.T) {
	fn, err := purego.Dlsym(purego.RTLD_DEFAULT, "abs")
	if err != nil {
		t.Fatal(err)
	}
	errno, err := errnoFunc()
	if err != nil {
		t.Fatal(err)
	}
	args := new([3]uintptr)
	v := verb{"abs", fn, errno}
	if n := testing.AllocsPerRun(100, func() {
		purego.SyscallN(fn, args[:]...)
		v.call(args[:]...)
	}); n != 0 {
		t.Errorf("two calls allocate %v times", n)
	}
}

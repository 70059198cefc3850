package e2e_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	thunder "thundercollective"
	"thundercollective/fabric"
	"thundercollective/internal/faultproxy"
	"thundercollective/internal/freeaddr"
)

// TestDamagedPayload has a byte of a large reduction change on the way. With checksums,
// no rank returns a wrong result: all blame the same end of the connection.
func TestDamagedPayload(t *testing.T) {
	addrs := freeaddr.Loopback(t, 3)
	proxy, err := faultproxy.New(addrs[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	comms := make([]*thunder.Comm, 3)
	each(t, 3, func(r int) (err error) {
		list := append([]string(nil), addrs...)
		if r == 1 {
			list[0] = proxy.Addr()
		}
		comms[r], err = thunder.Init(t.Context(), thunder.Options{Join: thunder.Join{Rank: r, Size: 3, Addrs: list}, Security: thunder.Security{Token: []byte("secret")}, Transport: thunder.Transport{Fabric: "tcp", Checksum: true}})
		return err
	})
	if t.Failed() {
		t.FailNow()
	}
	closeAtEnd(t, comms)
	each(t, 3, func(r int) error { return thunder.Barrier(t.Context(), comms[r]) })
	proxy.Set(faultproxy.There, faultproxy.Fault{Corrupt: true, CorruptAfter: 100})
	each(t, 3, func(r int) error {
		buf := make([]int64, 1<<18)
		for {
			for i := range buf {
				buf[i] = int64(r)
			}
			err := thunder.AllReduce(t.Context(), comms[r], buf, thunder.Sum)
			lost, ok := errors.AsType[*thunder.PeerLostError](err)
			switch {
			case ok && lost.Rank != 0 && lost.Rank != 1, err != nil && !ok:
				return fmt.Errorf("got %v, want rank 0 or 1 lost", err)
			case ok && !strings.Contains(lost.Cause, "damaged on the way"):
				return fmt.Errorf("the cause is %q", lost.Cause)
			case ok:
				_, corrupt := errors.AsType[*fabric.CorruptError](err)
				if r == 0 && lost.Rank == 1 && !corrupt {
					return fmt.Errorf("got %v, want the CorruptError that it saw", err)
				}
				return nil
			}
			for i, v := range buf {
				if v != 3 {
					return fmt.Errorf("element %d is %d", i, v)
				}
			}
		}
	})
}

func TestChecksumVariable(t *testing.T) {
	t.Setenv("THUNDER_CHECKSUM", "perhaps")
	if _, err := thunder.Init(t.Context(), thunder.Options{}); err == nil || !strings.Contains(err.Error(), "THUNDER_CHECKSUM") {
		t.Errorf("got %v, want the variable named", err)
	}
}

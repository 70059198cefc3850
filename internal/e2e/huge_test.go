package e2e_test

import (
	"fmt"
	"os"
	"testing"

	thunder "thundercollective"
)

// TestHuge moves buffers whose length needs more than 32 bits, in bytes and in
// elements.
func TestHuge(t *testing.T) {
	const count = 4<<30 + 4099
	if testing.Short() {
		t.Skip("SKIPPED with -short: needs 9 GiB and some seconds")
	}
	if free := availableMemory(); free < 11<<30 {
		t.Skipf("SKIPPED: needs 11 GiB of free memory, %d MiB are there", free>>20)
	}
	places := []int{0, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, count - 1}
	bufs := [2][]uint8{make([]uint8, count), make([]uint8, count)}
	for name, ranks := range fabrics {
		t.Run(name, func(t *testing.T) {
			comms := ranks(t, 2, thunder.Options{})
			for r := range bufs {
				for _, i := range places {
					bufs[r][i] = uint8(10*r + 1)
				}
			}
			each(t, 2, func(r int) error {
				if name == "tcp" {
					return nil // its messages are the same segments as in memory
				}
				if err := thunder.AllReduce(t.Context(), comms[r], bufs[r], thunder.Sum); err != nil {
					return err
				}
				return checkPlaces(bufs[r], places, 12)
			})
			for _, i := range places {
				bufs[0][i] = 77
			}
			each(t, 2, func(r int) error {
				if r == 0 {
					return thunder.Send(t.Context(), comms[0], bufs[0], 1)
				}
				if err := thunder.Recv(t.Context(), comms[1], bufs[1], 0); err != nil {
					return err
				}
				return checkPlaces(bufs[1], places, 77)
			})
		})
	}
}

func checkPlaces(b []uint8, places []int, want uint8) error {
	for _, i := range places {
		if b[i] != want || (i > 0 && i < len(b)-2 && b[i-1] != 0 && b[i+1] != 0) {
			return fmt.Errorf("around element %d: %v, want %d there", i, b[max(0, i-1):min(len(b), i+2)], want)
		}
	}
	return nil
}

// availableMemory returns what can be had without swapping; 0 if unknown.
func availableMemory() (free int64) {
	info, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	var total, unused int64
	fmt.Sscanf(string(info), "MemTotal: %d kB\nMemFree: %d kB\nMemAvailable: %d kB", &total, &unused, &free)
	return free << 10
}

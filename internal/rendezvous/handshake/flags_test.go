package handshake

import (
	"strings"
	"testing"
)

func TestFlagsDiffer(t *testing.T) {
	for _, tt := range []struct {
		a, b uint8 // of ranks 3 and 5
		want string
	}{
		{FlagChecksum, 0, "rank 3 was started with checksums, rank 5 without"},
		{FlagShm, FlagShm | FlagChecksum, "rank 5 was started with checksums, rank 3 without"},
		{FlagProfile, 0, "rank 3 was started with a profile, rank 5 without"},
		{0, FlagCalibrate, "rank 5 was told to calibrate, rank 3 was not"},
		{0, FlagShm, "rank 3 uses TCP, rank 5 uses shared memory"},
		{FlagRDMA, FlagRDMA | FlagShm, "rank 3 uses RDMA, rank 5 uses shared memory or RDMA"},
	} {
		got := FlagsDiffer(3, tt.a, 5, tt.b)
		if !strings.Contains(got, tt.want) || len(got) > MaxText {
			t.Errorf("%b, %b: got %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

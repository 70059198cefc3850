package wiring

import (
	"strings"
	"testing"

	"thundercollective/internal/rendezvous/handshake"
)

func TestSettingsDiffer(t *testing.T) {
	for _, tt := range []struct {
		a, b uint8 // of ranks 3 and 5
		want string
	}{
		{settingProfile, 0, "rank 3 was started with a profile, rank 5 without"},
		{0, settingCalibrate, "rank 5 was started with calibration, rank 3 without"},
		{settingShm, settingShm | settingCalibrate, "rank 5 was started with calibration, rank 3 without"},
		{0, settingShm, "rank 3 uses TCP, rank 5 uses shared memory"},
		{settingRDMA, settingRDMA | settingShm, "rank 3 uses RDMA, rank 5 uses shared memory or RDMA"},
	} {
		got := settingsDiffer(3, tt.a, 5, tt.b)
		if !strings.Contains(got, tt.want) || len(got) > handshake.MaxText {
			t.Errorf("%b, %b: got %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

package wiring

import (
	"fmt"

	"thundercollective/internal/rendezvous"
)

// Bits of the settings that two ranks compare when they connect (tcp.Config.Settings).
// The lowest bit is tcp.ChecksumSetting.
const (
	settingShm       uint8 = 1 << (1 + iota) // the two ranks try shared memory
	settingRDMA                              // the two ranks try RDMA
	settingProfile                           // a profile chooses the algorithms
	settingCalibrate                         // the first operation measures them
)

// settingsWith returns, for each rank, the settings that it and this rank must share.
func settingsWith(roster *rendezvous.Roster, o Config, onShm, onRDMA bool) []uint8 {
	var common uint8
	if onRDMA {
		common |= settingRDMA
	}
	if o.Profile {
		common |= settingProfile
	}
	if o.Calibrate {
		common |= settingCalibrate
	}
	settings := make([]uint8, roster.Size())
	for r := range settings {
		settings[r] = common
		if onShm && isNear(roster, r) {
			settings[r] |= settingShm
		}
	}
	return settings
}

// settingsDiffer explains in what ranks a and b differ, and how to fix it. It is
// tcp.Config.SettingsDiffer.
func settingsDiffer(a int, settingsA uint8, b int, settingsB uint8) string {
	for _, s := range []struct {
		bit  uint8
		text string
	}{
		{settingProfile, "rank %d was started with a profile, rank %d without; give all ranks the same (THUNDER_PROFILE) or none"},
		{settingCalibrate, "rank %d was started with calibration, rank %d without; set THUNDER_CALIBRATE=1 on all ranks or on none"},
	} {
		switch {
		case settingsA&s.bit > settingsB&s.bit:
			return fmt.Sprintf(s.text, a, b)
		case settingsA&s.bit < settingsB&s.bit:
			return fmt.Sprintf(s.text, b, a)
		}
	}
	return fmt.Sprintf("between the two, rank %d uses %s, rank %d uses %s; set the same --fabric (THUNDER_FABRIC) on all ranks",
		a, fabricsOf(settingsA), b, fabricsOf(settingsB))
}

// fabricsOf names the fabrics that settings allow.
func fabricsOf(settings uint8) string {
	switch settings & (settingShm | settingRDMA) {
	case settingShm:
		return "shared memory"
	case settingRDMA:
		return "RDMA"
	case settingShm | settingRDMA:
		return "shared memory or RDMA"
	}
	return "TCP"
}

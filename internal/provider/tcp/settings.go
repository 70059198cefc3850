package tcp

import "fmt"

// ChecksumSetting is the bit of a rank's settings that this package uses itself:
// payloads carry checksums. The others are the caller's (Config.Settings).
const ChecksumSetting uint8 = 1

// settings returns what the handshake with peer compares: both ends must have the same.
func (f *Fabric) settings(peer int) (settings uint8) {
	if f.cfg.Settings != nil {
		settings = f.cfg.Settings[peer]
	}
	if f.cfg.Checksum {
		settings |= ChecksumSetting
	}
	return settings
}

// settingsDiffer explains in what this rank and a peer that sent its settings differ.
func (f *Fabric) settingsDiffer(peer int, theirs uint8) string {
	rank, ours := f.cfg.Rank, f.settings(peer)
	switch {
	case ours&ChecksumSetting > theirs&ChecksumSetting:
		return ChecksumsDiffer(rank, peer)
	case ours&ChecksumSetting < theirs&ChecksumSetting:
		return ChecksumsDiffer(peer, rank)
	case f.cfg.SettingsDiffer != nil:
		return f.cfg.SettingsDiffer(rank, ours, peer, theirs)
	}
	return fmt.Sprintf("rank %d runs with settings %#x, rank %d with %#x; start all ranks the same way", rank, ours, peer, theirs)
}

// ChecksumsDiffer explains that payloads carry checksums at one of two ranks only, and
// how to fix it.
func ChecksumsDiffer(with, without int) string {
	return fmt.Sprintf("rank %d was started with checksums, rank %d without; set --checksum (THUNDER_CHECKSUM=1) on all ranks or on none", with, without)
}

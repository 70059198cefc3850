package handshake

import "fmt"

// Flags of a Hello.
const (
	FlagChecksum  uint8 = 1 << iota // payloads carry checksums
	FlagShm                         // the two look whether they share memory
	FlagRDMA                        // the two look whether there is RDMA between them
	FlagProfile                     // algorithms are chosen by a profile
	FlagCalibrate                   // or by what the first operation measures
)

// FlagsDiffer says in what two ranks do not do alike, and what to do.
func FlagsDiffer(a int, flagsA uint8, b int, flagsB uint8) string {
	for _, f := range []struct {
		flag uint8
		text func(with, without int) string
	}{
		{FlagChecksum, ChecksumsDiffer},
		{FlagProfile, profilesDiffer},
		{FlagCalibrate, calibrationDiffers},
	} {
		switch {
		case flagsA&f.flag > flagsB&f.flag:
			return f.text(a, b)
		case flagsA&f.flag < flagsB&f.flag:
			return f.text(b, a)
		}
	}
	return fmt.Sprintf("to each other, rank %d uses %s, rank %d uses %s; say the same --fabric (THUNDER_FABRIC) on all ranks",
		a, carriers(flagsA), b, carriers(flagsB))
}

// ChecksumsDiffer says that of two ranks only one, with, has payloads carry checksums, and
// what to do.
func ChecksumsDiffer(with, without int) string {
	return fmt.Sprintf("rank %d was started with checksums, rank %d without; say --checksum (THUNDER_CHECKSUM=1) on all ranks or on none", with, without)
}

func profilesDiffer(with, without int) string {
	return fmt.Sprintf("rank %d was started with a profile, rank %d without; give all ranks the same (THUNDER_PROFILE) or none", with, without)
}

func calibrationDiffers(with, without int) string {
	return fmt.Sprintf("rank %d was told to calibrate, rank %d was not; say THUNDER_CALIBRATE=1 on all ranks or on none", with, without)
}

// carriers names what carries messages.
func carriers(flags uint8) string {
	switch flags & (FlagShm | FlagRDMA) {
	case FlagShm:
		return "shared memory"
	case FlagRDMA:
		return "RDMA"
	case FlagShm | FlagRDMA:
		return "shared memory or RDMA"
	}
	return "TCP"
}

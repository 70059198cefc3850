package rdma

import (
	"fmt"
	"sync/atomic"
)

// Resources counts the objects that a Fabric has on its devices. All are 0 after Close.
type Resources struct {
	Devices, PDs, CQs, QPs, MRs, Channels int
}

func (r Resources) String() string {
	return fmt.Sprintf("%d devices, %d PDs, %d CQs, %d QPs, %d MRs, %d channels", r.Devices, r.PDs, r.CQs, r.QPs, r.MRs, r.Channels)
}

// ledger counts the objects.
type ledger struct {
	devices, pds, cqs, qps, mrs, channels atomic.Int64
}

func (l *ledger) read() Resources {
	return Resources{
		Devices: int(l.devices.Load()), PDs: int(l.pds.Load()), CQs: int(l.cqs.Load()),
		QPs: int(l.qps.Load()), MRs: int(l.mrs.Load()), Channels: int(l.channels.Load()),
	}
}

// A closer is any object of a device.
type closer interface{ Close() error }

// release closes an object and decrements its count. If that fails, it keeps the count
// and sets *first unless an earlier call has.
func release(count *atomic.Int64, c closer, first *error) {
	if err := c.Close(); err != nil {
		if *first == nil {
			*first = err
		}
		return
	}
	count.Add(-1)
}

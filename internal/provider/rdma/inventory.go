package rdma

import (
	"errors"
	"fmt"
)

// An inventory holds the open devices of this rank and which of them lead to each peer.
// It does not change between open and close.
type inventory struct {
	cfg   *Config
	books *ledger
	rank  int

	devices []*device // in no particular order
	rows    []railRow // by peer
}

// railRow holds the devices for a peer, or the reason why there are none.
type railRow struct {
	devices []*device
	any     bool // use one of them
	why     error
}

// open opens the devices that Config.Devices names, or all. Without Config.Fallback, a
// peer without a device is an error.
func (v *inventory) open(size int) error {
	v.rows = make([]railRow, size)
	var broken error
	if v.cfg.Host == nil {
		h, err := systemHost()
		if err != nil {
			broken = &absentError{err}
		}
		v.cfg.Host = h
	}
	opened := map[string]railRow{} // by device
	for peer := range v.rows {
		if peer == v.rank {
			continue
		}
		row := &v.rows[peer]
		switch {
		case broken != nil:
			row.why = broken
		case v.cfg.Devices == nil:
			*row = v.anyDevices(opened)
		case len(v.cfg.Devices[peer]) == 0:
			row.why = fmt.Errorf("the hostfile names no RDMA device from rank %d to rank %d", v.rank, peer)
		default:
			*row = v.namedDevices(opened, v.cfg.Devices[peer])
		}
		if row.why != nil && !v.cfg.Fallback {
			return row.why
		}
	}
	return nil
}

// openOne opens a device, unless opened has it.
func (v *inventory) openOne(opened map[string]railRow, name string) railRow {
	r, seen := opened[name]
	if !seen {
		d, err := openDevice(v.cfg, v.books, name)
		if r.why = err; err == nil {
			d.num = len(v.devices)
			v.devices = append(v.devices, d)
			r.devices = []*device{d}
		}
		opened[name] = r
	}
	return r
}

// namedDevices opens the given devices.
func (v *inventory) namedDevices(opened map[string]railRow, names []string) railRow {
	var row railRow
	for _, name := range names {
		r := v.openOne(opened, name)
		if r.why != nil {
			return r
		}
		row.devices = append(row.devices, r.devices...)
	}
	return row
}

// anyDevices opens all devices that work; if none does, it tells why.
func (v *inventory) anyDevices(opened map[string]railRow) railRow {
	names, err := v.cfg.Host.Devices()
	if err == nil && len(names) == 0 {
		err = &absentError{errNoDevice}
	}
	row := railRow{any: true, why: err}
	for _, name := range names {
		r := v.openOne(opened, name)
		row.devices = append(row.devices, r.devices...)
		if row.why == nil {
			row.why = r.why
		}
	}
	if len(row.devices) > 0 {
		row.why = nil
		row.devices = row.devices[:min(len(row.devices), maxRails)]
	}
	return row
}

// An absentError reports why a machine has no RDMA at all.
type absentError struct{ error }

func (e *absentError) Unwrap() error { return e.error }

var errNoDevice = errors.New("this machine has no RDMA device; check that the card is present and its driver loaded " +
	"(soft-RoCE: rdma link add rxe0 type rxe netdev eth0; macOS: rdma_ctl enable, in Recovery)")

// offerTo returns the offer of this rank to a peer.
func (v *inventory) offerTo(peer int) offer {
	row := &v.rows[peer]
	o := offer{Protocol: protocol, Any: row.any, Fallback: v.cfg.Fallback, Why: text(row.why)}
	o.Plain = v.cfg.Devices == nil && errors.As(row.why, new(*absentError))
	for _, d := range row.devices {
		o.Rails = append(o.Rails, d.offer())
	}
	return o
}

// close closes the devices, which are no longer in use.
func (v *inventory) close() error {
	var first error
	for _, d := range v.devices {
		if err := d.close(v.books); first == nil {
			first = err
		}
	}
	return first
}

package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	thunder "thundercollective"
)

// A pairTest is one end of a measurement between two ranks. The leader announces each step
// and takes the times; the follower responds.
type pairTest struct {
	comm       *thunder.Comm
	cfg        Config
	peer       int
	shape      shape
	pings      int
	send, recv []byte
	theirs     pattern // expected to arrive
}

// What the leader announces besides the index of a rail.
const (
	allRails = -1
	theEnd   = -2
)

// The states of a rail that both ends tell each other.
const (
	ready = 1
	lost  = 0
)

func newPairTest(comm *thunder.Comm, cfg Config, peer int) *pairTest {
	size := int64(cfg.DType.Size())
	count := (cfg.Max + size - 1) / size
	d := &pairTest{comm: comm, cfg: cfg, peer: peer, pings: cfg.Iters, shape: shape{int(count), count * size}}
	if d.pings == 0 {
		d.pings = matrixPings
	}
	d.send, d.recv = make([]byte, d.shape.bytes), make([]byte, d.shape.bytes)
	cfg.movedBy(comm.Rank()).fill(d.send, 0)
	d.theirs = cfg.movedBy(peer)
	return d
}

// lead measures the pair over all rails, and then over each rail alone.
func (d *pairTest) lead(ctx context.Context) ([]Row, error) {
	rows := []Row{d.row(allRails)}
	if err := d.measure(ctx, allRails, &rows[0]); err != nil {
		return nil, err
	}
	for rail := range d.comm.RailsTo(d.peer) {
		row := d.row(rail)
		if err := d.measure(ctx, rail, &row); err != nil {
			return nil, fmt.Errorf("rail %d, %s to %s: %w", rail, row.Rail.Near, row.Rail.Far, err)
		}
		rows = append(rows, row)
	}
	return rows, d.tell(ctx, theEnd)
}

// row returns a row with everything that is known before the measurement.
func (d *pairTest) row(rail int) Row {
	row := d.cfg.newRow(d.comm, d.shape)
	from := d.comm.Rank()
	row.From, row.To, row.Streams = &from, &d.peer, 0
	if rail >= 0 {
		r := d.comm.RailsTo(d.peer)[rail]
		row.Rail = &MatrixRail{Index: rail, Near: r.Near, Far: r.Far, Device: r.Device}
	}
	return row
}

// measure is the leader's part of the measurement of one rail, or of all.
func (d *pairTest) measure(ctx context.Context, rail int, row *Row) error {
	use := d.use(rail)
	defer use.end()
	if err := d.tell(ctx, int64(rail)); err != nil {
		return err
	}
	theirs, err := d.hear(ctx)
	if err != nil {
		return err
	}
	ours := use.state()
	if err := d.tell(ctx, ours); err != nil || use.err != nil {
		return firstOf(use.err, err)
	}
	if ours == lost || theirs == lost {
		row.Rail.Down = true
		return nil
	}
	trips := make([]float64, d.pings)
	ping := make([]int64, 1)
	var wrong int64
	for i := range trips {
		ping[0] = int64(i) + 1
		start := time.Now()
		if err := thunder.Send(ctx, d.comm, ping, d.peer); err != nil {
			return err
		}
		if err := thunder.Recv(ctx, d.comm, ping, d.peer); err != nil {
			return err
		}
		trips[i] = time.Since(start).Seconds()
		if ping[0] != int64(i)+1 {
			wrong++
		}
	}
	row.Lat = latency(trips)
	for _, both := range []bool{false, true} {
		seconds, iters, bad, err := d.series(ctx, both)
		if err != nil {
			return err
		}
		wrong += bad
		row.setSeries(both, seconds, iters)
	}
	if d.cfg.Check != CheckNone {
		row.Checked, row.Wrong = 1, &wrong // a series is timed as a whole, and its last message checked
	}
	if theirs, err = d.hear(ctx); err != nil {
		return err
	}
	if theirs == lost || use.state() == lost {
		row.forget()
		return nil
	}
	row.Streams = d.cfg.streamsTo(d.comm, d.peer, rail)
	return nil
}

// warmSeries is how many series of a single message come first: one to warm up the link,
// and one to find out how long a message takes.
const warmSeries = 2

// series times messages one after the other, one way or both ways at once.
func (d *pairTest) series(ctx context.Context, both bool) (seconds float64, iters int, wrong int64, err error) {
	for k := range warmSeries + 1 {
		iters = 1
		if k == warmSeries {
			if iters = d.cfg.Iters; iters == 0 {
				fit := matrixBudget.Seconds() / max(seconds, 1e-9)
				iters = int(min(max(fit, minIters), maxIters))
			}
		}
		poison(d.recv)
		if err := d.tell(ctx, int64(iters)); err != nil {
			return 0, 0, 0, err
		}
		if _, err := d.hear(ctx); err != nil { // the follower's buffers are ready
			return 0, 0, 0, err
		}
		start := time.Now()
		if err := d.move(ctx, iters, true, both); err != nil {
			return 0, 0, 0, err
		}
		if _, err := d.hear(ctx); err != nil { // everything has arrived
			return 0, 0, 0, err
		}
		seconds = time.Since(start).Seconds()
		bad, err := d.hear(ctx)
		if err != nil {
			return 0, 0, 0, err
		}
		wrong += bad
		if both {
			wrong += d.wrong()
		}
	}
	return seconds, iters, wrong, nil
}

// follow is the follower's counterpart of lead.
func (d *pairTest) follow(ctx context.Context) error {
	for {
		next, err := d.hear(ctx)
		if err != nil || next == theEnd {
			return err
		}
		if err := d.respond(ctx, int(next)); err != nil {
			return err
		}
	}
}

// respond is the follower's counterpart of measure.
func (d *pairTest) respond(ctx context.Context, rail int) error {
	use := d.use(rail)
	defer use.end()
	ours := use.state()
	if err := d.tell(ctx, ours); err != nil || use.err != nil {
		return firstOf(use.err, err)
	}
	theirs, err := d.hear(ctx)
	if err != nil || ours == lost || theirs == lost {
		return err
	}
	ping := make([]int64, 1)
	for range d.pings {
		if err := thunder.Recv(ctx, d.comm, ping, d.peer); err != nil {
			return err
		}
		if err := thunder.Send(ctx, d.comm, ping, d.peer); err != nil {
			return err
		}
	}
	for _, both := range []bool{false, true} {
		for range warmSeries + 1 {
			if err := d.respondSeries(ctx, both); err != nil {
				return err
			}
		}
	}
	return d.tell(ctx, use.state())
}

// respondSeries is the follower's part of one series.
func (d *pairTest) respondSeries(ctx context.Context, both bool) error {
	iters, err := d.hear(ctx)
	if err != nil {
		return err
	}
	poison(d.recv)
	if err := d.tell(ctx, ready); err != nil {
		return err
	}
	if err := d.move(ctx, int(iters), both, true); err != nil {
		return err
	}
	// Confirm first, check afterwards: the leader is taking the time.
	if err := d.tell(ctx, ready); err != nil {
		return err
	}
	return d.tell(ctx, d.wrong())
}

// move sends and receives the given number of messages, both directions independently.
func (d *pairTest) move(ctx context.Context, iters int, sends, recvs bool) error {
	var wg sync.WaitGroup
	var sendErr, recvErr error
	if sends {
		wg.Go(func() {
			sendErr = d.repeat(ctx, iters, thunder.Request{Kind: thunder.KindSend, DType: d.cfg.DType, Root: d.peer, Send: d.send})
		})
	}
	if recvs {
		recvErr = d.repeat(ctx, iters, thunder.Request{Kind: thunder.KindRecv, DType: d.cfg.DType, Root: d.peer, Recv: d.recv})
	}
	wg.Wait()
	return firstOf(sendErr, recvErr)
}

func (d *pairTest) repeat(ctx context.Context, iters int, r thunder.Request) error {
	for range iters {
		if err := d.comm.Do(ctx, &r); err != nil {
			return err
		}
	}
	return nil
}

func (d *pairTest) wrong() int64 {
	if d.cfg.Check == CheckNone {
		return 0
	}
	return d.theirs.wrong(d.recv, 0)
}

// tell and hear pass a number between the two ends.
func (d *pairTest) tell(ctx context.Context, what int64) error {
	return thunder.Send(ctx, d.comm, []int64{what}, d.peer)
}

func (d *pairTest) hear(ctx context.Context) (int64, error) {
	what := []int64{0}
	err := thunder.Recv(ctx, d.comm, what, d.peer)
	return what[0], err
}

// A railUse makes a pair use one rail only until its end. With all rails it does nothing.
type railUse struct {
	d         *pairTest
	rail      int
	failovers int // of the rail, at the start
	err       error
}

func (d *pairTest) use(rail int) *railUse {
	u := &railUse{d: d, rail: rail}
	if rail >= 0 {
		if u.err = d.comm.OnlyRail(d.peer, rail); u.err == nil {
			u.failovers = d.comm.RailsTo(d.peer)[rail].Failovers
		}
	}
	return u
}

// state returns lost if the rail is down, or was down in the meantime.
func (u *railUse) state() int64 {
	if u.rail < 0 {
		return ready
	}
	if u.err != nil {
		return lost
	}
	if r := u.d.comm.RailsTo(u.d.peer)[u.rail]; !r.Up || r.Streams == 0 || r.Failovers != u.failovers {
		return lost
	}
	return ready
}

func (u *railUse) end() {
	if u.rail >= 0 && u.err == nil {
		_ = u.d.comm.OnlyRail(u.d.peer, allRails) // cannot fail: the rail exists
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

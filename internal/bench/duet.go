package bench

import (
	"context"
	"fmt"
	"sync"
	"time"

	thunder "thundercollective"
)

// A duet is one end of a measurement between two ranks. The leader says what comes
// next, and takes the times; the follower answers.
type duet struct {
	comm       *thunder.Comm
	cfg        Config
	peer       int
	shape      shape
	pings      int
	send, recv []byte
	theirs     pattern // of what is received
}

// What the leader says comes next, beside the number of a rail.
const (
	allRails = -1
	theEnd   = -2
)

// What the follower answers.
const (
	ready = 1
	lost  = 0
)

func newDuet(comm *thunder.Comm, cfg Config, peer int) *duet {
	size := int64(cfg.DType.Size())
	count := (cfg.Max + size - 1) / size
	d := &duet{comm: comm, cfg: cfg, peer: peer, pings: cfg.Iters, shape: shape{int(count), count * size}}
	if d.pings == 0 {
		d.pings = matrixPings
	}
	d.send, d.recv = make([]byte, d.shape.bytes), make([]byte, d.shape.bytes)
	cfg.movedBy(comm.Rank()).fill(d.send, 0)
	d.theirs = cfg.movedBy(peer)
	return d
}

// lead measures the pair as it is, and then each of its rails alone.
func (d *duet) lead(ctx context.Context) ([]Row, error) {
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
	return rows, d.say(ctx, theEnd)
}

// row is what is known before measuring.
func (d *duet) row(rail int) Row {
	row := d.cfg.newRow(d.comm, d.shape)
	from := d.comm.Rank()
	row.From, row.To, row.Streams = &from, &d.peer, 0
	if rail >= 0 {
		r := d.comm.RailsTo(d.peer)[rail]
		row.Rail = &MatrixRail{Index: rail, Near: r.Near, Far: r.Far, Device: r.Device}
	}
	return row
}

// measure is the leader's part for one rail, or for all.
func (d *duet) measure(ctx context.Context, rail int, row *Row) error {
	use := d.use(rail)
	defer use.end()
	if err := d.say(ctx, int64(rail)); err != nil {
		return err
	}
	theirs, err := d.hear(ctx)
	if err != nil {
		return err
	}
	ours := use.state()
	if err := d.say(ctx, ours); err != nil || use.err != nil {
		return firstOf(use.err, err)
	}
	if ours == lost || theirs == lost {
		row.Rail.Down = true
		return nil
	}
	trips := make([]float64, d.pings)
	ping := make([]int64, 1)
	for i := range trips {
		start := time.Now()
		if err := thunder.Send(ctx, d.comm, ping, d.peer); err != nil {
			return err
		}
		if err := thunder.Recv(ctx, d.comm, ping, d.peer); err != nil {
			return err
		}
		trips[i] = time.Since(start).Seconds()
	}
	row.Lat = latency(trips)
	var wrong int64
	for _, both := range []bool{false, true} {
		seconds, iters, bad, err := d.train(ctx, both)
		if err != nil {
			return err
		}
		wrong += bad
		row.setTrain(both, seconds, iters)
	}
	if !d.cfg.NoCheck {
		row.Wrong = &wrong
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

// warmTrains is how many trains of a single message come first: one that warms the
// path up, and one that tells how long a message takes.
const warmTrains = 2

// train times messages one behind the other, one way or both ways at once.
func (d *duet) train(ctx context.Context, both bool) (seconds float64, iters int, wrong int64, err error) {
	for k := range warmTrains + 1 {
		iters = 1
		if k == warmTrains {
			if iters = d.cfg.Iters; iters == 0 {
				fit := matrixBudget.Seconds() / max(seconds, 1e-9)
				iters = int(min(max(fit, minIters), maxIters))
			}
		}
		poison(d.recv)
		if err := d.say(ctx, int64(iters)); err != nil {
			return 0, 0, 0, err
		}
		if _, err := d.hear(ctx); err != nil { // its buffers are ready
			return 0, 0, 0, err
		}
		start := time.Now()
		if err := d.move(ctx, iters, true, both); err != nil {
			return 0, 0, 0, err
		}
		if _, err := d.hear(ctx); err != nil { // all of it has arrived
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

// follow is the other end of lead.
func (d *duet) follow(ctx context.Context) error {
	for {
		next, err := d.hear(ctx)
		if err != nil || next == theEnd {
			return err
		}
		if err := d.answer(ctx, int(next)); err != nil {
			return err
		}
	}
}

// answer is the other end of measure.
func (d *duet) answer(ctx context.Context, rail int) error {
	use := d.use(rail)
	defer use.end()
	ours := use.state()
	if err := d.say(ctx, ours); err != nil || use.err != nil {
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
		for range warmTrains + 1 {
			if err := d.answerTrain(ctx, both); err != nil {
				return err
			}
		}
	}
	return d.say(ctx, use.state())
}

// answerTrain is the other end of one train.
func (d *duet) answerTrain(ctx context.Context, both bool) error {
	iters, err := d.hear(ctx)
	if err != nil {
		return err
	}
	poison(d.recv)
	if err := d.say(ctx, ready); err != nil {
		return err
	}
	if err := d.move(ctx, int(iters), both, true); err != nil {
		return err
	}
	// Confirm first, look at what came afterwards: the leader's clock runs.
	if err := d.say(ctx, ready); err != nil {
		return err
	}
	return d.say(ctx, d.wrong())
}

// move sends and receives so many messages, each way by itself.
func (d *duet) move(ctx context.Context, iters int, sends, recvs bool) error {
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

func (d *duet) repeat(ctx context.Context, iters int, r thunder.Request) error {
	for range iters {
		if err := d.comm.Do(ctx, &r); err != nil {
			return err
		}
	}
	return nil
}

func (d *duet) wrong() int64 {
	if d.cfg.NoCheck {
		return 0
	}
	return d.theirs.wrong(d.recv, 0)
}

// say and hear pass a number between the two ends.
func (d *duet) say(ctx context.Context, what int64) error {
	return thunder.Send(ctx, d.comm, []int64{what}, d.peer)
}

func (d *duet) hear(ctx context.Context) (int64, error) {
	what := []int64{0}
	err := thunder.Recv(ctx, d.comm, what, d.peer)
	return what[0], err
}

// A railUse is the time during which one rail is used alone; of all rails it is
// nothing special.
type railUse struct {
	d         *duet
	rail      int
	failovers int // of the rail, before
	err       error
}

func (d *duet) use(rail int) *railUse {
	u := &railUse{d: d, rail: rail}
	if rail >= 0 {
		if u.err = d.comm.OnlyRail(d.peer, rail); u.err == nil {
			u.failovers = d.comm.RailsTo(d.peer)[rail].Failovers
		}
	}
	return u
}

// state is lost if the rail does not work, or did not all the time.
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
		_ = u.d.comm.OnlyRail(u.d.peer, allRails) // that rail is known
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

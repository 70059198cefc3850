package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	thunder "thundercollective"
)

// What Matrix does for each pair, and each rail, when iterations are left open: so
// many round trips, and as long a train of messages each way.
const (
	matrixPings  = 200
	matrixBudget = 50 * time.Millisecond
)

// A MatrixRail says which of the rails between two ranks a row is about.
type MatrixRail struct {
	Index  int    `json:"index"` // the same at both ends
	Near   string `json:"near"`  // address of the sender
	Far    string `json:"far"`
	Device string `json:"device,omitempty"` // interface of the sender
	// Down says that the rail was lost before or while it was measured; then there
	// are no figures.
	Down bool `json:"down,omitempty"`
}

// runMatrix measures the ordered pairs one after the other, so that they do not
// get in each other's way. The others wait for the broadcast of the result.
func runMatrix(ctx context.Context, comm *thunder.Comm, cfg Config, emit func(Row)) error {
	for from := range comm.Size() {
		for to := range comm.Size() {
			if from == to {
				continue
			}
			rows, err := measurePair(ctx, comm, cfg, from, to)
			if err != nil {
				return fmt.Errorf("%s from rank %d to rank %d: %w", cfg.Mode, from, to, err)
			}
			for _, row := range rows {
				emit(row)
			}
		}
	}
	return nil
}

// measurePair returns the row of a pair and, where it is joined by several rails,
// one for each of them.
func measurePair(ctx context.Context, comm *thunder.Comm, cfg Config, from, to int) ([]Row, error) {
	var rows []Row
	var err error
	switch comm.Rank() {
	case from:
		rows, err = newDuet(comm, cfg, to).lead(ctx)
	case to:
		err = newDuet(comm, cfg, from).follow(ctx)
	}
	if err != nil {
		return nil, err
	}
	return shareRows(ctx, comm, rows, from)
}

// shareRows hands the rows of one rank to all.
func shareRows(ctx context.Context, comm *thunder.Comm, rows []Row, from int) ([]Row, error) {
	text, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	size := []int64{int64(len(text))}
	if err := thunder.Broadcast(ctx, comm, size, from); err != nil {
		return nil, err
	}
	if comm.Rank() != from {
		text = make([]byte, size[0])
	}
	if err := thunder.Broadcast(ctx, comm, text, from); err != nil {
		return nil, err
	}
	var shared []Row
	if err := json.Unmarshal(text, &shared); err != nil {
		return nil, fmt.Errorf("the results of rank %d: %w", from, err)
	}
	for i := range shared {
		shared[i].Rank = comm.Rank()
	}
	return shared, nil
}

// streamsTo is how many streams carry messages to a rank with which there have been
// some: those of all rails, or of the one given, where there are several; else those
// of the fabric.
func (c Config) streamsTo(comm *thunder.Comm, rank, rail int) int {
	rails := comm.RailsTo(rank)
	switch {
	case rail >= 0:
		return rails[rail].Streams
	case len(rails) > 0:
		n := 0
		for _, r := range rails {
			n += r.Streams
		}
		return n
	}
	shared := strings.Contains(comm.Fabric(), "shm") && comm.Host(rank) == comm.Host(comm.Rank())
	if shared || !strings.Contains(comm.Fabric(), "tcp") {
		return 1
	}
	return c.streams(comm)
}

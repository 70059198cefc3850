package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	thunder "thundercollective"
)

// How Matrix measures each pair and each rail unless Config.Iters is set: the number of
// round trips, and the duration of the series of messages each way.
const (
	matrixPings  = 200
	matrixBudget = 50 * time.Millisecond
)

// A MatrixRail identifies the rail that a row of Matrix is about.
type MatrixRail struct {
	Index  int    `json:"index"` // the same at both ends
	Near   string `json:"near"`  // address of the sender
	Far    string `json:"far"`
	Device string `json:"device,omitempty"` // interface of the sender
	// Down is set if the rail was lost before or while it was measured; the row then has no
	// figures.
	Down bool `json:"down,omitempty"`
}

// runMatrix measures the ordered pairs one after the other, so that they do not disturb
// each other. The other ranks wait for the broadcast of the result.
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

// measurePair returns the row of a pair and, if several rails connect it, one row for each
// rail.
func measurePair(ctx context.Context, comm *thunder.Comm, cfg Config, from, to int) ([]Row, error) {
	var rows []Row
	var err error
	switch comm.Rank() {
	case from:
		rows, err = newPairTest(comm, cfg, to).lead(ctx)
	case to:
		err = newPairTest(comm, cfg, from).follow(ctx)
	}
	if err != nil {
		return nil, err
	}
	return shareRows(ctx, comm, rows, from)
}

// shareRows broadcasts the rows of one rank to all ranks.
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
		return nil, fmt.Errorf("results of rank %d: %w", from, err)
	}
	for i := range shared {
		shared[i].Rank = comm.Rank()
	}
	return shared, nil
}

// streamsTo returns the number of streams that carry messages to a peer: those of one rail,
// or of all rails together if rail is negative. Without several rails, it is the number of
// streams of the fabric.
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

package thunder

import (
	"context"

	"thundercollective/internal/collective"
	"thundercollective/internal/group"
	"thundercollective/internal/tuning"
)

// Model is what the time of messages depends on; algorithms are chosen by it.
type Model = tuning.Model

// LinkCost is what the messages of one kind of link cost.
type LinkCost = tuning.LinkCost

// A Profile holds what was measured of a cluster, a model for each fabric by its
// name. 'thunder tune' writes it as JSON; Options.Tuning.Profile names the file. All ranks
// of a job need the same one.
type Profile = tuning.Profile

// ReadProfile reads a profile from a file.
func ReadProfile(path string) (*Profile, error) { return tuning.ReadProfile(path) }

// Choice is how an operation is performed.
type Choice = group.Choice

// Calibrate measures what messages between ranks of the group cost, within a host and
// between hosts where there are both, and returns the same model on all ranks. All
// ranks have to call it; it takes its turn like an operation, and some 0.4 s.
func (c *Comm) Calibrate(ctx context.Context) (Model, error) { return c.group.Calibrate(ctx) }

// Model returns what the group chooses algorithms by; nil for rules of thumb. It is
// settled with the first operation of the group.
func (c *Comm) Model() *Model { return c.group.Model() }

// Choice returns how this group performs an operation on count elements (of a block,
// where there are blocks) with the algorithm a, which may be Auto. It is settled with
// the first operation of the group.
func (c *Comm) Choice(k Kind, a Algo, dt DType, count int) Choice {
	return c.group.Choice(k, a, dt, count)
}

// Predict returns the time in microseconds that a model, such as one of Comm.Calibrate,
// expects an operation of the group to take with algorithm a. bytes is the length of the
// buffer, or of one block for operations that have a block for each rank.
func Predict(c *Comm, m Model, k Kind, a Algo, bytes int) float64 {
	machines := make([]string, c.Size())
	for rank, r := range c.group.Ranks() {
		machines[rank] = c.job.machines[r]
	}
	return m.Predict(k, a, c.Size(), collective.NewHosts(machines), bytes)
}

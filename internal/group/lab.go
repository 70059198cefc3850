package group

import (
	"context"

	"thundercollective/fabric"
	"thundercollective/internal/collective"
	"thundercollective/internal/reduce"
)

// A lab is a group for package tuning to measure: it carries out plans in the name of
// one operation.
type lab struct {
	*Group
	tag fabric.Tag
}

// Plan makes lab a tuning.Group.
func (l lab) Plan(s collective.Spec, dt reduce.DType) (*collective.Plan, error) {
	return l.plans.planner.Plan(s, dt, 0)
}

// Run makes lab a tuning.Group.
func (l lab) Run(ctx context.Context, p *collective.Plan, recv, send []byte) error {
	return l.exec.Run(ctx, p, &l.tag, recv, send)
}

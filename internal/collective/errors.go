package collective

import "fmt"

// A StepError is the error of one step of an operation. It wraps the error of the link,
// such as *fabric.LostError or *fabric.TagError.
type StepError struct {
	Kind   Kind
	Algo   Algo
	Step   Step // what was being done
	Peer   int  // with whom, as a rank of the group
	Lane   int
	Action int // its place in the lane
	Err    error
}

func (e *StepError) Error() string {
	way := "from"
	if e.Step == SendStep {
		way = "to"
	}
	return fmt.Sprintf("%v (%v): %v %s rank %d, lane %d, action %d: %v", e.Kind, e.Algo, e.Step, way, e.Peer, e.Lane, e.Action, e.Err)
}

func (e *StepError) Unwrap() error { return e.Err }

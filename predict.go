package thunder

import "thundercollective/internal/collective"

// Predict returns the time in microseconds that a model, such as one of Comm.Calibrate,
// expects an operation of the group to take with algorithm a. bytes is the length of the
// buffer, or of one block for operations that have a block for each rank.
func Predict(c *Comm, m Model, k Kind, a Algo, bytes int) float64 {
	hosts := make([]string, c.Size())
	for rank := range hosts {
		hosts[rank] = c.Host(rank)
	}
	return m.Predict(k, a, c.Size(), collective.NewHosts(hosts), bytes)
}

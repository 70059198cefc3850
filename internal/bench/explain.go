package bench

import (
	thunder "thundercollective"
	"thundercollective/internal/collective"
)

// explain says what the model expected of the row; nothing if there is none.
func (r *Row) explain(comm *thunder.Comm, m *collective.Model) {
	k := r.Mode.kind()
	if m == nil {
		return
	}
	r.Model = m
	switch r.Algo {
	case board, pooled, travels:
		return // the model is one of messages
	}
	bytes := r.SizeBytes
	if r.Mode.blocks() {
		bytes /= int64(r.WorldSize)
	}
	algo, err := collective.ParseAlgo(r.Algo)
	if err != nil || k == 0 {
		algo, k = collective.Direct, collective.SendRecv
	}
	hosts := make([]string, comm.Size())
	for rank := range hosts {
		hosts[rank] = comm.Host(rank)
	}
	t := m.Predict(k, algo, r.WorldSize, collective.NewHosts(hosts), int(bytes))
	if r.Mode == PingPong {
		t *= 2 // there and back
	}
	if r.Crowding > 0 {
		t *= r.Crowding // what the ranks would do at once, the cores do one after the other
	}
	t = round(t)
	r.Predicted = &t
}

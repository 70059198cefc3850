package bench

import (
	thunder "thundercollective"
)

// explain adds the time that the model predicts for the row, if there is a model.
func (r *Row) explain(comm *thunder.Comm, m *thunder.Model) {
	k := r.Mode.kind()
	if m == nil {
		return
	}
	r.Model = m
	switch r.Algo {
	case board, shared, roundTrip:
		return // the model is about messages
	}
	bytes := r.SizeBytes
	if r.Mode.blocks() {
		bytes /= int64(r.WorldSize)
	}
	algo, err := thunder.ParseAlgo(r.Algo)
	if err != nil || k == 0 {
		algo, k = thunder.Direct, thunder.KindSendRecv
	}
	t := thunder.Predict(comm, *m, k, algo, int(bytes))
	if r.Mode == PingPong {
		t *= 2 // there and back
	}
	if r.Crowding > 0 {
		t *= r.Crowding // ranks that would work in parallel take turns on the cores
	}
	t = round(t)
	r.Predicted = &t
}

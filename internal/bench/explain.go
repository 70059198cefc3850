package bench

import (
	thunder "thundercollective"
)

// explain says what the model expected of the row; nothing if there is none.
func (r *Row) explain(comm *thunder.Comm, m *thunder.Model) {
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
	algo, err := thunder.ParseAlgo(r.Algo)
	if err != nil || k == 0 {
		algo, k = thunder.Direct, thunder.KindSendRecv
	}
	t := thunder.Predict(comm, *m, k, algo, int(bytes))
	if r.Mode == PingPong {
		t *= 2 // there and back
	}
	if r.Crowding > 0 {
		t *= r.Crowding // what the ranks would do at once, the cores do one after the other
	}
	t = round(t)
	r.Predicted = &t
}

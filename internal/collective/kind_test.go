package collective

import "testing"

// TestKindBuffers states the lengths of all operations' buffers, at the root and elsewhere.
func TestKindBuffers(t *testing.T) {
	const count, size, root = 5, 3, 1
	for _, tt := range []struct {
		kind       Kind
		send, recv [2]int // at the root, elsewhere
		blocks     bool
	}{
		{AllReduce, [2]int{0, 0}, [2]int{5, 5}, false},
		{ReduceScatter, [2]int{15, 15}, [2]int{5, 5}, true},
		{AllGather, [2]int{5, 5}, [2]int{15, 15}, true},
		{Broadcast, [2]int{0, 0}, [2]int{5, 5}, false},
		{Reduce, [2]int{0, 0}, [2]int{5, 5}, false},
		{Gather, [2]int{5, 5}, [2]int{15, 0}, true},
		{Scatter, [2]int{15, 0}, [2]int{5, 5}, true},
		{AllToAll, [2]int{15, 15}, [2]int{15, 15}, true},
		{Barrier, [2]int{}, [2]int{}, false},
		{Send, [2]int{5, 5}, [2]int{}, false},
		{Recv, [2]int{}, [2]int{5, 5}, false},
		{SendRecv, [2]int{5, 5}, [2]int{5, 5}, false},
	} {
		for i, rank := range []int{root, 2} {
			if send, recv := tt.kind.Buffers(count, size, rank, root); send != tt.send[i] || recv != tt.recv[i] {
				t.Errorf("%v at rank %d: sends from %d elements and receives into %d, want %d and %d", tt.kind, rank, send, recv, tt.send[i], tt.recv[i])
			}
		}
		if got := tt.kind.Blocks(); got != tt.blocks {
			t.Errorf("%v has blocks: %v", tt.kind, got)
		}
	}
	// Kinds come from peers: any byte may be asked about.
	for k := 0; k < 256; k++ {
		if k := Kind(k); !k.Valid() && (k.Reduces() || k.Rooted() || k.PointToPoint() || k.Blocks()) {
			t.Errorf("%v has traits", k)
		}
	}
}

// TestLengths states the least lengths of Main and Input.
func TestLengths(t *testing.T) {
	counts, recvCounts := []int{2, 7, 4}, []int{1, 7, 3}
	for _, tt := range []struct {
		spec        Spec
		main, input [2]int // at the root, elsewhere (rank 2)
	}{
		{Spec{Kind: AllReduce}, [2]int{5, 5}, [2]int{}},
		{Spec{Kind: AllReduce, Separate: true}, [2]int{5, 5}, [2]int{5, 5}},
		{Spec{Kind: Reduce}, [2]int{5, 5}, [2]int{}},
		{Spec{Kind: Reduce, Separate: true}, [2]int{5, 0}, [2]int{5, 5}},
		{Spec{Kind: Broadcast}, [2]int{5, 5}, [2]int{}},
		{Spec{Kind: Broadcast, Separate: true}, [2]int{5, 5}, [2]int{5, 0}},
		{Spec{Kind: ReduceScatter}, [2]int{15, 15}, [2]int{}},
		{Spec{Kind: ReduceScatter, Separate: true}, [2]int{5, 5}, [2]int{15, 15}},
		{Spec{Kind: ReduceScatter, Separate: true, Counts: counts}, [2]int{7, 4}, [2]int{13, 13}},
		{Spec{Kind: AllGather}, [2]int{15, 15}, [2]int{}},
		{Spec{Kind: AllGather, Separate: true}, [2]int{15, 15}, [2]int{5, 5}},
		{Spec{Kind: AllGather, Separate: true, Counts: counts}, [2]int{13, 13}, [2]int{7, 4}},
		{Spec{Kind: Gather}, [2]int{15, 5}, [2]int{}},
		{Spec{Kind: Gather, Separate: true}, [2]int{15, 0}, [2]int{5, 5}},
		{Spec{Kind: Gather, Counts: counts}, [2]int{13, 4}, [2]int{}},
		{Spec{Kind: Scatter}, [2]int{15, 5}, [2]int{}},
		{Spec{Kind: Scatter, Separate: true}, [2]int{5, 5}, [2]int{15, 0}},
		{Spec{Kind: Scatter, Separate: true, Counts: counts}, [2]int{7, 4}, [2]int{13, 0}},
		{Spec{Kind: AllToAll, Separate: true}, [2]int{15, 15}, [2]int{15, 15}},
		{Spec{Kind: AllToAll, Separate: true, Counts: counts, RecvCounts: recvCounts}, [2]int{11, 11}, [2]int{13, 13}},
		{Spec{Kind: Barrier}, [2]int{}, [2]int{}},
		{Spec{Kind: Send}, [2]int{5, 5}, [2]int{}},
		{Spec{Kind: Send, Separate: true}, [2]int{}, [2]int{5, 5}},
		{Spec{Kind: Recv}, [2]int{5, 5}, [2]int{}},
		{Spec{Kind: SendRecv, Separate: true, RecvCount: 9}, [2]int{9, 9}, [2]int{5, 5}},
	} {
		s := tt.spec
		s.Size, s.Root, s.Count = 3, 1, 5
		for i, rank := range []int{1, 2} {
			s.Rank = rank
			if main, input := s.lengths(); main != tt.main[i] || input != tt.input[i] {
				t.Errorf("%+v: main %d, input %d, want %d and %d", s, main, input, tt.main[i], tt.input[i])
			}
		}
	}
}

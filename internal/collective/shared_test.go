package collective

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"thundercollective/fabric"
	"thundercollective/internal/reduce"
)

// How much of a rank's memory others can get at.
type access int

const (
	readable access = iota
	mappable
	hidden
)

// A pool is the memory that ranks of this process have named to each other.
type pool struct {
	mu    sync.Mutex
	named [][]byte
	reads atomic.Int64 // bytes
	// fault, if set, is asked before every read.
	fault func(reader, peer int) error
}

// poolMemory is a rank's fabric.Memory in a pool. Its round trips are made of messages.
type poolMemory struct {
	rank   int
	pool   *pool
	links  Links
	access *access // of this rank
	reads  bool
	board  *slateBoard

	made *atomic.Int64 // round trips
	// fault, if set, is asked before every round trip.
	fault func(rank, peer int) error
}

func (m *poolMemory) Board() fabric.Board                   { return m.board }
func (m *poolMemory) Reads() bool                           { return m.reads }
func (m *poolMemory) Close() error                          { return nil }
func (m *poolMemory) Share(b []byte) (fabric.Handle, bool)  { return m.name(b, mappable) }
func (m *poolMemory) Locate(b []byte) (fabric.Handle, bool) { return m.name(b, readable) }

func (m *poolMemory) name(b []byte, a access) (h fabric.Handle, ok bool) {
	if *m.access != a {
		return h, false
	}
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	m.pool.named = append(m.pool.named, b)
	binary.LittleEndian.PutUint32(h[:], uint32(len(m.pool.named)))
	return h, true
}

func (m *poolMemory) find(h fabric.Handle) []byte {
	m.pool.mu.Lock()
	defer m.pool.mu.Unlock()
	return m.pool.named[binary.LittleEndian.Uint32(h[:])-1]
}

func (m *poolMemory) Map(peer int, h fabric.Handle, n int) ([]byte, error) {
	b := m.find(h)
	if len(b) != n {
		return nil, fmt.Errorf("rank %d has named %d bytes, rank %d wants %d", peer, len(b), m.rank, n)
	}
	return b, nil
}

func (m *poolMemory) ReadAt(peer int, h fabric.Handle, off int, b []byte) error {
	if m.pool.fault != nil {
		if err := m.pool.fault(m.rank, peer); err != nil {
			return err
		}
	}
	m.pool.reads.Add(int64(copy(b, m.find(h)[off:][:len(b)])))
	return nil
}

// newPool returns the executors of n ranks that share a pool, and a board with room for
// little else than handles.
func newPool(t testing.TB, n int) (*testGroup, *pool, []access) {
	g, all, how, _ := newPoolOf(t, n)
	return g, all, how
}

func newPoolOf(t testing.TB, n int) (*testGroup, *pool, []access, []*poolMemory) {
	all, how, made := &pool{}, make([]access, n), &atomic.Int64{}
	g, memories := &testGroup{}, make([]*poolMemory, n)
	links, boards := memLinks(t, n), newSlate(n, 64)
	for r := range n {
		m := &poolMemory{rank: r, pool: all, links: links[r], access: &how[r], reads: true, board: boards[r], made: made}
		x := NewExecutor(r, n, links[r], func(error) {
			m.board.end()
			for p := range n {
				if l, err := links[r].Link(context.Background(), p); err == nil {
					l.Close()
				}
			}
		})
		t.Cleanup(x.Close)
		x.Share(m, false)
		memories[r] = m
		g.executors = append(g.executors, x)
	}
	return g, all, how, memories
}

// sharedKinds are the operations that have a shared path.
var sharedKinds = []Kind{AllReduce, ReduceScatter, AllGather, Broadcast, Scatter, AllToAll}

// sent counts the bytes that the ranks of a group have sent.
func (g *testGroup) sent() (n uint64) {
	for _, x := range g.executors {
		n += x.runner.links.(onChannel).Traffic().SentBytes
	}
	return n
}

// TestShared takes the shared path for every operation that has one: in memory that all have mapped,
// that all can only read, and of both kinds; around the lengths where that begins to pay,
// in place and not. It checks the results, and that hardly anything is sent if it pays.
func TestShared(t *testing.T) {
	const KiB = 1 << 10
	for _, n := range []int{2, 3, 5} {
		sizes := []int{16 * KiB, 128*KiB + 4, 256*KiB - 4, 256 * KiB}
		if n == 2 {
			sizes = []int{16*KiB - 4, 16 * KiB, 32*KiB - 4, 32*KiB + 4*17, 64 * KiB, 256 * KiB, 1024 * KiB}
		}
		g, all, how := newPool(t, n)
		for _, kind := range sharedKinds {
			for name, of := range map[string]func(rank int) access{
				"mapped": func(int) access { return mappable },
				"read":   func(int) access { return readable },
				"mixed":  func(r int) access { return access(r % 2) },
			} {
				for r := range how {
					how[r] = of(r)
				}
				for _, bytes := range sizes {
					for _, separate := range []bool{true, false} {
						if kind == AllToAll && !separate {
							continue
						}
						s := Spec{Kind: kind, Algo: Auto, Size: n, Root: n / 2, Count: bytes / 4, Separate: separate}.Resolve(4)
						mapped, pays := gains(kind, n, bytes)
						// Where only the root's memory is read, it is that which counts.
						if name == "mapped" || kind.Rooted() && of(s.Root) == mappable {
							if pays = true; !mapped {
								continue // nobody would ask for it
							}
						}
						before, read := g.sent(), all.reads.Load()
						op := []reduce.Op{reduce.Sum, reduce.Avg}[bytes/4%2]
						newJob(t, s, reduce.F32, op).check(t, g, DefaultSegment)
						sent, read := g.sent()-before, all.reads.Load()-read
						if few := uint64(64 * n * n); (sent < few) != pays {
							t.Errorf("%d ranks, %s: %v of %d bytes, separate %v: %d bytes were sent", n, name, kind, bytes, separate, sent)
						}
						if name == "mapped" && read > 0 {
							t.Errorf("%d ranks: %v of %d bytes: %d bytes of mapped memory were read", n, kind, bytes, read)
						}
					}
				}
			}
		}
	}
}

// TestSharedRefused: when a rank's memory cannot be read, messages do.
func TestSharedRefused(t *testing.T) {
	const n = 3
	for loner := range n {
		g, all, how := newPool(t, n)
		how[loner] = hidden
		for _, kind := range sharedKinds {
			if (kind == Broadcast || kind == Scatter) && loner != 0 {
				continue // it only reads
			}
			s := Spec{Kind: kind, Algo: Auto, Size: n, Count: 1 << 18, Separate: kind == AllToAll}.Resolve(4)
			newJob(t, s, reduce.I32, reduce.Max).check(t, g, DefaultSegment)
		}
		if got := all.reads.Load(); got > 0 {
			t.Errorf("%d bytes were read although rank %d's cannot be", got, loner)
		}
	}
}

// TestSharedSameBits: operands whose sum depends on the order are added in rank order.
func TestSharedSameBits(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		for _, separate := range []bool{false, true} {
			g, _, how := newPool(t, n)
			s := Spec{Kind: ReduceScatter, Algo: Direct, Size: n, Count: 270_000, Separate: separate}
			for r := range how {
				how[r] = mappable
			}
			j := newJob(t, s, reduce.F32, reduce.Sum)
			all := make([][]byte, n)
			for r := range n {
				source := j.mains[r]
				if separate {
					source = j.inputs[r]
				}
				for i := 0; i < len(source); i += 4 {
					bits := uint32(0x3f80_0001+i*2654435761>>9) & 0x47ff_ffff
					binary.NativeEndian.PutUint32(source[i:], bits+uint32(r)<<20)
				}
				all[r] = append([]byte(nil), source...)
			}
			for r := range n {
				j.expect(t, r, all)
			}
			j.check(t, g, DefaultSegment)
		}
	}
}

// TestSharedFaults has a read fail, in the middle; all ranks end, and the reader
// names the peer that it lost.
func TestSharedFaults(t *testing.T) {
	for _, kind := range sharedKinds {
		if kind == AllReduce {
			continue // what is not mapped is not read either
		}
		s := Spec{Kind: kind, Size: 3, Count: 1 << 18, Separate: kind == AllToAll}
		if kind.Reduces() {
			s.Size, s.Count = 2, 1<<21 // more ranks send
		}
		g, all, _ := newPool(t, s.Size)
		var reads atomic.Int32
		all.fault = func(reader, peer int) error {
			if reader == 1 && reads.Add(1) == 2 {
				return &fabric.LostError{Peer: peer, Err: errors.New("gone")}
			}
			return nil
		}
		err := newJob(t, s.Resolve(4), reduce.F32, reduce.Sum).runAll(t, t.Context(), g)[1]
		var step *StepError
		var lost *fabric.LostError
		if !errors.As(err, &step) || !errors.As(err, &lost) || step.Peer != lost.Peer {
			t.Errorf("%v: the reader's error is %v", kind, err)
		}
	}
}

// TestSharedCancelled: a rank that reads notices the end of its context.
func TestSharedCancelled(t *testing.T) {
	stop := errors.New("stop, said the test")
	g, all, _ := newPool(t, 2)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	all.fault = func(int, int) error { cancel(stop); return nil }
	s := Spec{Kind: ReduceScatter, Algo: Ring, Size: 2, Count: 1 << 21}
	for r, err := range newJob(t, s, reduce.F32, reduce.Sum).runAll(t, ctx, g) {
		if !errors.Is(err, stop) {
			t.Errorf("rank %d: got %v, want the cause of the context", r, err)
		}
	}
	if got := all.reads.Load(); got > 4*pullPiece {
		t.Errorf("%d bytes were read after the end", got)
	}
}

// runAll runs the job on all ranks and returns their errors.
func (j *job) runAll(t testing.TB, ctx context.Context, g *testGroup) []error {
	t.Helper()
	plans := make([]*Plan, len(j.specs))
	for r, s := range j.specs {
		p, err := NewPlan(s, j.dtype, j.op)
		if err != nil {
			t.Fatal(err)
		}
		plans[r] = p
	}
	return g.run(ctx, plans, j.mains, j.inputs)
}

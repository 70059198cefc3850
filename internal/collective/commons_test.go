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

// poolPeers are Peers with a pool.
type poolPeers struct {
	Peers
	rank   int
	pool   *pool
	access *access // of this rank
	board  fabric.Board
}

func (p poolPeers) Board() fabric.Board { return p.board }

func (p poolPeers) Offer(b []byte) (h fabric.Handle, mapped bool) {
	if *p.access == hidden {
		return h, false
	}
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	p.pool.named = append(p.pool.named, b)
	binary.LittleEndian.PutUint32(h[:], uint32(len(p.pool.named)))
	return h, *p.access == mappable
}

func (p poolPeers) find(h fabric.Handle) []byte {
	p.pool.mu.Lock()
	defer p.pool.mu.Unlock()
	return p.pool.named[binary.LittleEndian.Uint32(h[:])-1]
}

func (p poolPeers) Reach(peer int, h fabric.Handle, n int) ([]byte, error) {
	b := p.find(h)
	if len(b) != n {
		return nil, fmt.Errorf("rank %d has named %d bytes, rank %d wants %d", peer, len(b), p.rank, n)
	}
	return b, nil
}

func (p poolPeers) Read(peer int, h fabric.Handle, off int, b []byte) error {
	if p.pool.fault != nil {
		if err := p.pool.fault(p.rank, peer); err != nil {
			return err
		}
	}
	p.pool.reads.Add(int64(copy(b, p.find(h)[off:][:len(b)])))
	return nil
}

// newPool returns the executors of n ranks that share a pool.
func newPool(t testing.TB, n int) (*testGroup, *pool, []access) {
	return newPoolOf(t, n, make([]fabric.Board, n))
}

// newBoardPool returns those of ranks that have a board, too.
func newBoardPool(t testing.TB, n int) (*testGroup, *pool, []access) {
	var boards []fabric.Board
	for _, b := range newSlate(n) {
		boards = append(boards, b)
	}
	return newPoolOf(t, n, boards)
}

func newPoolOf(t testing.TB, n int, boards []fabric.Board) (*testGroup, *pool, []access) {
	peers, all, how := memPeers(t, n), &pool{}, make([]access, n)
	for r := range peers {
		peers[r] = poolPeers{Peers: peers[r], rank: r, pool: all, access: &how[r], board: boards[r]}
	}
	g := newTestGroup(t, peers)
	g.common = true
	return g, all, how
}

// pooled are the operations that can be done in common.
var pooled = []Kind{AllReduce, ReduceScatter, AllGather, Broadcast, Scatter, AllToAll}

// sent counts the bytes that the ranks of a group have sent.
func (g *testGroup) sent() (n uint64) {
	for _, x := range g.executors {
		f := x.peers.(poolPeers).Peers.(onChannel).Fabric
		n += f.(fabric.Counter).Traffic().SentBytes
	}
	return n
}

// TestCommons does every operation in common that can be: in memory that all have mapped,
// that all can only read, and of both kinds; around the lengths where that begins to pay,
// in place and not. It checks the results, and that hardly anything is sent if it pays.
func TestCommons(t *testing.T) {
	t.Run("messages", func(t *testing.T) { testCommons(t, newPool) })
	t.Run("board", func(t *testing.T) { testCommons(t, newBoardPool) })
}

// A maker makes the executors of n ranks.
type maker func(t testing.TB, n int) (*testGroup, *pool, []access)

func testCommons(t *testing.T, newPool maker) {
	const KiB = 1 << 10
	for _, n := range []int{2, 3, 5} {
		sizes := []int{16 * KiB, 128*KiB + 4, 256*KiB - 4, 256 * KiB}
		if n == 2 {
			sizes = []int{16*KiB - 4, 16 * KiB, 32*KiB - 4, 32*KiB + 4*17, 64 * KiB, 256 * KiB, 1024 * KiB}
		}
		g, all, how := newPool(t, n)
		for _, kind := range pooled {
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
						mapped, pays := pays(kind, n, bytes)
						// Where only the root's memory is read, it is that which counts.
						if name == "mapped" || s.down() && of(s.Root) == mappable {
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

// TestCommonsRefused: when a rank's memory cannot be read, messages do.
func TestCommonsRefused(t *testing.T) {
	t.Run("messages", func(t *testing.T) { testCommonsRefused(t, newPool) })
	t.Run("board", func(t *testing.T) { testCommonsRefused(t, newBoardPool) })
}

func testCommonsRefused(t *testing.T, newPool maker) {
	const n = 3
	for loner := range n {
		g, all, how := newPool(t, n)
		how[loner] = hidden
		for _, kind := range pooled {
			if (kind == Broadcast || kind == Scatter) && loner != 0 {
				continue // it only reads
			}
			s := Spec{Kind: kind, Algo: Auto, Size: n, Count: 1 << 17, Separate: kind == AllToAll}.Resolve(4)
			newJob(t, s, reduce.I32, reduce.Max).check(t, g, DefaultSegment)
		}
		if got := all.reads.Load(); got > 0 {
			t.Errorf("%d bytes were read although rank %d's cannot be", got, loner)
		}
	}
}

// TestCommonsSameBits: operands whose sum depends on the order are added in rank order.
func TestCommonsSameBits(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		for _, separate := range []bool{false, true} {
			g, _, how := newPool(t, n)
			s := Spec{Kind: ReduceScatter, Algo: Direct, Size: n, Count: 70_000, Separate: separate}
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

// TestCommonsFaults has a read fail, in the middle; everybody ends, and the reader says
// whom it lost.
func TestCommonsFaults(t *testing.T) {
	for _, kind := range pooled {
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

// TestCommonsCancelled: a rank that reads notices the end of its context.
func TestCommonsCancelled(t *testing.T) {
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

// TestPools: what is sure is tried, and ranks that cannot read try only what is long.
func TestPools(t *testing.T) {
	for _, tt := range []struct {
		kind      Kind
		size      int
		bytes     int
		reads     bool
		try, sure bool
	}{
		{AllReduce, 2, 16 << 10, true, true, false},
		{AllReduce, 2, 16 << 10, false, true, false},
		{AllReduce, 2, 16 << 20, true, true, false},
		{AllReduce, 2, 16 << 20, false, true, false},
		{AllReduce, 2, 64 << 20, true, true, false},
		{AllReduce, 4, 64 << 20, true, true, false},
		{AllGather, 2, 64 << 10, true, true, true},
		{AllGather, 2, 64 << 10, false, false, false},
		{AllGather, 4, 64 << 20, false, true, false},
		{AllGather, 4, 4 << 10, true, false, false},
		{ReduceScatter, 2, 64 << 10, true, true, true},
		{ReduceScatter, 4, 64 << 20, true, true, false},
		{Broadcast, 2, 512 << 10, true, true, true},
		{Broadcast, 2, 16 << 20, true, true, false},
		{Broadcast, 3, 16 << 20, true, true, true},
		{Reduce, 4, 64 << 20, true, false, false},
		{Gather, 2, 64 << 20, true, false, false},
		{Barrier, 4, 0, true, false, false},
		{Send, 4, 64 << 20, true, false, false},
	} {
		if try, sure := Pools(tt.kind, tt.size, tt.bytes, tt.reads); try != tt.try || sure != tt.sure {
			t.Errorf("%+v: got %v, %v", tt, try, sure)
		}
	}
}

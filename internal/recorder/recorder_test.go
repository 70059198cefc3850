package recorder

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"thundercollective/fabric"
)

func TestRing(t *testing.T) {
	r := NewRing(3) // rounded up
	if e := r.Latest(); e.Seq != 0 || r.Entries() != nil {
		t.Error("a new ring is not empty")
	}
	for seq := uint64(1); seq <= 6; seq++ {
		r.Begin(seq, &fabric.Tag{byte(seq), 31: 9}, int64(seq), 7)
		if seq != 6 {
			r.End(seq, 10, Done)
		}
	}
	r.End(1, 0, Failed) // long past
	list := r.Entries()
	if len(list) != 4 || list[0] != (Entry{Seq: 3, Tag: fabric.Tag{3, 31: 9}, Begin: 3, Took: 10, For: 7, State: Done}) || list[3].State != Running {
		t.Errorf("got %+v", list)
	}
	if e, ok := r.Get(5); !ok || e.Tag != (fabric.Tag{5, 31: 9}) {
		t.Errorf("operation 5: %v %v", e, ok)
	}
	for _, seq := range []uint64{0, 2, 7} {
		if _, ok := r.Get(seq); ok {
			t.Errorf("operation %d is there", seq)
		}
	}
	if e := r.Latest(); e.Seq != 6 || e.State != Running || e.Took != 0 {
		t.Errorf("the last is %+v", e)
	}
	r.End(6, 3, Failed)
	if e := r.Latest(); e.Seq != 6 || e.State != Failed || e.Took != 3 {
		t.Errorf("the last has become %+v", e)
	}
	if n := testing.AllocsPerRun(100, func() { r.Begin(7, &fabric.Tag{}, 0, 0); r.End(7, 1, Done) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestRingWhileWritten reads a ring that goes round and round: every entry is one that
// was noted as a whole.
func TestRingWhileWritten(t *testing.T) {
	const rounds = 20_000
	r := NewRing(4)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for seq := uint64(1); seq <= rounds; seq++ {
			r.Begin(seq, &fabric.Tag{8: byte(seq)}, int64(seq), seq)
			r.End(seq, int64(seq), Done)
		}
	}()
	check := func(e Entry) {
		if e.Tag != (fabric.Tag{8: byte(e.Seq)}) || e.Begin != int64(e.Seq) || e.For != e.Seq || e.State == Done && e.Took != int64(e.Seq) {
			t.Errorf("entry %+v", e)
		}
	}
	for last := uint64(0); last < rounds; {
		for _, e := range r.Entries() {
			check(e)
		}
		e := r.Latest()
		if e.Seq < last {
			t.Errorf("operation %d after %d", e.Seq, last)
		}
		if last = e.Seq; last > 0 {
			check(e)
		}
	}
	<-done
}

func TestSave(t *testing.T) {
	d := &Dump{Version: Version, Rank: 1, Size: 2, Generation: 3, Groups: []Group{{ID: 1, Ranks: []int{0, 1}, Operations: []Operation{{Seq: 1, Call: "barrier"}}}}}
	dir := t.TempDir()
	if err := d.Save(dir); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(dir, "flight-g3-r1.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := Read(f)
	if err != nil || !reflect.DeepEqual(got, d) {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := d.Save(filepath.Join(dir, "missing")); err == nil {
		t.Error("saved in a folder that is not there")
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".flight*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"not JSON": "hello", "empty": "", "version": `{"version":99,"size":1}`,
		"rank": `{"version":1,"size":2,"rank":2}`, "group": `{"version":1,"size":2,"groups":[{"ranks":[0,7]}]}`,
		"peer": `{"version":1,"size":2,"groups":[{"pairs":[{"peer":2,"direction":"to"}]}]}`, "direction": `{"version":1,"size":2,"groups":[{"pairs":[{"peer":1}]}]}`,
	} {
		if _, err := Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func FuzzRead(f *testing.F) {
	good, _ := json.Marshal(&Dump{Version: Version, Size: 2, Groups: []Group{{Ranks: []int{0, 1}}}})
	f.Add(good)
	f.Fuzz(func(t *testing.T, b []byte) {
		if d, err := Read(bytes.NewReader(b)); err == nil && d.Rank >= d.Size {
			t.Errorf("accepted rank %d of %d", d.Rank, d.Size)
		}
	})
}

// BenchmarkRecord is what recording one operation takes, in the rings of a group and
// of a direction between two ranks.
func BenchmarkRecord(b *testing.B) {
	for _, size := range []int{4096, 256} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			r := NewRing(size)
			tag := &fabric.Tag{}
			for i := range b.N {
				r.Begin(uint64(i+1), tag, 0, 0)
				r.End(uint64(i+1), 1, Done)
			}
		})
	}
}

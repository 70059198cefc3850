package publish

import (
	"sync/atomic"
	"testing"
	"unsafe"
)

// TestLine reads a line while it is written: what is read was written together.
func TestLine(t *testing.T) {
	const rounds = 20_000
	var line Line
	if _, ok := line.Read(); ok {
		t.Error("a line that nobody has written can be read")
	}
	var stop atomic.Bool
	read := make(chan int)
	go func() {
		n := 0
		var last uint64
		for ; !stop.Load(); n++ {
			words, ok := line.Read()
			if !ok {
				continue
			}
			for i, w := range words {
				if w != words[0]+uint64(i) {
					t.Errorf("word %d of line %d is %d", i, words[0], w)
				}
			}
			if words[0] < last {
				t.Errorf("line %d after line %d", words[0], last)
			}
			last = words[0]
		}
		read <- n
	}()
	for i := range uint64(rounds) {
		words := [8]uint64{}
		for k := range words {
			words[k] = i + 1 + uint64(k)
		}
		line.Write(&words)
	}
	stop.Store(true)
	<-read
	if words, ok := line.Read(); !ok || words[0] != rounds || words[7] != rounds+7 {
		t.Errorf("the last line is %v, %v", words, ok)
	}
}

// TestWord: whoever sees a word sees what was published before it.
func TestWord(t *testing.T) {
	const rounds = 20_000
	var first, second atomic.Uint64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			b := second.Load()
			if a := first.Load(); a < b {
				t.Errorf("the second word is %d, the first still %d", b, a)
				return
			}
			if b == rounds {
				return
			}
		}
	}()
	for i := range uint64(rounds) {
		Word(&first, i+1)
		Word(&second, i+1)
	}
	<-done
}

// TestPrepare: it is only a hint, and leaves things as they are.
func TestPrepare(t *testing.T) {
	b := [200]byte{7, 199: 9}
	for _, n := range []int{0, 1, 64, len(b)} {
		Prepare(unsafe.Pointer(&b), n)
		Prefetch(unsafe.Pointer(&b[n/2]))
	}
	if b != [200]byte{7, 199: 9} {
		t.Error("it has changed what is there")
	}
}

func TestAdd(t *testing.T) {
	var c atomic.Uint64
	for i := range uint64(5) {
		Add(&c, i)
	}
	if c.Load() != 10 {
		t.Errorf("got %d", c.Load())
	}
}

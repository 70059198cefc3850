package group

import (
	"sync"
	"testing"
)

func TestQueueNumbersInOrder(t *testing.T) {
	var q queue
	n, turn := q.enter()
	if n != 1 || turn != nil {
		t.Fatalf("the first gets number %d, and waits: %v", n, turn != nil)
	}
	var turns []<-chan struct{}
	for want := uint64(2); want <= 4; want++ {
		n, turn := q.enter()
		if n != want || turn == nil {
			t.Fatalf("number %d instead of %d, and waits: %v", n, want, turn != nil)
		}
		turns = append(turns, turn)
	}
	for i, turn := range turns {
		for j, later := range turns[i:] {
			select {
			case <-later:
				t.Fatalf("it is the turn of %d before its predecessor left", i+j+2)
			default:
			}
		}
		q.leave()
		<-turn
	}
	q.leave()
	q.enterAndWait() // has no number
	q.leave()
	if n, turn := q.enter(); n != 5 || turn != nil {
		t.Fatalf("number %d instead of 5, and waits: %v", n, turn != nil)
	}
}

// TestQueueLetsInOne has many goroutines count without a lock of their own; numbers
// have to follow the order of the turns.
func TestQueueLetsInOne(t *testing.T) {
	const users, rounds = 8, 2000
	var q queue
	var wg sync.WaitGroup
	count, last := 0, uint64(0)
	for range users {
		wg.Go(func() {
			for i := range rounds {
				if i%5 == 0 {
					q.enterAndWait()
					q.leave()
				}
				n, turn := q.enter()
				if turn != nil {
					<-turn
				}
				if n != last+1 {
					t.Errorf("number %d follows %d", n, last)
				}
				last = n
				count++
				q.leave()
			}
		})
	}
	wg.Wait()
	if count != users*rounds {
		t.Errorf("counted to %d instead of %d", count, users*rounds)
	}
	if len(q.waiting) != 0 || q.state.Load() != users*rounds*queueOne {
		t.Errorf("left behind: %d waiting, state %d", len(q.waiting), q.state.Load())
	}
}

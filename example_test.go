package thunder_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	thunder "thundercollective"
)

// each runs f for every rank of a job in this process.
func each(comms []*thunder.Comm, f func(c *thunder.Comm)) {
	var wg sync.WaitGroup
	for _, c := range comms {
		wg.Go(func() { f(c) })
	}
	wg.Wait()
}

func ExampleInit() {
	ctx := context.Background()
	// Without a launcher, variables or options, the program is alone.
	c, err := thunder.Init(ctx, thunder.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	loss := []float32{0.25}
	if err := thunder.AllReduce(ctx, c, loss, thunder.Avg); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("rank %d of %d: %v\n", c.Rank(), c.Size(), loss)
	// Output: rank 0 of 1: [0.25]
}

func ExampleAllReduce() {
	comms, err := thunder.Local(3, thunder.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	each(comms, func(c *thunder.Comm) {
		defer c.Close()
		v := []int32{1, int32(c.Rank())}
		if err := thunder.AllReduce(context.Background(), c, v, thunder.Sum); err != nil {
			fmt.Println(err)
		}
		if c.Rank() == 2 {
			fmt.Println(v)
		}
	})
	// Output: [3 3]
}

func ExampleAllReduceAsync() {
	comms, err := thunder.Local(2, thunder.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	each(comms, func(c *thunder.Comm) {
		defer c.Close()
		v := []float64{float64(c.Rank())}
		work := thunder.AllReduceAsync(context.Background(), c, v, thunder.Max)
		// Compute something else here; v belongs to the operation until Wait returns.
		if err := work.Wait(); err != nil {
			fmt.Println(err)
		}
		if c.Rank() == 0 {
			fmt.Println(v)
		}
	})
	// Output: [1]
}

func ExampleComm_Split() {
	comms, err := thunder.Local(4, thunder.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	each(comms, func(c *thunder.Comm) {
		defer c.Close()
		ctx := context.Background()
		// Even ranks form one group, odd ranks another.
		g, err := c.Split(ctx, c.Rank()%2, 0)
		if err != nil {
			fmt.Println(err)
			return
		}
		sum := []int64{int64(c.Rank())}
		if err := thunder.AllReduce(ctx, g, sum, thunder.Sum); err != nil {
			fmt.Println(err)
		}
		if c.Rank() == 3 {
			fmt.Printf("rank %d is rank %d of %d; sum %d\n", c.Rank(), g.Rank(), g.Size(), sum[0])
		}
	})
	// Output: rank 3 is rank 1 of 2; sum 4
}

func ExampleTimeoutError() {
	comms, err := thunder.Local(2, thunder.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan struct{})
	each(comms, func(c *thunder.Comm) {
		defer c.Close()
		if c.Rank() == 1 {
			<-done // it never calls Barrier
			return
		}
		defer close(done)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		err := thunder.Barrier(ctx, c)
		if timeout, ok := errors.AsType[*thunder.TimeoutError](err); ok {
			fmt.Printf("rank %d gave up on %s\n", timeout.Rank, timeout.Operation)
		}
	})
	// Output: rank 0 gave up on barrier, #1
}

// Allreduce adds up the ranks of a job. Run it with
//
//	thunder launch -n 4 -- go run ./examples/allreduce
//
// or with mpirun, srun, torchrun or Kubernetes. Without a launcher it is a job of one
// rank.
package main

import (
	"context"
	"fmt"
	"log"

	thunder "thundercollective"
)

func main() {
	ctx := context.Background()
	comm, err := thunder.Init(ctx, thunder.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer comm.Close()
	sum := []float32{float32(comm.Rank())}
	if err := thunder.AllReduce(ctx, comm, sum, thunder.Sum); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("rank %d of %d: the ranks add up to %v\n", comm.Rank(), comm.Size(), sum[0])
}

package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	thunder "thundercollective"
)

// BenchmarkOverhead compares ranks as they are with ranks that have no heartbeats, in
// turns within one run, and reports the difference in the middle of all turns. What the flight
// recorder and the metrics take by themselves is BenchmarkRecording of package group.
func BenchmarkOverhead(b *testing.B) {
	for _, name := range []string{"tcp", "shm", "mem"} {
		for _, size := range []int{8, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				full := fabrics[name](b, 2, thunder.Options{})
				bare := fabrics[name](b, 2, thunder.Options{HeartbeatTimeout: time.Hour})
				ops := max(20, 200_000/size)
				ops = min(ops, 2000)
				turn := func(comms []*thunder.Comm) time.Duration {
					begun := time.Now()
					each(b, 2, func(r int) error {
						req := &thunder.Request{Kind: thunder.KindAllReduce, DType: thunder.F32, Op: thunder.Max, Recv: make([]byte, size)}
						for range ops {
							if err := comms[r].Do(context.Background(), req); err != nil {
								return err
							}
						}
						return nil
					})
					return time.Since(begun)
				}
				turn(full)
				turn(bare)
				var ratios []float64
				var withs, withouts []time.Duration
				var spent time.Duration
				b.ResetTimer()
				for range max(b.N, 40) {
					x, y := turn(full), turn(bare)
					y2, x2 := turn(bare), turn(full)
					ratios = append(ratios, float64(x+x2)/float64(y+y2))
					withs, withouts = append(withs, x, x2), append(withouts, y, y2)
					spent += x + x2
				}
				slices.Sort(ratios)
				b.ReportMetric(100*(ratios[len(ratios)/2]-1), "overhead-%")
				// Of the quickest quarter, which other programs disturbed least.
				slices.Sort(withs)
				slices.Sort(withouts)
				b.ReportMetric(100*(float64(withs[len(withs)/8])/float64(withouts[len(withouts)/8])-1), "quiet-overhead-%")
				perOp := spent / time.Duration(2*len(ratios)*ops)
				b.ReportMetric(float64(perOp.Nanoseconds())/1000, "µs/op")
			})
		}
	}
}

// Package train synchronises gradients between the ranks of a training job.
//
// # Buckets
//
// A GradientBucket holds the gradients of a model in a few flat buckets. The
// tensors are registered once, in the order of the forward pass; the buckets are
// laid out in reverse, which is the order in which a backward pass finishes them.
// The program writes each gradient in place and says so; a bucket is combined
// with the other ranks' as soon as its last gradient is there, while the backward
// pass goes on:
//
//	g, err := train.NewGradientBucket(ctx, c, lens, train.Config{})
//	defer g.Close()
//	for ... { // a step
//		for i := len(lens) - 1; i >= 0; i-- {
//			backward(i, g.Gradient(i))
//			g.Ready(i)
//		}
//		if err := g.Wait(ctx); err != nil { ... } // gradients are the average now
//		update(g)
//	}
//
// Buckets go out in the order of the layout whatever the order in which gradients
// become ready, so ranks need not agree on it. They travel in a group of their own
// and never meet the program's collectives. With SkipSync, a pass is not combined
// but left to be added to by the next: gradient accumulation.
//
// # Wire types
//
// Gradients are float32 in memory. On the wire they may be narrower:
//
//   - F32: the same bits at all ranks as an AllReduce gives;
//   - BF16, F16: rounded, combined and widened again, half the bytes;
//   - Int8: 8-bit integers with a scale per block of 256, a quarter of the bytes.
//     What rounding loses is kept at the rank that lost it and added to its next
//     gradient (error feedback), so that nothing is lost in the long run.
//
// All of them leave the same bits at all ranks.
//
// # The simple case
//
// AverageGradients averages a list of gradients in one call, packing small ones
// together. ClipGlobalNorm scales gradients whose shards lie at different ranks by
// their common norm; ClipNorm does the same to gradients that every rank has whole.
package train

// Package train averages gradients between the ranks of a training job.
//
// # The simple case
//
// AverageGradients averages a list of gradients in one call. ClipGlobalNorm scales
// gradients whose shards are on different ranks by their common norm; ClipNorm does the
// same for gradients that every rank has as a whole.
//
// # Buckets
//
// A GradientBucket averages gradients while the backward pass is still running. It holds
// the gradients of a model in a few flat buffers, the buckets. The program registers the
// tensors once, in the order of the forward pass, writes each gradient in place and calls
// Ready. As soon as the last gradient of a bucket is ready, the bucket is combined with
// those of the other ranks:
//
//	g, err := train.NewGradientBucket(ctx, c, lens, train.Config{})
//	defer g.Close()
//	for ... { // a step
//		for i := len(lens) - 1; i >= 0; i-- {
//			backward(i, g.Gradient(i))
//			g.Ready(i)
//		}
//		if err := g.Wait(ctx); err != nil { ... } // now the gradients are averages
//		update(g)
//	}
//
// The buckets contain the tensors in reverse order, because a backward pass finishes them
// in that order. Buckets are combined in this order on all ranks, even if gradients become
// ready in another, so ranks need not agree on the order of Ready. They use a group of
// their own, so the program may run other collective operations at the same time. After
// SkipSync(true), passes are not combined, for gradient accumulation.
//
// # Failure
//
// Errors are those of package thunder, wrapped: a rank that is lost, a timeout, a mismatch
// between ranks. Ready does not fail; Wait returns the error of any bucket. After an error,
// the values of gradients are undefined, and the GradientBucket can only be closed.
//
// # Wire types
//
// Gradients are float32 in memory. On the wire they may be narrower:
//
//   - F32: not changed;
//   - BF16, F16: rounded to 16 bits, combined, and widened again; half the bytes;
//   - Int8: 8-bit integers with one scale per 256 values; a quarter of the bytes. Each
//     rank keeps its rounding errors and adds them to the next gradient (error feedback),
//     so that nothing is lost over many steps.
//
// With all of them, all ranks end up with the same bits.
package train

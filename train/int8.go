package train

import (
	"context"
	"encoding/binary"
	"math"

	"thundercollective"
)

const (
	blockLen  = 256          // values that share a scale
	blockSize = 4 + blockLen // on the wire: the scale as float32, then the values
)

// quantised sends 8-bit integers. Each rank owns a part of the bucket: it receives that
// part from all ranks, sums it in float32, and sends the sum to all. Values are rounded
// twice, by the sender and by the owner of the sum; both keep the rounding error and add
// it the next time.
type quantised struct {
	comm *thunder.Comm
	avg  bool
	part int // values in a rank's part: whole blocks, the same for all ranks

	lost    []float32 // rounding errors of this rank as a sender, for all parts
	lostSum []float32 // and as the owner of a part
	sum     []float32
	out, in []byte // all parts on the wire
	own     []byte // this rank's part on the wire
}

func newQuantised(c *thunder.Comm, n int, avg bool) *quantised {
	size := c.Size()
	blocks := (n + size*blockLen - 1) / (size * blockLen) // of a part
	q := &quantised{comm: c, avg: avg, part: blocks * blockLen}
	q.lost = make([]float32, size*q.part)
	q.lostSum, q.sum = make([]float32, q.part), make([]float32, q.part)
	q.out, q.in = make([]byte, size*blocks*blockSize), make([]byte, size*blocks*blockSize)
	q.own = make([]byte, blocks*blockSize)
	return q
}

func (q *quantised) combine(ctx context.Context, values []float32) error {
	for i, v := range values {
		q.lost[i] += v
	}
	pack(q.out, q.lost)
	if err := thunder.AllToAll(ctx, q.comm, q.in, q.out); err != nil {
		return err
	}
	clear(q.sum)
	for r := range q.comm.Size() {
		addPacked(q.sum, q.in[r*len(q.own):(r+1)*len(q.own)])
	}
	scale := float32(1)
	if q.avg {
		scale = 1 / float32(q.comm.Size())
	}
	for i, v := range q.sum {
		q.lostSum[i] += v * scale
	}
	pack(q.own, q.lostSum)
	if err := thunder.AllGather(ctx, q.comm, q.in, q.own); err != nil {
		return err
	}
	clear(values)
	addPacked(values, q.in)
	return nil
}

// pack rounds whole blocks of values to 8 bits and leaves the rounding errors in values.
// If a block contains an infinity or NaN, all its values become NaN, as their sum would
// be, without rounding errors.
func pack(dst []byte, values []float32) {
	for len(values) > 0 {
		block := values[:blockLen]
		most := float32(0)
		for _, v := range block {
			most = max(most, float32(math.Abs(float64(v)))) // NaN if any is NaN
		}
		scale := most / 127
		if math.IsInf(float64(most), 0) {
			scale = float32(math.NaN())
		}
		binary.LittleEndian.PutUint32(dst, math.Float32bits(scale))
		out := dst[4:blockSize]
		switch {
		case scale != scale:
			clear(block)
			clear(out)
		case scale == 0: // all values are zero, or too small to divide by
			clear(out)
		default:
			for i, v := range block {
				n := math.RoundToEven(float64(v) / float64(scale))
				n = max(-127, min(127, n)) // the scale may be a rounded denormal
				out[i] = byte(int8(n))
				block[i] = v - float32(n)*scale
			}
		}
		dst, values = dst[blockSize:], values[blockLen:]
	}
}

// addPacked adds the output of pack to values, which may end before the last block does.
func addPacked(values []float32, src []byte) {
	for len(values) > 0 {
		scale := math.Float32frombits(binary.LittleEndian.Uint32(src))
		block := values[:min(blockLen, len(values))]
		for i, b := range src[4 : 4+len(block)] {
			block[i] += float32(int8(b)) * scale
		}
		src, values = src[blockSize:], values[len(block):]
	}
}

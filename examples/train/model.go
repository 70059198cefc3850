package main

import (
	"context"
	"math"

	"thundercollective"
	"thundercollective/train"
)

// model is a perceptron with one hidden layer that learns a fixed function.
type model struct {
	params [][]float32 // w1 (hidden × inputs), b1, w2 (hidden), b2
}

const (
	inputs = 4
	hidden = 32
	rate   = 0.1
)

func newModel() *model {
	m := &model{params: [][]float32{make([]float32, hidden*inputs), make([]float32, hidden), make([]float32, hidden), make([]float32, 1)}}
	for i := range m.params {
		for j := range m.params[i] {
			m.params[i][j] = float32(math.Sin(float64(37*i+11*j+1))) / 2
		}
	}
	return m
}

func (m *model) lens() []int {
	lens := make([]int, len(m.params))
	for i, p := range m.params {
		lens[i] = len(p)
	}
	return lens
}

// sample returns the i-th sample of a step and its target value.
func sample(step, i int) (x [inputs]float32, y float32) {
	for k := range x {
		x[k] = float32(math.Sin(float64(1+step*131+i*17+k*5) * 1.7))
	}
	return x, x[0]*x[1] - x[2] + 0.5*x[3]
}

// forward returns the output and the hidden layer.
func (m *model) forward(x [inputs]float32) (out float32, h [hidden]float32) {
	w1, b1, w2 := m.params[0], m.params[1], m.params[2]
	out = m.params[3][0]
	for j := range h {
		sum := b1[j]
		for k, v := range x {
			sum += w1[j*inputs+k] * v
		}
		h[j] = float32(math.Tanh(float64(sum)))
		out += w2[j] * h[j]
	}
	return out, h
}

// backward adds the gradients of the mean squared error over samples [from, to) of a step,
// and calls ready for each when it is complete, last layer first.
func (m *model) backward(step, from, to int, gradient func(i int) []float32, ready func(i int)) {
	scale := 2 / float32(to-from)
	n := to - from
	deltas, layers, xs := make([]float32, n), make([][hidden]float32, n), make([][inputs]float32, n)
	for s := range n {
		var y, out float32
		xs[s], y = sample(step, from+s)
		out, layers[s] = m.forward(xs[s])
		deltas[s] = (out - y) * scale
	}
	g := gradient(3)
	for s := range n {
		g[0] += deltas[s]
	}
	ready(3)
	g = gradient(2)
	for s := range n {
		for j, h := range layers[s] {
			g[j] += deltas[s] * h
		}
	}
	ready(2)
	w2, bias, weights := m.params[2], gradient(1), gradient(0)
	for s := range n {
		for j, h := range layers[s] {
			d := deltas[s] * w2[j] * (1 - h*h)
			bias[j] += d
			for k, v := range xs[s] {
				weights[j*inputs+k] += d * v
			}
		}
	}
	ready(1)
	ready(0)
}

func (m *model) update(gradient func(i int) []float32) {
	for i, p := range m.params {
		for j, g := range gradient(i) {
			p[j] -= rate * g
		}
	}
}

// loss returns the error on a batch that was not used for training.
func (m *model) loss(batch int) float64 {
	sum := 0.0
	for i := range batch {
		x, y := sample(-1, i)
		out, _ := m.forward(x)
		sum += float64(out-y) * float64(out-y)
	}
	return sum / float64(batch)
}

// trainTogether trains with all ranks, each of which uses its part of every batch. The
// direct algorithm adds in order of rank, as trainAlone does.
func trainTogether(ctx context.Context, c *thunder.Comm, s settings) (*model, error) {
	m := newModel()
	g, err := train.NewGradientBucket(ctx, c, m.lens(), train.Config{Wire: s.wire, Algo: thunder.Direct, BucketBytes: 128})
	if err != nil {
		return nil, err
	}
	defer g.Close()
	part := s.batch / c.Size()
	for step := range s.steps {
		g.Zero()
		m.backward(step, c.Rank()*part, (c.Rank()+1)*part, g.Gradient, g.Ready)
		if err := g.Wait(ctx); err != nil {
			return nil, err
		}
		m.update(g.Gradient)
	}
	return m, nil
}

// trainAlone does on one rank what trainTogether does on n: it computes the gradients for
// the parts of a batch one after the other, and averages them.
func trainAlone(n int, s settings) *model {
	m := newModel()
	part := s.batch / n
	sums, grads := newModel().params, newModel().params
	for step := range s.steps {
		for r := range n {
			for i := range grads {
				clear(grads[i])
			}
			m.backward(step, r*part, (r+1)*part, func(i int) []float32 { return grads[i] }, func(int) {})
			for i := range sums {
				for j, v := range grads[i] {
					if r == 0 {
						sums[i][j] = v
					} else {
						sums[i][j] += v
					}
				}
			}
		}
		for i := range sums {
			for j := range sums[i] {
				sums[i][j] /= float32(n)
			}
		}
		m.update(func(i int) []float32 { return sums[i] })
	}
	return m
}

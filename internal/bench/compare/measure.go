package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"thundercollective/internal/bench/trial"
)

// runLimit is longer than any run takes that works.
const runLimit = time.Minute

// idleTime is how long a rank waits in a barrier while its processor time is measured.
const idleTime = 4 * time.Second

// A measurement collects the figures of both versions.
type measurement struct {
	*settings
	base, head version
	cells      []cell
	progress   io.Writer

	rounds [][]round // by cell, then by round
	idle   [2][]float64
	cost   costs
}

// A round is what one round of a cell measured, in microseconds.
type round struct{ Base, Head float64 }

// measure runs all rounds.
func (m *measurement) measure(ctx context.Context) error {
	m.rounds = make([][]round, len(m.cells))
	m.cost = costs{start: time.Now(), total: m.expected()}
	for r := range m.settings.rounds {
		for i, c := range m.cells {
			got, err := m.round(ctx, c, r)
			if err != nil {
				return fmt.Errorf("%v: %w", c, err)
			}
			m.rounds[i] = append(m.rounds[i], got)
			m.cost.done += 2 * float64(m.runsOf(c)) * c.effort().seconds
			fmt.Fprintf(m.progress, "round %d of %d  %-30v %.3f  %v left\n", r+1, m.settings.rounds, c, got.Head/got.Base, m.cost.left(time.Now()))
		}
		for i, v := range m.turn(r) {
			cpu, err := idle(ctx, v.program)
			if err != nil {
				return fmt.Errorf("idle: %w", err)
			}
			m.idle[(i+r)%2] = append(m.idle[(i+r)%2], cpu)
			m.cost.done += idleTime.Seconds()
		}
	}
	return nil
}

// turn returns both versions in the order in which they run the i-th time. It changes
// every time, so that A B B A balances out what changes steadily.
func (m *measurement) turn(i int) [2]version {
	if i%2 == 0 {
		return [2]version{m.base, m.head}
	}
	return [2]version{m.head, m.base}
}

// runsOf returns how often each version runs a cell in one round.
func (m *measurement) runsOf(c cell) int {
	return max(int(math.Round(float64(c.effort().runs)*m.runs)), 1)
}

// round measures one cell with both versions in turns.
func (m *measurement) round(ctx context.Context, c cell, r int) (round, error) {
	var micros [2][]float64
	for i := range m.runsOf(c) {
		for k, v := range m.turn(i + r) {
			got, err := once(ctx, v.program, c)
			if err != nil {
				return round{}, fmt.Errorf("%s: %w", v.name, err)
			}
			which := (k + i + r) % 2
			micros[which] = append(micros[which], got)
		}
	}
	return round{trial.Quantile(micros[0], m.quantile), trial.Quantile(micros[1], m.quantile)}, nil
}

// once returns the median time of an iteration in one run, in microseconds.
func once(ctx context.Context, program string, c cell) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	rows, err := trial.Thunder(ctx, program, c.args()...)
	if err != nil {
		return 0, err
	}
	if len(rows) != 1 || rows[0].Lat.P50 <= 0 {
		return 0, fmt.Errorf("thunder bench printed %d rows, want one with a time", len(rows))
	}
	return rows[0].Lat.P50, nil
}

// idle returns how much of a processor a rank uses while it waits in a barrier, in percent.
func idle(ctx context.Context, program string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, runLimit)
	defer cancel()
	rows, err := trial.Thunder(ctx, program, "barrier", "-n", "2", "--idle", idleTime.String())
	if err != nil {
		return 0, err
	}
	if len(rows) != 1 || rows[0].WaitCPU == nil {
		return 0, fmt.Errorf("thunder bench barrier --idle printed %d rows, want one with wait_cpu_percent", len(rows))
	}
	return *rows[0].WaitCPU, nil
}

// expected returns about how many seconds all rounds take on an idle machine.
func (m *measurement) expected() float64 {
	total := 2 * idleTime.Seconds()
	for _, c := range m.cells {
		total += 2 * float64(m.runsOf(c)) * c.effort().seconds
	}
	return total * float64(m.settings.rounds)
}

// costs predicts the time left from the time that the part already done took.
type costs struct {
	start       time.Time
	done, total float64 // expected seconds
}

func (c costs) left(now time.Time) time.Duration {
	if c.done == 0 {
		return 0
	}
	spent := now.Sub(c.start).Seconds()
	return time.Duration(spent * (c.total - c.done) / c.done * float64(time.Second)).Round(time.Second)
}

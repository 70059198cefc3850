package main

import (
	"fmt"
	"strconv"
	"strings"

	"thundercollective/internal/bench"
)

// A cell is one thing that is measured.
type cell struct {
	mode   bench.Mode
	fabric string // as --fabric accepts it
	alloc  bool   // buffers of Comm.Alloc
	ranks  int
	size   int
}

// String returns the name of a cell, such as "allreduce/shm-alloc/2/64KiB".
func (c cell) String() string {
	fabric := c.fabric
	if c.alloc {
		fabric += "-alloc"
	}
	size := strings.ReplaceAll(bench.FormatSize(float64(c.size)), " ", "")
	return fmt.Sprintf("%s/%s/%d/%s", c.mode, fabric, c.ranks, size)
}

// cells lists all cells.
func cells() []cell {
	var list []cell
	for _, ranks := range []int{2, 4} {
		for _, fabric := range []string{"tcp", "shm", "shm-alloc"} {
			name, alloc := strings.CutSuffix(fabric, "-alloc")
			for _, size := range []int{8, 4 << 10, 64 << 10, 1 << 20, 64 << 20} {
				list = append(list, cell{bench.AllReduce, name, alloc, ranks, size})
			}
		}
	}
	for _, fabric := range []string{"tcp", "shm"} {
		for _, size := range []int{8, 64 << 10, 64 << 20} {
			list = append(list, cell{bench.PingPong, fabric, false, 2, size})
		}
	}
	return list
}

// effort is how one size is measured.
type effort struct {
	iterations int     // of one run
	runs       int     // of each version in one round
	seconds    float64 // that one run takes, roughly: for the time left
}

// effort returns how the cell is measured. Both versions do the same number of
// iterations, in runs that are short where the operation is, since a processor keeps its
// speed only for a fraction of a second. Three rounds of everything take about 16 minutes on two cores.
func (c cell) effort() effort {
	switch {
	case c.size <= 1<<10:
		return effort{2000, 48, 0.045}
	case c.size <= 16<<10:
		return effort{1000, 48, 0.045}
	case c.size <= 256<<10:
		return effort{400, 48, 0.05}
	case c.size <= 4<<20:
		return effort{60, 48, 0.07}
	default:
		return effort{5, 20, 0.55}
	}
}

// args returns the arguments of 'thunder bench' for one run of the cell. It uses only
// flags that older versions have as well.
func (c cell) args() []string {
	args := []string{string(c.mode), "-n", strconv.Itoa(c.ranks), "--fabric", c.fabric, "--no-check",
		"--size", strconv.Itoa(c.size), "--iters", strconv.Itoa(c.effort().iterations)}
	if c.alloc {
		args = append(args, "--alloc")
	}
	return args
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"

	"thundercollective/internal/bench/trial"
	"thundercollective/internal/freeport"
)

// A benchCase is one comparison: an operation, a transport and a number of ranks.
type benchCase struct {
	mode  string
	wire  string // "tcp" or "shm"
	ranks int
}

func (c benchCase) String() string {
	wire := "loopback TCP"
	if c.wire == "shm" {
		wire = "shared memory"
	}
	return fmt.Sprintf("%s, %d ranks, %s", c.mode, c.ranks, wire)
}

func (c benchCase) file() string { return fmt.Sprintf("%s-%s-%d", c.mode, c.wire, c.ranks) }

// A contender is a library that is compared.
type contender struct {
	name string
	slow bool // takes seconds to start
	does func(c benchCase) bool
	run  runner
}

// A runner runs a contender's ranks and returns the time in µs of each size.
type runner func(ctx context.Context, s *settings, c benchCase, sizes []int) (map[int]float64, error)

// The contenders of our own, to which the others are compared.
const (
	ours      = "thundercollective"
	oursAlloc = "thundercollective, Comm.Alloc"
	limitName = "the machine's limit"
)

// contenders lists the contenders, ours first.
func contenders(s *settings) []contender {
	list := []contender{
		{ours, false, func(benchCase) bool { return true }, thunderRun(false)},
		{oursAlloc, false, func(c benchCase) bool { return c.wire == "shm" && c.mode == "allreduce" }, thunderRun(true)},
		{limitName, false, func(c benchCase) bool { return c.wire == "shm" && c.mode == "allreduce" && c.ranks == 2 }, limitRun},
	}
	if s.mpi != "" {
		list = append(list, contender{"Open MPI", false, func(benchCase) bool { return true }, mpiRun})
	}
	if s.python != "" {
		list = append(list,
			contender{"Gloo (PyTorch)", true, func(c benchCase) bool { return c.wire == "tcp" }, glooRun},
			contender{"MLX ring", true, func(c benchCase) bool {
				return c.wire == "tcp" && (c.mode == "allreduce" || c.mode == "allgather")
			}, mlxRun})
	}
	return list
}

func thunderRun(alloc bool) runner {
	return func(ctx context.Context, s *settings, c benchCase, sizes []int) (map[int]float64, error) {
		args := []string{c.mode, "-n", strconv.Itoa(c.ranks), "--fabric", c.wire, "--no-check",
			"--min", strconv.Itoa(sizes[0]), "--max", strconv.Itoa(sizes[len(sizes)-1]),
			"--factor", strconv.Itoa(s.factor)}
		if barrierEach(c.mode) {
			args = append(args, "--barrier-each")
		}
		if alloc {
			args = append(args, "--alloc")
		}
		rows, err := trial.Thunder(ctx, s.thunder, args...)
		if err != nil {
			return nil, err
		}
		got := map[int]float64{}
		for _, row := range rows {
			// Sizes below one element for each rank are rounded up.
			for _, size := range sizes {
				if rounded := int(row.SizeBytes); size == rounded || size < rounded && rounded <= 4*c.ranks {
					got[size] = row.Lat.P50
				}
			}
		}
		return got, nil
	}
}

// barrierEach reports whether the ranks perform a barrier, which is not timed, before each
// iteration: in operations that do not make them wait for each other. The peers' programs
// do the same.
func barrierEach(mode string) bool { return mode == "broadcast" }

func mpiRun(ctx context.Context, s *settings, c benchCase, sizes []int) (map[int]float64, error) {
	btl := "self,vader"
	if c.wire == "tcp" {
		btl = "self,tcp"
	}
	args := []string{"--allow-run-as-root", "--oversubscribe", "-n", strconv.Itoa(c.ranks),
		"--mca", "pml", "ob1", "--mca", "btl", btl, "--mca", "btl_tcp_if_include", "lo", s.mpi, c.mode}
	cmd := exec.CommandContext(ctx, s.mpirun, append(args, texts(sizes)...)...)
	out, err := trial.Output(cmd)
	return parse(out), err
}

func glooRun(ctx context.Context, s *settings, c benchCase, sizes []int) (map[int]float64, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	return pythonRun(c, func(rank int) *exec.Cmd {
		args := []string{filepath.Join(s.programs, "gloo.py"), c.mode, strconv.Itoa(rank), strconv.Itoa(c.ranks), port}
		cmd := exec.CommandContext(ctx, s.python, append(args, texts(sizes)...)...)
		cmd.Env = append(os.Environ(), "GLOO_SOCKET_IFNAME=lo")
		return cmd
	})
}

func mlxRun(ctx context.Context, s *settings, c benchCase, sizes []int) (map[int]float64, error) {
	var hosts [][]string
	for range c.ranks {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, []string{"127.0.0.1:" + port})
	}
	text, err := json.Marshal(hosts)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(os.TempDir(), fmt.Sprintf("thunder-peers-%d.json", os.Getpid()))
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return nil, err
	}
	defer os.Remove(file)
	return pythonRun(c, func(rank int) *exec.Cmd {
		args := []string{filepath.Join(s.programs, "mlx_ring.py"), c.mode, strconv.Itoa(rank), strconv.Itoa(c.ranks)}
		cmd := exec.CommandContext(ctx, s.python, append(args, texts(sizes)...)...)
		cmd.Env = append(os.Environ(), "MLX_HOSTFILE="+file, "MLX_RANK="+strconv.Itoa(rank))
		return cmd
	})
}

// pythonRun starts a process for each rank and returns the output of rank 0.
func pythonRun(c benchCase, command func(rank int) *exec.Cmd) (map[int]float64, error) {
	outs, errs := make([][]byte, c.ranks), make([]error, c.ranks)
	var wg sync.WaitGroup
	for r := range c.ranks {
		wg.Go(func() { outs[r], errs[r] = trial.Output(command(r)) })
	}
	wg.Wait()
	return parse(outs[0]), errors.Join(errs...)
}

// parse reads lines "SIZE MICROS".
func parse(out []byte) map[int]float64 {
	got := map[int]float64{}
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		var size int
		var micros float64
		if n, _ := fmt.Sscan(lines.Text(), &size, &micros); n == 2 {
			got[size] = micros
		}
	}
	return got
}

func texts(sizes []int) []string {
	var list []string
	for _, n := range sizes {
		list = append(list, strconv.Itoa(n))
	}
	return list
}

// freePort returns a loopback port that was free a moment ago.
func freePort() (string, error) {
	ln, err := freeport.Listen("127.0.0.1")
	if err != nil {
		return "", err
	}
	defer ln.Close()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	return port, err
}

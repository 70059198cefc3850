package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	thunder "thundercollective"
	"thundercollective/internal/bench"
	"thundercollective/internal/freeaddr"
)

// small keeps a run short.
var small = []string{"--json", "--min", "0", "--max", "5000", "--factor", "70", "--iters", "2", "--warmup", "1"}

func TestBenchProcesses(t *testing.T) {
	type job struct {
		mode  bench.Mode
		ranks int
		more  []string
	}
	var jobs []job
	for i, mode := range bench.Modes() {
		dt := thunder.DTypes()[i]
		jobs = append(jobs, job{mode, 3, []string{"--dtype", dt.String(), "--op", "max"}})
	}
	for _, n := range []int{1, 2, 9} {
		jobs = append(jobs, job{bench.AllReduce, n, nil}, job{bench.PingPong, n, nil})
	}
	for _, a := range bench.AllReduce.Algos() {
		jobs = append(jobs, job{bench.AllReduce, 4, []string{"--algo", a.String(), "--dtype", "bf16", "--op", "avg"}})
	}
	if *long {
		for _, mode := range bench.Modes() {
			for n := 1; n <= 9; n++ {
				jobs = append(jobs, job{mode, n, nil})
			}
		}
	}
	for _, j := range jobs {
		args := append([]string{"bench", string(j.mode), "-n", strconv.Itoa(j.ranks), "--fabric", "tcp"}, small...)
		args = append(args, j.more...)
		t.Run(strings.Join(append([]string{string(j.mode), strconv.Itoa(j.ranks)}, j.more...), " "), func(t *testing.T) {
			t.Parallel()
			rows := rowsOf(t, args...)
			cfg := bench.Config{Mode: j.mode, Max: 5000, Factor: 70, DType: thunder.F32}
			if n := cfg.Rows(j.ranks); j.more == nil && len(rows) != n {
				t.Errorf("%d rows, want %d", len(rows), n)
			}
			right(t, rows, j.mode, j.ranks)
			for i, again := range rowsOf(t, args...) {
				if again.Checksum != rows[i].Checksum || again.SizeBytes != rows[i].SizeBytes {
					t.Errorf("the second run has checksum %s for %d bytes, the first %s for %d",
						again.Checksum, again.SizeBytes, rows[i].Checksum, rows[i].SizeBytes)
				}
			}
		})
	}
}

func TestBenchInProcess(t *testing.T) {
	counts := []int{1, 2, 5}
	if *long {
		counts = []int{1, 2, 3, 4, 5, 6, 7, 8, 9}
	}
	for _, mode := range bench.Modes() {
		algos := []string{"auto"}
		if *long {
			for _, a := range mode.Algos() {
				algos = append(algos, a.String())
			}
		}
		for _, n := range counts {
			for _, a := range algos {
				t.Run(fmt.Sprintf("%s/%d/%s", mode, n, a), func(t *testing.T) {
					t.Parallel()
					args := append([]string{"bench", string(mode), "-n", strconv.Itoa(n), "--fabric", "mem", "--algo", a}, small...)
					rows := rowsOf(t, args...)
					right(t, rows, mode, n)
					for _, r := range rows {
						if r.Fabric != "mem" {
							t.Errorf("fabric is %q", r.Fabric)
						}
					}
				})
			}
		}
	}
}

// Ranks may be joined by flags, or by an environment as a launcher makes it.
func TestBenchJoins(t *testing.T) {
	addr := freeaddr.Loopback(t, 1)[0]
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("a secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"bench", "alltoall", "--token-file", token}, small...)
	byFlags := command(t, append(args, "--rank", "0", "--world-size", "2", "--coordinator", addr)...)
	byEnv := command(t, args...)
	byEnv.Env = append(byEnv.Env, "THUNDER_RANK=1", "THUNDER_WORLD_SIZE=2", "THUNDER_COORDINATOR="+addr)
	other := make(chan result)
	go func() { other <- finish(t, byEnv) }()
	first, second := finish(t, byFlags), <-other
	if first.code != 0 || second.code != 0 {
		t.Fatalf("exit codes %d and %d\n%s\n%s", first.code, second.code, first.stderr, second.stderr)
	}
	right(t, parse(t, first.stdout), bench.AllToAll, 2)
	if second.stdout != "" {
		t.Errorf("rank 1 printed %q", second.stdout)
	}
}

func TestBenchTableAndPlot(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "out.svg")
	res := run(t, "bench", "allreduce", "--max", "1KiB", "--iters", "1", "--svg", svg)
	if res.code != 0 {
		t.Fatalf("exit code %d\n%s", res.code, res.stderr)
	}
	for _, want := range []string{"# thunder bench allreduce", "2 local ranks", " (auto) · algo auto", "algbw", "#wrong", "\n        1024          256    f32    sum    -1 ", "Out of bounds values : 0 OK"} {
		if !strings.Contains(res.stdout, want) {
			t.Errorf("%q is not in the table:\n%s", want, res.stdout)
		}
	}
	if strings.Contains(res.stdout, "\x1b") || res.stderr != "" {
		t.Errorf("colours or progress without a terminal:\n%q\n%q", res.stdout, res.stderr)
	}
	wellFormed(t, svg)

	res = run(t, "bench", "matrix", "-n", "3", "--fabric", "mem", "--size", "1KiB", "--iters", "2", "--plot", svg)
	if res.code != 0 || !strings.Contains(res.stdout, "# bandwidth one way (GB/s)") {
		t.Errorf("exit code %d\n%s\n%s", res.code, res.stdout, res.stderr)
	}
	wellFormed(t, svg)
}

// Without a word about the fabric, bench measures what a program would get, and says
// what that is; with one, or a variable, that.
func TestBenchFabric(t *testing.T) {
	args := append([]string{"bench", "allreduce"}, small...)
	auto := rowsOf(t, append(args, "--fabric", "auto")...)[0].Fabric
	if got := rowsOf(t, args...)[0].Fabric; got != auto || got == "auto" {
		t.Errorf("the default is %s, and auto is %s", got, auto)
	}
	if got := rowsOf(t, append(args, "--fabric", "tcp")...)[0]; got.Fabric != "tcp" || got.Streams < 1 {
		t.Errorf("tcp is %s with %d streams", got.Fabric, got.Streams)
	}
	cmd := command(t, args...)
	cmd.Env = append(cmd.Env, "THUNDER_FABRIC=tcp")
	if rows := parse(t, finish(t, cmd).stdout); len(rows) == 0 || rows[0].Fabric != "tcp" {
		t.Errorf("THUNDER_FABRIC=tcp: %+v", rows)
	}
	res := run(t, "bench", "barrier", "--iters", "1", "--fabric", "tcp")
	if !strings.Contains(res.stdout, "fabric tcp, streams ") {
		t.Errorf("the heading does not say tcp:\n%s", res.stdout)
	}
	res = run(t, "bench", "barrier", "--iters", "1")
	if !strings.Contains(res.stdout, "fabric "+auto+" (auto) · ") && !strings.Contains(res.stdout, "fabric "+auto+" with 4 streams (auto) · ") {
		t.Errorf("the heading does not say %s:\n%s", auto, res.stdout)
	}
}

func wellFormed(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := xml.NewDecoder(f)
	for n := 0; ; n++ {
		if _, err := d.Token(); errors.Is(err, io.EOF) && n > 0 {
			return
		} else if err != nil {
			t.Fatalf("%s after %d tokens: %v", path, n, err)
		}
	}
}

func TestBenchNoCheck(t *testing.T) {
	for _, r := range rowsOf(t, append([]string{"bench", "allreduce", "--no-check", "--fabric", "mem"}, small...)...) {
		if r.Wrong != nil || r.Checksum != "" {
			t.Errorf("not checked, but %+v", r)
		}
	}
}

// The heading and the JSON have the number of iterations that were checked.
func TestBenchSaysWhatIsChecked(t *testing.T) {
	for _, c := range []struct {
		check, heading, footer string
		checked                int
	}{
		{"all", "all 7 results checked", "# Checked iterations   : 7 of 7\n", 7},
		{"ends", "1 of 7 results checked", "# Checked iterations   : 1 of 7\n", 1},
		{"none", "results not checked", "# Checked iterations   : 0 of 7\n", 0},
	} {
		args := []string{"bench", "allreduce", "--fabric", "mem", "--size", "64", "--iters", "7", "--check", c.check}
		if res := run(t, args...); res.code != 0 || !strings.Contains(res.stdout, c.heading+"\n") || !strings.Contains(res.stdout, c.footer) {
			t.Errorf("--check %s: exit code %d\n%s\n%s", c.check, res.code, res.stdout, res.stderr)
		}
		if r := rowsOf(t, append(args, "--json")...)[0]; r.Checked != c.checked || r.Iters != 7 {
			t.Errorf("--check %s: %+v", c.check, r)
		}
	}
	if res := run(t, "bench", "allreduce", "--check", "some"); res.code != exitUsage || !strings.Contains(res.stderr, "all ends none") {
		t.Errorf("exit code %d\n%s", res.code, res.stderr)
	}
}

// One rank has nobody to send to: it says so instead of measuring its own memory.
func TestBenchAlone(t *testing.T) {
	for _, args := range [][]string{
		{"bench", "ping-pong", "-n", "1", "--size", "64"},
		{"bench", "allreduce", "-n", "1", "--size", "64", "--fabric", "mem"},
		{"bench", "allreduce", "--world-size", "1", "--rank", "0", "--size", "64"},
		{"--world-size", "1", "--rank", "0", "--size", "64"},
	} {
		res := run(t, args...)
		if res.code != 0 || !strings.Contains(res.stdout, "alone") || strings.Contains(res.stdout, " GB/s\n") {
			t.Errorf("%v: exit code %d\n%s\n%s", args, res.code, res.stdout, res.stderr)
		}
	}
}

func TestBenchRefusesEmptyPictures(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "out.svg")
	for _, args := range [][]string{
		{"bench", "barrier"},
		{"bench", "allreduce", "-n", "1"},
		{"bench", "allreduce", "--size", "0"},
	} {
		res := run(t, append(args, "--svg", svg)...)
		if _, err := os.Stat(svg); res.code != exitUsage || !strings.Contains(res.stderr, "--svg: ") || err == nil {
			t.Errorf("%v: exit code %d, %v\n%s", args, res.code, err, res.stderr)
		}
	}
}

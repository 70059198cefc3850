package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"thundercollective/internal/topology"
)

func TestGrades(t *testing.T) {
	tb5 := load(t, "testdata/stories/two-macs-one-cable.txtar")
	halo := load(t, "testdata/stories/two-strix-halo-two-rails.txtar")
	cx := load(t, "testdata/stories/connectx-in-an-enclosure.txtar")
	tests := []struct {
		g         *topology.Graph
		transport string
		gbs       float64
		status    Status
		grade     string
	}{
		// The scale of the launch manifest.
		{tb5, topology.OverRDMA, 7.0, Pass, "champagne"},
		{tb5, topology.OverRDMA, 6.0, Pass, "fine"},
		{tb5, topology.OverRDMA, 5.99, Warn, "investigate"},
		{tb5, topology.OverRDMA, 3.0, Warn, "investigate"},
		{tb5, topology.OverRDMA, 2.9, Fail, "stop"},
		{tb5, topology.OverTCP, 5.5, Pass, "fine"},
		{tb5, topology.OverTCP, 5.4, Warn, "investigate"},
		{tb5, topology.OverTCP, 1.0, Fail, "stop"},
		// The usual 9 Gb/s is the best that thunderbolt-net can do.
		{halo, topology.OverTCP, 9.0 / 8, Pass, "fine"},
		{halo, topology.OverTCP, 0.4, Fail, "stop"},
		// A 100 Gb/s card behind x4 at 16 GT/s is limited by PCIe.
		{cx, topology.OverRDMA, 7.05, Pass, "champagne"},
		{cx, topology.OverRDMA, 6.1, Pass, "fine"},
		{cx, topology.OverTCP, 5.5, Pass, "champagne"},
	}
	for _, tt := range tests {
		e := Expect(tt.g, &tt.g.Cables[0], tt.transport)
		if status, grade := e.Grade(tt.gbs); status != tt.status || grade != tt.grade {
			t.Errorf("%.2f GB/s as %s: %s %s, want %s %s", tt.gbs, e.Why, status, grade, tt.status, tt.grade)
		}
	}
}

// A lab replaces the machines: it returns the output of commands.
type lab struct {
	mu      sync.Mutex
	asked   []string
	thunder func(host string, args string) (string, error)
	command func(host string, args string) (string, error)
}

func (l *lab) note(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, s)
}

func (l *lab) Thunder(_ context.Context, host string, input []byte, args ...string) ([]byte, error) {
	l.note(host + ": thunder " + strings.Join(args, " "))
	if len(strings.TrimSpace(string(input))) < 16 {
		return nil, errors.New("no token on standard input")
	}
	s, err := l.thunder(host, strings.Join(args, " "))
	return []byte(s), err
}

func (l *lab) Command(_ context.Context, host string, argv ...string) ([]byte, error) {
	l.note(host + ": " + strings.Join(argv, " "))
	s, err := l.command(host, strings.Join(argv, " "))
	return []byte(s), err
}

func rows(gbs ...float64) string {
	var b strings.Builder
	for i, v := range gbs {
		fmt.Fprintf(&b, `{"mode":"ping-pong","rank":0,"size_bytes":%d,"gbps":%g,"wrong":0,"lat_us":{"p50":%g,"p99":%g}}`+"\n", 4<<(4*i), v, 20.0*float64(i+1), 50.0*float64(i+1))
	}
	return b.String()
}

const perftestOutput = `
---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF		Device         : mlx5_0
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      20000            57.47              57.46              0.109596
---------------------------------------------------------------------------------------
`

func TestMeasure(t *testing.T) {
	g := load(t, "testdata/stories/connectx-in-an-enclosure.txtar")
	l := &lab{
		thunder: func(host, args string) (string, error) {
			if want := map[string]string{"head-a": "--rank 0", "head-b": "--rank 1"}[host]; !strings.HasSuffix(args, want) {
				return "", fmt.Errorf("%s was asked %s", host, args)
			}
			if strings.Contains(args, "--fabric rdma") {
				return rows(0.1, 2, 7.2), nil
			}
			return rows(0.01, 1, 5.6), nil
		},
		command: func(host, args string) (string, error) {
			if host == "head-a" {
				return "", nil
			}
			return perftestOutput, nil
		},
	}
	r := NewReport(time.Unix(0, 0), "test", g, (&Meter{Hosts: l}).Measure(t.Context(), g))
	got := map[string]string{}
	for _, c := range r.Checks {
		if c.ID == "cable.throughput" {
			got[c.Title] = fmt.Sprintf("%s %s", c.Status, c.Actual)
		}
	}
	want := map[string]string{
		"TCP throughput": "PASS 5.60 GB/s, champagne; 10.0 µs one way", "RDMA throughput": "PASS 7.20 GB/s, champagne; 10.0 µs one way",
		"ib_write_bw": "PASS 7.18 GB/s, champagne",
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s: %q, want %q", k, got[k], v)
		}
	}
	both := strings.Join(l.asked, "\n")
	for _, part := range []string{"head-a: thunder bench ping-pong", "head-b: thunder bench ping-pong", "--addr 10.71.0.1:", "--addr 10.71.0.2:", "--rank 0", "--rank 1",
		"head-a: ib_write_bw -d mlx5_0 -F --report_gbits -q 4", "head-b: ib_write_bw"} {
		if !strings.Contains(both, part) {
			t.Errorf("no host ran %q:\n%s", part, both)
		}
	}
}

func TestMeasureFailures(t *testing.T) {
	tests := []struct {
		name         string
		thunder      func(host, args string) (string, error)
		status       Status
		actual, says string
	}{
		{"refused", func(host, _ string) (string, error) {
			if host == "halo-a" {
				return "", errors.New("halo-a: connection refused")
			}
			return "", context.Canceled
		}, Fail, "could not be measured", "connection refused"},
		{"garbage", func(string, string) (string, error) { return "Segmentation fault\n", nil }, Fail, "could not be measured", "parse bench output"},
		{"nothing", func(string, string) (string, error) { return "", nil }, Fail, "could not be measured", "no row"},
		{"slow", func(string, string) (string, error) { return rows(0.2, 0.3), nil }, Fail, "0.30 GB/s, stop", "should reach"},
		{"middling", func(string, string) (string, error) { return rows(0.2, 0.8), nil }, Warn, "0.80 GB/s, investigate", "should reach"},
		{"corrupt", func(string, string) (string, error) {
			return strings.ReplaceAll(rows(9), `"wrong":0`, `"wrong":3`), nil
		}, Fail, "3 elements of 4 bytes were corrupted", "corrupts data"},
		{"no such fabric", func(string, string) (string, error) { return "", errors.New(`--fabric: unknown fabric "tcp"`) }, Skip, "not measured: this thunder has no tcp fabric", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := load(t, "testdata/stories/two-strix-halo-two-rails.txtar")
			ms := (&Meter{Hosts: &lab{thunder: tt.thunder}}).Measure(t.Context(), g)
			if len(ms) != 2 {
				t.Fatalf("%d measurements for two rails", len(ms))
			}
			if c := ms[0].check(g); c.Status != tt.status || !strings.Contains(c.Actual, tt.actual) || !strings.Contains(c.Cause, tt.says) {
				t.Errorf("%+v", c)
			}
		})
	}
}

func FuzzBenchAndPerftest(f *testing.F) {
	f.Add([]byte(rows(1, 2)))
	f.Add([]byte(perftestOutput))
	f.Add([]byte(`{"rank":0} [1,2`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, parse := range []func([]byte) ([]Row, error){ParseBench, ParsePerftest} {
			list, err := parse(b)
			if err == nil && len(list) == 0 {
				t.Error("neither rows nor an error")
			}
			for _, r := range list {
				if r.Size <= 0 || r.GBs <= 0 {
					t.Errorf("row %+v", r)
				}
			}
		}
	})
}

func TestLostMachineIsAFailure(t *testing.T) {
	g := load(t, "testdata/stories/two-macs-one-cable.txtar")
	g.Machines[1].Lost = "studio-b: permission denied"
	r := NewReport(time.Unix(0, 0), "test", topology.Build(g.Machines), nil)
	if r.ExitCode() != 1 {
		t.Errorf("exit code %d", r.ExitCode())
	}
}

package doctor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"thundercollective/internal/topology"
)

// Hosts runs programs on machines by ssh destination.
type Hosts interface {
	// Thunder runs this program, with input on its standard input.
	Thunder(ctx context.Context, host string, input []byte, args ...string) ([]byte, error)
	// Command runs another program.
	Command(ctx context.Context, host string, argv ...string) ([]byte, error)
}

// A Meter measures cables.
type Meter struct {
	Hosts    Hosts
	Progress func(what string) // called before each measurement; may be nil
	Max      string            // largest message; "64MiB" if empty
	Timeout  time.Duration     // of one measurement; a minute if zero
}

// Measure runs the benchmark over every cable that can carry traffic, one after the
// other, so that they do not disturb each other.
func (m *Meter) Measure(ctx context.Context, g *topology.Graph) []Measurement {
	var out []Measurement
	for i := range g.Cables {
		c := &g.Cables[i]
		if c.Transport == topology.OverNone {
			continue
		}
		out = append(out, m.bench(ctx, g, i, topology.OverTCP))
		if c.Transport == topology.OverRDMA {
			out = append(out, m.bench(ctx, g, i, topology.OverRDMA))
			if p, ok := m.perftest(ctx, g, i); ok {
				out = append(out, p)
			}
		}
	}
	return out
}

// NotMeasured returns what Measure would, with every measurement skipped, for when no
// machine can run anything.
func NotMeasured(g *topology.Graph, why string) []Measurement {
	var out []Measurement
	for i := range g.Cables {
		switch g.Cables[i].Transport {
		case topology.OverRDMA:
			out = append(out, skip(i, topology.OverTCP, why), skip(i, topology.OverRDMA, why))
		case topology.OverTCP:
			out = append(out, skip(i, topology.OverTCP, why))
		}
	}
	return out
}

func skip(cable int, transport, why string) Measurement {
	return Measurement{Cable: cable, Transport: transport, Tool: toolName(transport), Command: "thunder bench ping-pong", Skipped: why}
}

func toolName(transport string) string {
	if transport == topology.OverRDMA {
		return "RDMA throughput"
	}
	return "TCP throughput"
}

func (m *Meter) start(ctx context.Context, what string) (context.Context, context.CancelFunc) {
	if m.Progress != nil {
		m.Progress(what)
	}
	timeout := m.Timeout
	if timeout == 0 {
		timeout = time.Minute
	}
	return context.WithTimeout(ctx, timeout)
}

// bench runs `thunder bench ping-pong` with one rank at each end of a cable.
func (m *Meter) bench(ctx context.Context, g *topology.Graph, cable int, transport string) Measurement {
	c := &g.Cables[cable]
	out := Measurement{Cable: cable, Transport: transport, Tool: toolName(transport)}
	addrs, err := endAddrs(g, c)
	if err != nil {
		out.Err = err.Error()
		return out
	}
	ctx, cancel := m.start(ctx, out.Tool+" over "+c.String())
	defer cancel()
	fabric := "tcp"
	if transport == topology.OverRDMA {
		fabric = "rdma"
	}
	port := randomPort()
	limit := m.Max
	if limit == "" {
		limit = "64MiB"
	}
	args := []string{"bench", "ping-pong", "--world-size", "2", "--fabric", fabric, "--num-streams", "4", "--max", limit, "--factor", "4", "--check", "ends", "--json"}
	for _, a := range addrs {
		args = append(args, "--addr", netip.AddrPortFrom(a, port).String())
	}
	out.Command = "thunder " + strings.Join(args, " ") + " --rank N"
	args = append(args, "--token-file", "/dev/stdin")
	token := []byte(rand.Text() + "\n")

	var wg sync.WaitGroup
	var text [2][]byte
	var errs [2]error
	for rank, e := range [2]topology.End{c.A, c.B} {
		own := slices.Concat(args, []string{"--rank", fmt.Sprint(rank)}) // a copy: the ranks run in parallel
		wg.Go(func() {
			text[rank], errs[rank] = m.Hosts.Thunder(ctx, sshName(g, e), token, own...)
			if errs[rank] != nil {
				cancel() // otherwise the other rank would wait for it
			}
		})
	}
	wg.Wait()
	if err := firstReal(errs[:]); err != nil {
		out.Err = err.Error()
		if strings.Contains(out.Err, "unknown fabric") {
			out.Err, out.Skipped = "", "this thunder has no "+fabric+" fabric"
		}
		return out
	}
	if out.Rows, err = ParseBench(text[0]); err != nil {
		out.Err = err.Error()
	}
	return out
}

// firstReal returns the first error that is not a cancellation, which is the cause of the
// others.
func firstReal(errs []error) error {
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	return errors.Join(errs...)
}

// perftest runs ib_write_bw, if both ends have it.
func (m *Meter) perftest(ctx context.Context, g *topology.Graph, cable int) (Measurement, bool) {
	c := &g.Cables[cable]
	for _, e := range []topology.End{c.A, c.B} {
		if !g.Machines[e.Machine].HasTool("ib_write_bw") || e.RDMA == "" {
			return Measurement{}, false
		}
	}
	out := Measurement{Cable: cable, Transport: topology.OverRDMA, Tool: "ib_write_bw"}
	addrs, err := endAddrs(g, c)
	if err != nil {
		return out, false
	}
	ctx, cancel := m.start(ctx, "ib_write_bw over "+c.String())
	defer cancel()
	flags := []string{"-F", "--report_gbits", "-q", "4", "-p", fmt.Sprint(randomPort())}
	server := append([]string{"ib_write_bw", "-d", c.A.RDMA}, flags...)
	client := append(append([]string{"ib_write_bw", "-d", c.B.RDMA}, flags...), addrs[0].String())
	out.Command = strings.Join(client, " ")

	var wg sync.WaitGroup
	var serverErr error
	wg.Go(func() { _, serverErr = m.Hosts.Command(ctx, sshName(g, c.A), server...) })
	text, err := m.untilListening(ctx, sshName(g, c.B), client)
	cancel()
	wg.Wait()
	if err != nil {
		if serverErr != nil && !errors.Is(serverErr, context.Canceled) {
			err = serverErr
		}
		out.Err = err.Error()
		return out, true
	}
	if out.Rows, err = ParsePerftest(text); err != nil {
		out.Err = err.Error()
	}
	return out, true
}

// untilListening runs perftest's client, which fails at once if its server does not
// listen yet, several times.
func (m *Meter) untilListening(ctx context.Context, host string, argv []string) ([]byte, error) {
	var text []byte
	var err error
	for range 8 {
		if text, err = m.Hosts.Command(ctx, host, argv...); err == nil || ctx.Err() != nil {
			return text, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(400 * time.Millisecond):
		}
	}
	return text, err
}

func endAddrs(g *topology.Graph, c *topology.Cable) ([2]netip.Addr, error) {
	var out [2]netip.Addr
	for i, e := range []topology.End{c.A, c.B} {
		itf := g.Interface(e)
		if itf == nil {
			return out, fmt.Errorf("%s has no interface", e)
		}
		p, ok := itf.IPv4()
		if !ok {
			return out, fmt.Errorf("%s has no IPv4 address", e)
		}
		out[i] = p.Addr()
	}
	return out, nil
}

func sshName(g *topology.Graph, e topology.End) string {
	if s := g.Machines[e.Machine].SSH; s != "" {
		return s
	}
	return e.Host
}

// randomPort returns a port that is probably free at both ends.
func randomPort() uint16 {
	n, err := rand.Int(rand.Reader, big.NewInt(20000))
	if err != nil {
		return 40123
	}
	return uint16(40000 + n.Int64())
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"thundercollective/internal/bench/trial"
)

// The ping-pong that is compared: a message there and back over four connections.
const (
	pingSize    = 64 << 20
	pingStreams = 4
	pingRounds  = 10
	seedVerb    = "seed-rank"
	pingTime    = 30 * time.Second // longer than any run that works
)

// A ping is one measurement of throughput, in GB/s.
type ping struct {
	name string
	gbps float64
}

// pingPong measures several ways to move bytes.
func (r *results) pingPong(ctx context.Context, s *settings) {
	for _, way := range []struct {
		name string
		run  func(context.Context, *settings) (float64, error)
	}{
		{"thundercollective, ping-pong of 64 MiB, 4 streams", thunderPing},
		{"send all, then receive all (the seed's method), 4 streams", seedPing},
		{"iperf3 -P 4, one way", func(ctx context.Context, _ *settings) (float64, error) { return iperf(ctx, "-P", "4") }},
		{"iperf3 --bidir -P 2, half of both ways", func(ctx context.Context, _ *settings) (float64, error) {
			both, err := iperf(ctx, "--bidir", "-P", "2")
			return both / 2, err
		}},
	} {
		limited, cancel := context.WithTimeout(ctx, pingTime)
		got, err := way.run(limited, s)
		cancel()
		if err != nil {
			r.troubles = append(r.troubles, fmt.Sprintf("%s: %v", way.name, err))
			continue
		}
		r.pings = append(r.pings, ping{way.name, got})
	}
}

func thunderPing(ctx context.Context, s *settings) (float64, error) {
	rows, err := trial.Thunder(ctx, s.thunder, "ping-pong", "-n", "2", "--fabric", "tcp",
		"--no-check", "--size", strconv.Itoa(pingSize), "--num-streams", strconv.Itoa(pingStreams))
	if err != nil {
		return 0, err
	}
	if len(rows) != 1 {
		return 0, fmt.Errorf("ping-pong printed %d rows instead of one", len(rows))
	}
	return 2 * pingSize / rows[0].Lat.P50 / 1e3, nil
}

// seedPing measures the method of the first program of this project.
func seedPing(ctx context.Context, s *settings) (float64, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer ln.Close()
	defer context.AfterFunc(ctx, func() { ln.Close() })()
	other := exec.CommandContext(ctx, s.self, seedVerb, ln.Addr().String())
	if err := other.Start(); err != nil {
		return 0, err
	}
	var conns []net.Conn
	for range pingStreams {
		c, err := ln.Accept()
		if err != nil {
			return 0, err
		}
		defer c.Close()
		conns = append(conns, c)
	}
	buf := make([]byte, pingSize)
	var times []float64
	for range pingRounds {
		start := time.Now()
		if err := seedMove(conns, buf, true); err != nil {
			return 0, err
		}
		if err := seedMove(conns, buf, false); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start).Seconds())
	}
	return 2 * pingSize / trial.Median(times) / 1e9, other.Wait()
}

// seedRank is the other end of seedPing.
func seedRank(args []string) error {
	var conns []net.Conn
	for range pingStreams {
		c, err := net.Dial("tcp", strings.Join(args, ""))
		if err != nil {
			return err
		}
		defer c.Close()
		conns = append(conns, c)
	}
	buf := make([]byte, pingSize)
	for range pingRounds {
		if err := seedMove(conns, buf, false); err != nil {
			return err
		}
		if err := seedMove(conns, buf, true); err != nil {
			return err
		}
	}
	return nil
}

// seedMove sends or receives the whole buffer, a part on each connection.
func seedMove(conns []net.Conn, buf []byte, send bool) error {
	errs := make([]error, len(conns))
	part := len(buf) / len(conns)
	var wg sync.WaitGroup
	for i, c := range conns {
		wg.Go(func() {
			b := buf[i*part : (i+1)*part]
			for len(b) > 0 {
				var n int
				if send {
					n, errs[i] = c.Write(b)
				} else {
					n, errs[i] = c.Read(b)
				}
				if errs[i] != nil {
					return
				}
				b = b[n:]
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// iperf returns the total throughput of iperf3, in GB/s.
func iperf(ctx context.Context, flags ...string) (float64, error) {
	port, err := freePort()
	if err != nil {
		return 0, err
	}
	server := exec.CommandContext(ctx, "iperf3", "-s", "-1", "-p", port, "-B", "127.0.0.1")
	if err := server.Start(); err != nil {
		return 0, err
	}
	defer server.Wait()
	args := append([]string{"-c", "127.0.0.1", "-p", port, "-t", "2", "-J"}, flags...)
	type sum struct {
		BitsPerSecond float64 `json:"bits_per_second"`
	}
	var report struct {
		Error string `json:"error"`
		End   struct {
			Received sum `json:"sum_received"`
			Reverse  sum `json:"sum_received_bidir_reverse"`
		} `json:"end"`
	}
	for range 50 { // until the server listens
		var out []byte
		if out, err = trial.Output(exec.CommandContext(ctx, "iperf3", args...)); err == nil {
			report.Error = ""
			err = json.Unmarshal(out, &report)
		}
		if err == nil && report.Error != "" {
			err = errors.New("iperf3: " + report.Error)
		}
		if err == nil {
			break
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
	if err != nil {
		server.Process.Kill()
		return 0, err
	}
	return (report.End.Received.BitsPerSecond + report.End.Reverse.BitsPerSecond) / 8e9, nil
}

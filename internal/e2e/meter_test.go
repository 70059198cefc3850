package e2e_test

import (
	"io"
	"net/http"
	"regexp"
	"testing"

	thunder "thundercollective"
	"thundercollective/internal/inspect"
)

// TestMetrics scrapes a rank that has worked, and inspects it while it runs.
func TestMetrics(t *testing.T) {
	var addr string
	comms := memRanks(t, 2, thunder.Options{
		Diagnostics: thunder.Diagnostics{Metrics: "0", Logger: logTo(func(line string) {
			if m := regexp.MustCompile(`msg=metrics rank=0 .*addr=(\S+)`).FindStringSubmatch(line); m != nil {
				addr = m[1]
			}
		})},
	})
	each(t, 2, func(r int) error {
		if err := thunder.Barrier(t.Context(), comms[r]); err != nil {
			return err
		}
		return thunder.AllReduce(t.Context(), comms[r], make([]float64, 100), thunder.Sum)
	})
	text := scrape(t, addr)
	for _, want := range []string{
		`thunder_operations_total{generation="0",kind="allreduce",rank="0"} 1\n`,
		`thunder_operation_bytes_total{generation="0",kind="allreduce",rank="0"} 800\n`,
		`thunder_operation_seconds_count{generation="0",kind="barrier",rank="0"} 1\n`,
		`thunder_group_failures_total{generation="0",kind="lost",rank="0"} 0\n`,
		`thunder_peer_up{generation="0",host="[^"]*",peer="1",rank="0"} 1\n`,
		`thunder_heartbeats_sent_total{generation="0",rank="0"} \d`,
		`thunder_link_sent_bytes_total{generation="0",host="[^"]*",peer="1",rank="0"} \d`,
		`thunder_info{fabric="mem",generation="0",host="[^"]*",rank="0",size="2"} 1\n`,
	} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	dumps, err := inspect.Load(t.Context(), []string{addr})
	if err != nil || len(dumps) != 1 || len(dumps[0].Groups[0].Operations) != 2 {
		t.Errorf("got %+v, %v", dumps, err)
	}
}

// TestMetricsOfMessages: what ranks send each other directly counts, too.
func TestMetricsOfMessages(t *testing.T) {
	var addr string
	comms := memRanks(t, 2, thunder.Options{
		Diagnostics: thunder.Diagnostics{Metrics: "0", Logger: logTo(func(line string) {
			if m := regexp.MustCompile(`msg=metrics rank=0 .*addr=(\S+)`).FindStringSubmatch(line); m != nil {
				addr = m[1]
			}
		})},
	})
	each(t, 2, func(r int) error {
		if r == 0 {
			return thunder.Send(t.Context(), comms[0], make([]float64, 100), 1)
		}
		return thunder.Recv(t.Context(), comms[1], make([]float64, 100), 0)
	})
	text := scrape(t, addr)
	for _, want := range []string{`thunder_link_sent_bytes_total{.*peer="1".*} 800`, `thunder_link_sent_messages_total{.*peer="1".*} 1\n`} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

func scrape(t *testing.T, addr string) string {
	t.Helper()
	resp, err := http.Get("http://" + addr + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestMetricsOff finds what is wrong with an address.
func TestMetricsOff(t *testing.T) {
	if _, err := thunder.Local(2, thunder.Options{Diagnostics: thunder.Diagnostics{Metrics: "everywhere"}}); err == nil {
		t.Error("accepted")
	}
}

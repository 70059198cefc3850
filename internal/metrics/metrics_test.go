package metrics

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestBuckets(t *testing.T) {
	for _, tt := range []struct {
		d    time.Duration
		want int
	}{
		{-1, 0}, {0, 0}, {time.Microsecond, 0}, {time.Microsecond + 1, 1}, {4 * time.Microsecond, 1}, {5 * time.Microsecond, 2},
		{16 * time.Microsecond, 2}, {17 * time.Microsecond, 3}, {time.Millisecond, 5}, {time.Second, 10}, {67 * time.Second, 13}, {time.Hour, 14},
	} {
		got := bucket(tt.d)
		if got != tt.want {
			t.Errorf("%v: bucket %d, want %d", tt.d, got, tt.want)
		}
		if got < buckets && tt.d.Seconds() > bound(got) {
			t.Errorf("%v is above the bound %v of its bucket", tt.d, bound(got))
		}
	}
}

func TestEncoder(t *testing.T) {
	var h Histogram
	h.Observe(3 * time.Microsecond)
	var more Histogram
	more.Observe(time.Hour)
	h.Merge(&more)
	e := NewEncoder(Label{"rank", "3"})
	e.Counter("a_total", "what it is", 7, Label{"host", "a\"b\\c\nd"})
	e.Counter("a_total", "what it is", 8, Label{"host", "x"})
	e.Gauge("b", "more", 0.25)
	e.Histogram("c_seconds", "times", &h, Label{"kind", "k"})
	text := string(e.Bytes())
	for _, want := range []string{
		"# HELP a_total what it is\n# TYPE a_total counter\n" + `a_total{rank="3",host="a\"b\\c\nd"} 7` + "\n" + `a_total{rank="3",host="x"} 8` + "\n",
		"# TYPE b gauge\n" + `b{rank="3"} 0.25` + "\n",
		`c_seconds_bucket{rank="3",kind="k",le="1e-06"} 0`, `c_seconds_bucket{rank="3",kind="k",le="4e-06"} 1`,
		`c_seconds_bucket{rank="3",kind="k",le="+Inf"} 2`, `c_seconds_count{rank="3",kind="k"} 2`, `c_seconds_sum{rank="3",kind="k"} 3600.000003`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if h.Count() != 2 {
		t.Errorf("%d observed", h.Count())
	}
	if n := testing.AllocsPerRun(100, func() { h.Observe(time.Millisecond) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAddr(t *testing.T) {
	for text, want := range map[string]string{
		"9400": "127.0.0.1:9402", "0": "127.0.0.1:0", "0.0.0.0:9400": "0.0.0.0:9402", "[::1]:80": "[::1]:82",
		"": "", "x": "", ":9400": "", "65535": "", "-1": "", "70000": "",
	} {
		got, err := Addr(text, 2)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func TestServe(t *testing.T) {
	s, err := Serve("127.0.0.1:0", map[string]http.HandlerFunc{"/metrics": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get("http://" + s.Addr() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	if string(b) != "hello" {
		t.Errorf("got %q", b)
	}
	if _, err := Serve(s.Addr(), nil); err == nil {
		t.Error("two servers at one address")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
}

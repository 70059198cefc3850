package metrics

import (
	"io"
	"net/http"
	"net/http/httptest"
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

// get returns what a handler answers.
func get(t *testing.T, h http.Handler) (status int, kind, text string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return w.Code, w.Header().Get("Content-Type"), w.Body.String()
}

func TestHandler(t *testing.T) {
	var h Histogram
	h.Observe(3 * time.Microsecond)
	var more Histogram
	more.Observe(time.Hour)
	h.Merge(&more)
	status, kind, text := get(t, Handler(func(s *Scrape) {
		s.Counter("a_total", "what it is", 7, Label{"host", "a\"b\\c\nd"})
		s.Counter("a_total", "what it is", 8, Label{"host", "x"})
		s.Gauge("b", "more", 0.25)
		s.Histogram("c_seconds", "times", &h, Label{"kind", "k"})
	}, Label{"rank", "3"}))
	if status != http.StatusOK || !strings.HasPrefix(kind, "text/plain; version=0.0.4; charset=utf-8") {
		t.Errorf("got %d, %s", status, kind)
	}
	for _, want := range []string{
		"# HELP a_total what it is\n# TYPE a_total counter\n" + `a_total{host="a\"b\\c\nd",rank="3"} 7` + "\n" + `a_total{host="x",rank="3"} 8` + "\n",
		"# TYPE b gauge\n" + `b{rank="3"} 0.25` + "\n",
		`c_seconds_bucket{kind="k",rank="3",le="1e-06"} 0`, `c_seconds_bucket{kind="k",rank="3",le="4e-06"} 1`,
		`c_seconds_bucket{kind="k",rank="3",le="+Inf"} 2`, `c_seconds_count{kind="k",rank="3"} 2`, `c_seconds_sum{kind="k",rank="3"} 3600.000003`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "go_") || strings.Contains(text, "process_") {
		t.Errorf("more than what was asked for:\n%s", text)
	}
	if h.Count() != 2 {
		t.Errorf("%d observed", h.Count())
	}
	if n := testing.AllocsPerRun(100, func() { h.Observe(time.Millisecond) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestHandlerRefuses: a scrape with a mistake in it fails, and says which.
func TestHandlerRefuses(t *testing.T) {
	status, _, text := get(t, Handler(func(s *Scrape) {
		s.Gauge("twice", "more", 1)
		s.Gauge("twice", "more", 2)
	}))
	if status != http.StatusInternalServerError || !strings.Contains(text, "twice") {
		t.Errorf("got %d, %s", status, text)
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

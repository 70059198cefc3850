package inspect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"thundercollective/internal/inspect"
	"thundercollective/internal/recorder"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// job makes dumps of n ranks that did ops operations 10 ms apart; edit changes them.
func job(n, ops int, edit func(dumps []*inspect.Dump)) []*inspect.Dump {
	var dumps []*inspect.Dump
	var all []int
	for r := range n {
		all = append(all, r)
	}
	for r := range n {
		d := &inspect.Dump{Version: recorder.Version, Rank: r, Size: n, Host: fmt.Sprintf("box%d", r), Time: start.Add(time.Minute)}
		g := recorder.Group{ID: 1, Ranks: all}
		for i := range ops {
			g.Operations = append(g.Operations, recorder.Operation{
				Seq: uint64(i + 1), Call: "allreduce(4 × f32, sum, ring)", Kind: "allreduce", State: "done",
				Begin: start.Add(time.Duration(10*i) * time.Millisecond), Took: 5 * time.Millisecond,
			})
		}
		d.Groups = []recorder.Group{g}
		dumps = append(dumps, d)
	}
	if edit != nil {
		edit(dumps)
	}
	return dumps
}

func last(d *inspect.Dump) *recorder.Operation {
	ops := d.Groups[0].Operations
	return &ops[len(ops)-1]
}

// message adds one of four numbers, its seq-th, to or from a peer.
func message(dumps []*inspect.Dump, rank int, way recorder.Direction, peer int, seq uint64, state string) *recorder.Operation {
	kind := map[recorder.Direction]string{recorder.To: "send", recorder.From: "recv"}[way]
	g := &dumps[rank].Groups[0]
	g.Pairs = append(g.Pairs, recorder.Pair{Peer: peer, Direction: way, Operations: []recorder.Operation{{
		Seq: seq, Call: fmt.Sprintf("%s(4 × f32, %s rank %d)", kind, way, peer), Kind: kind, DType: "f32", Bytes: 16,
		Begin: start.Add(time.Second), Took: 2 * time.Second, State: state,
	}}})
	return &g.Pairs[len(g.Pairs)-1].Operations[0]
}

// barrier adds one that a rank waits in.
func barrier(d *inspect.Dump) {
	d.Groups[0].Operations = append(d.Groups[0].Operations, recorder.Operation{
		Seq: 51, Call: "barrier", Kind: "barrier", State: "running", Begin: start.Add(time.Second), Took: 3 * time.Second,
	})
}

func TestVerdict(t *testing.T) {
	for _, tt := range []struct {
		name    string
		edit    func(dumps []*inspect.Dump)
		want    string
		healthy bool
	}{
		{"fine", nil, "all ranks agree, and none is late", true},
		{"other call", func(d []*inspect.Dump) { last(d[2]).Call = "barrier" },
			"operation #50: rank 2 called barrier, ranks 0, 1 and 3 called allreduce(4 × f32, sum, ring)", false},
		{"lost", func(d []*inspect.Dump) {
			for _, r := range []int{0, 1, 3} {
				d[r].Groups[0].Failure = &recorder.Failure{Kind: "lost", Rank: 2, Text: "thunder: lost rank 2 on box2: its cable is cut"}
			}
		}, "lost rank 2 on box2: its cable is cut", false},
		{"stayed away", func(d []*inspect.Dump) {
			for _, r := range []int{0, 1, 2} {
				barrier(d[r])
			}
		}, "rank 3 had not called operation #51, barrier, while others waited in it for 3s; the latest call of rank 3 was #50, allreduce(4 × f32, sum, ring), done", false},
		{"all wait in one", func(d []*inspect.Dump) {
			for _, r := range d {
				barrier(r)
			}
		}, "ranks 0, 1, 2 and 3 waited 3s in operation #51, barrier, which all ranks have called", false},
		{"one is late by less than a second", func(d []*inspect.Dump) {
			for _, r := range []int{0, 1, 2} {
				barrier(d[r])
				last(d[r]).Took = 900 * time.Millisecond
			}
		}, "all ranks agree, and none is late", true},
		{"a group of some waits", func(d []*inspect.Dump) {
			for _, r := range []int{1, 3} {
				g := recorder.Group{ID: 2, Ranks: []int{1, 2, 3}, Operations: []recorder.Operation{{
					Seq: 7, Call: "barrier", Kind: "barrier", State: "running", Begin: start.Add(time.Second), Took: 4 * time.Second,
				}}}
				d[r].Groups = append(d[r].Groups, g)
			}
			d[2].Groups = append(d[2].Groups, recorder.Group{ID: 2, Ranks: []int{1, 2, 3}})
		}, "rank 2 had not called operation #7, barrier, while others waited in it for 4s", false},
		{"asked while it runs, one after the other", func(d []*inspect.Dump) {
			for r := range 3 {
				d[r].Time = start.Add(500 * time.Millisecond)
			}
			barrier(d[3])                                 // begun after the others were asked
			message(d, 0, recorder.From, 1, 1, "running") // so is this, by the clock
			message(d, 1, recorder.From, 0, 1, "running")
		}, "all ranks agree, and none is late", true},
		{"message that was not sent", func(d []*inspect.Dump) {
			d[1].Groups[0].Failure = &recorder.Failure{Kind: "timeout", Rank: 1, Text: "thunder: rank 1 gave up"}
			message(d, 1, recorder.From, 3, 2, "failed")
			message(d, 0, recorder.From, 1, 9, "failed") // it waits for one that waits
		}, "rank 1 waited 2s in recv(4 × f32, from rank 3), message 2: rank 3 had not sent it; its last collective was #50, allreduce(4 × f32, sum, ring), done", false},
		{"message that nobody receives", func(d []*inspect.Dump) {
			d[0].Groups[0].Failure = &recorder.Failure{Kind: "timeout", Rank: 0, Text: "thunder: rank 0 gave up"}
			message(d, 0, recorder.To, 3, 2, "failed")
			message(d, 3, recorder.From, 0, 1, "done")
			d[3].Groups[0].Operations = nil
		}, "rank 0 waited 2s in send(4 × f32, to rank 3), message 2: rank 3 had not called Recv for it", false},
		{"circle of messages", func(d []*inspect.Dump) {
			message(d, 0, recorder.From, 3, 1, "running")
			message(d, 3, recorder.From, 2, 7, "running")
			message(d, 2, recorder.From, 0, 1, "running")
		}, "ranks 0, 2 and 3 wait for each other: rank 0 in recv(4 × f32, from rank 3), message 1, rank 3 in recv(4 × f32, from rank 2), message 7, rank 2 in recv(4 × f32, from rank 0), message 1", false},
		{"circle through a barrier", func(d []*inspect.Dump) {
			for _, r := range []int{0, 1, 2} {
				barrier(d[r])
			}
			message(d, 3, recorder.From, 1, 4, "running")
		}, "ranks 1 and 3 wait for each other: rank 3 in recv(4 × f32, from rank 1), message 4, rank 1 in barrier, #51", false},
		{"late for a barrier because of a message", func(d []*inspect.Dump) {
			d[0].Groups[0].Failure = &recorder.Failure{Kind: "timeout", Rank: 0, Text: "thunder: rank 0 gave up"}
			barrier(d[0])
			barrier(d[1])
			message(d, 3, recorder.From, 2, 4, "failed")
		}, "rank 3 waited 2s in recv(4 × f32, from rank 2), message 4: rank 2 had not sent it; its last collective was #50, allreduce(4 × f32, sum, ring), done", false},
		{"unlike messages", func(d []*inspect.Dump) {
			message(d, 1, recorder.From, 2, 5, "failed")
			o := message(d, 2, recorder.To, 1, 5, "failed")
			o.Call, o.Bytes = "send(8 × f32, to rank 1)", 32
		}, "message 5: rank 1 called recv(4 × f32, from rank 2), rank 2 called send(8 × f32, to rank 1)", false},
		{"message on its way", func(d []*inspect.Dump) {
			message(d, 1, recorder.From, 2, 5, "running")
			message(d, 2, recorder.To, 1, 5, "done")
		}, "all ranks agree, and none is late", true},
		{"waits for something to do", func(d []*inspect.Dump) { message(d, 1, recorder.From, 0, 5, "running") },
			"all ranks agree, and none is late", true},
		{"timeout", func(d []*inspect.Dump) {
			d[1].Groups[0].Failure = &recorder.Failure{Kind: "timeout", Rank: 1, Text: "thunder: rank 1 gave up"}
		}, "rank 1 gave up", false},
		{"straggler, with a clock of its own", func(d []*inspect.Dump) {
			for i := range d[1].Groups[0].Operations {
				o := &d[1].Groups[0].Operations[i]
				o.Begin, o.Took = o.Begin.Add(time.Hour+3*time.Millisecond), 2*time.Millisecond
			}
		}, "all ranks agree; rank 1 is typically the last to arrive, 3ms after the first", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := inspect.Examine(job(4, 50, tt.edit))
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != tt.want || r.Healthy != tt.healthy {
				t.Errorf("got  %q (healthy: %v)\nwant %q", r.Verdict, r.Healthy, tt.want)
			}
		})
	}
}

// TestMissing says of a rank without a dump that it has none, in the verdict and
// the table.
func TestMissing(t *testing.T) {
	dumps := job(3, 5, func(d []*inspect.Dump) {
		d[0].Groups[0].Failure = &recorder.Failure{Kind: "lost", Rank: 1, Text: "thunder: lost rank 1"}
		d[2].Groups[0].Failure = d[0].Groups[0].Failure
	})
	r, err := inspect.Examine([]*inspect.Dump{dumps[0], dumps[2]})
	if err != nil {
		t.Fatal(err)
	}
	if want := "lost rank 1; it left no dump"; r.Verdict != want {
		t.Errorf("got %q, want %q", r.Verdict, want)
	}
	var b bytes.Buffer
	if err := r.WriteTable(&b); err != nil || !strings.Contains(b.String(), "no dump") || strings.Count(b.String(), "\n") != 4 {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// TestWaitForMissing has ranks wait for one of which there is no dump, or which does not
// answer, for longer than a second and for less.
func TestWaitForMissing(t *testing.T) {
	for _, tt := range []struct {
		name       string
		took       time.Duration
		silent     time.Duration
		unanswered []string
		want       string
	}{
		{"no dump", 7 * time.Second, 0, nil, "ranks 0 and 1 waited 7s in operation #6, barrier, for rank 2, which left no dump"},
		{"no answer", 7 * time.Second, 7200 * time.Millisecond, []string{"c:9400"},
			"ranks 0 and 1 waited 7s in operation #6, barrier, for rank 2, which does not answer (c:9400); the last heartbeat of rank 2 came 7.2s earlier"},
		{"not for long", time.Millisecond, 0, []string{"c:9400"}, "there is nothing from rank 2, which does not answer (c:9400); of the others, all ranks agree, and none is late"},
	} {
		dumps := job(3, 5, func(d []*inspect.Dump) {
			for i := range 2 {
				barrier(d[i])
				last(d[i]).Seq, last(d[i]).Took = 6, tt.took
				d[i].Peers = []recorder.Peer{{Rank: 2, Silent: tt.silent}}
			}
		})
		r, err := inspect.Examine(dumps[:2], tt.unanswered...)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict != tt.want || r.Healthy {
			t.Errorf("%s: got  %q (healthy: %v)\nwant %q", tt.name, r.Verdict, r.Healthy, tt.want)
		}
		var b bytes.Buffer
		if err := r.WriteTable(&b); err != nil || len(tt.unanswered) > 0 != strings.Contains(b.String(), "no answer") {
			t.Errorf("%s: %v\n%s", tt.name, err, b.String())
		}
	}
}

// TestLoadUnanswered asks ranks of which one is stopped: it accepts connections and says
// nothing. It costs a moment, once, and the others are there.
func TestLoadUnanswered(t *testing.T) {
	var addrs []string
	for _, d := range job(2, 3, nil) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if err := json.NewEncoder(w).Encode(d); err != nil {
				t.Error(err)
			}
		}))
		defer s.Close()
		addrs = append(addrs, s.Listener.Addr().String())
	}
	var stopped []string
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		stopped = append(stopped, l.Addr().String())
	}
	begun := time.Now()
	dumps, err := inspect.Load(t.Context(), []string{stopped[0], addrs[0], stopped[1], addrs[1]})
	silent, ok := errors.AsType[*inspect.UnansweredError](err)
	if !ok || len(dumps) != 2 || !slices.Equal(silent.Addrs, stopped) {
		t.Errorf("%d dumps, %v", len(dumps), err)
	}
	if took := time.Since(begun); took > 3500*time.Millisecond {
		t.Errorf("it took %v", took)
	}
}

// TestGenerations looks at the latest only.
func TestGenerations(t *testing.T) {
	old := job(2, 5, func(d []*inspect.Dump) { last(d[1]).Call = "barrier" })
	now := job(2, 5, func(d []*inspect.Dump) { d[0].Generation, d[1].Generation = 1, 1 })
	r, err := inspect.Examine(append(old, now...))
	if err != nil || !r.Healthy || r.Generation != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, err := inspect.Examine(nil); err == nil {
		t.Error("examined nothing")
	}
}

// TestPictures checks that the trace is JSON with all operations, and the page
// well-formed, with a bar for each and nothing from elsewhere.
func TestPictures(t *testing.T) {
	r, err := inspect.Examine(job(3, 20, func(d []*inspect.Dump) {
		d[0].Host = "<script>"
		message(d, 1, recorder.From, 2, 1, "running")
	}))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	if err := r.WriteTable(&table); err != nil || !strings.Contains(table.String(), "INCOMPLETE") || !strings.Contains(table.String(), "recv(4 × f32, from rank 2), message 1") {
		t.Errorf("%v\n%s", err, table.String())
	}
	var b bytes.Buffer
	if err := r.WriteTrace(&b); err != nil {
		t.Fatal(err)
	}
	var trace struct{ TraceEvents []map[string]any }
	if err := json.Unmarshal(b.Bytes(), &trace); err != nil || len(trace.TraceEvents) != 3*20+3+2 {
		t.Errorf("%v, %d events", err, len(trace.TraceEvents))
	}
	b.Reset()
	if err := r.WriteTimeline(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Count(text, "<rect") != 3*20+1 || strings.Contains(text, "<script>") || strings.Contains(text, "http") {
		t.Errorf("the page is not right:\n%.600s", text)
	}
	svg := text[strings.Index(text, "<svg") : strings.Index(text, "</svg>")+6]
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the picture is not well-formed: %v", err)
		}
	}
}

// TestTimelineHoldsEveryBar: an operation that began early and takes longest must end within
// the picture, which shrinks with the window.
func TestTimelineHoldsEveryBar(t *testing.T) {
	r, err := inspect.Examine(job(2, 20, func(d []*inspect.Dump) {
		d[1].Groups[0].Operations[3].Took = time.Minute
	}))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteTimeline(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if !strings.Contains(text, `<svg viewBox="0 0 1200 `) || !strings.Contains(text, "width:100%") {
		t.Errorf("the picture has a fixed width:\n%.900s", text)
	}
	bars := regexp.MustCompile(`<rect [^>]*x="([0-9.]+)"[^>]*width="([0-9.]+)"`).FindAllStringSubmatch(text, -1)
	if len(bars) != 40 {
		t.Fatalf("%d bars", len(bars))
	}
	for _, m := range bars {
		x, _ := strconv.ParseFloat(m[1], 64)
		width, _ := strconv.ParseFloat(m[2], 64)
		if x+width > 1200 {
			t.Errorf("a bar from %v to %v is outside the picture", x, x+width)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	for _, d := range job(2, 3, nil) {
		if err := d.Save(dir); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "flight-g0-r1.json")
	for _, tt := range []struct {
		sources []string
		want    int
	}{{[]string{dir}, 2}, {[]string{file}, 1}, {[]string{dir, file}, 3}} {
		dumps, err := inspect.Load(context.Background(), tt.sources)
		if err != nil || len(dumps) != tt.want {
			t.Errorf("%v: %d dumps, %v", tt.sources, len(dumps), err)
		}
	}
	os.WriteFile(filepath.Join(dir, "flight-g0-r9.json"), []byte("junk"), 0o644)
	for _, bad := range []string{t.TempDir(), filepath.Join(dir, "nothing"), dir, "127.0.0.1:1"} {
		if _, err := inspect.Load(context.Background(), []string{bad}); err == nil {
			t.Errorf("%s: loaded", bad)
		}
	}
}

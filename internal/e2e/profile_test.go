package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	thunder "thundercollective"
)

func TestProfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "profile.json")
	p := &thunder.Profile{Fabrics: map[string]thunder.Model{"tcp": {Alpha: 1e6, Beta: 1e-6, Gamma: 0}}}
	if err := p.Write(path); err != nil {
		t.Fatal(err)
	}
	comms := tcpRanks(t, 5, thunder.Options{Tuning: thunder.Tuning{Profile: path}})
	each(t, 5, func(r int) error { return thunder.Barrier(t.Context(), comms[r]) })
	// Messages that cost a second each, and bytes that cost nothing.
	if got := comms[0].Choice(thunder.KindAllReduce, thunder.Auto, thunder.F32, 1<<20).Algo; got != thunder.Direct {
		t.Errorf("chose %v, want the algorithm with the fewest steps", got)
	}
	each(t, 5, func(r int) error {
		return thunder.AllReduce(t.Context(), comms[r], make([]float32, 300_000), thunder.Sum)
	})
	without := tcpRanks(t, 5, thunder.Options{})
	if got := without[0].Choice(thunder.KindAllReduce, thunder.Auto, thunder.F32, 1<<20).Algo; got == thunder.Direct {
		t.Errorf("without a profile: chose %v for 4 MiB", got)
	}
}

func TestProfileRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":        "α = 3",
		"negative costs": `{"fabrics":{"tcp":{"alpha_us":-1,"beta_us_per_kb":1}}}`,
		"no costs":       `{"fabrics":{"tcp":{}}}`,
	} {
		path := filepath.Join(t.TempDir(), "profile.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := thunder.ReadProfile(path); err == nil || !strings.Contains(err.Error(), "thunder tune") {
			t.Errorf("%s: %v, want an error that says what to do", name, err)
		}
	}
}

// TestProfileOfParts checks that what is known of shared memory and of TCP serves
// ranks that use both, on all of them, and brings segments and streams along.
func TestProfileOfParts(t *testing.T) {
	path := t.TempDir() + "/profile.json"
	p := &thunder.Profile{Fabrics: map[string]thunder.Model{
		"tcp": {Alpha: 20, Beta: 0.5, Gamma: 0.05, Streams: 3}, "shm": {Alpha: 1, Beta: 0.1, Gamma: 0.05},
	}}
	if err := p.Write(path); err != nil {
		t.Fatal(err)
	}
	// Rank 0 is alone on its host, and has no shared memory.
	comms := hostRanks(t, "ABB", thunder.Options{Tuning: thunder.Tuning{Profile: path, Calibrate: true}})
	each(t, 3, func(r int) error { return thunder.Barrier(t.Context(), comms[r]) })
	want := thunder.Model{Alpha: 20, Beta: 0.5, Gamma: 0.05, Streams: 3, Local: &thunder.LinkCost{Alpha: 1, Beta: 0.1}}
	for r, c := range comms {
		if m := c.Model(); m == nil || !sameModel(*m, want) {
			t.Errorf("rank %d chooses by %+v", r, m)
		}
	}
	if got := comms[0].Choice(thunder.KindAllReduce, thunder.Auto, thunder.F32, 1<<24); got.Algo != thunder.Hier || got.Segment < 256<<10 {
		t.Errorf("64 MiB: %+v", got)
	}
}

// TestSegmentOption checks that the option is obeyed.
func TestSegmentOption(t *testing.T) {
	comms := memRanks(t, 2, thunder.Options{Tuning: thunder.Tuning{Segment: 4096}})
	each(t, 2, func(r int) error { return thunder.Barrier(t.Context(), comms[r]) })
	if got := comms[0].Choice(thunder.KindBroadcast, thunder.Ring, thunder.U8, 1<<20).Segment; got != 4096 {
		t.Errorf("pieces of %d", got)
	}
	before := comms[0].TrafficTo(1).SentMessages
	each(t, 2, func(r int) error {
		return comms[r].Do(t.Context(), &thunder.Request{Kind: thunder.KindBroadcast, DType: thunder.U8, Algo: thunder.Ring, Recv: make([]byte, 64<<10)})
	})
	if got := comms[0].TrafficTo(1).SentMessages - before; got != 16 {
		t.Errorf("%d messages, want 16", got)
	}
	for _, bad := range []thunder.Options{{Tuning: thunder.Tuning{Segment: 10}}, {Tuning: thunder.Tuning{Segment: -1}}} {
		if _, err := thunder.Local(2, bad); err == nil || !strings.Contains(err.Error(), "segments") {
			t.Errorf("segments of %d: %v", bad.Tuning.Segment, err)
		}
	}
	for _, kv := range [][2]string{{"THUNDER_SEGMENT", "many"}, {"THUNDER_CALIBRATE", "perhaps"}} {
		t.Setenv(kv[0], kv[1])
		if _, err := thunder.Local(2, thunder.Options{}); err == nil || !strings.Contains(err.Error(), kv[0]) {
			t.Errorf("%s=%s: %v", kv[0], kv[1], err)
		}
		t.Setenv(kv[0], "")
	}
}

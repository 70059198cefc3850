package thunder_test

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
	comms := tcpRanks(t, 5, thunder.Options{Profile: path})
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

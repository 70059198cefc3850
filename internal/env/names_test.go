package env

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMisspelt: a name that is nearly one of ours is refused.
func TestMisspelt(t *testing.T) {
	for wrong, right := range map[string]string{
		"TIMOUT": Timeout, "TIMEOUTT": Timeout, "TIMEOTU": Timeout, "TIMOUTT": Timeout,
		"RNAK": Rank, "RANKS": Rank, "LOGS": Log, "LGO": Log,
		"WORLDSIZE": WorldSize, "STARTTIMEOUT": StartTimeout, "CHECKSUMS": Checksum, "TOKENFILE": TokenFile, "DUMPDIR": DumpDir,
	} {
		_, err := Names([]string{"HOME=/", Prefix + wrong + "=1"})
		var e *UnknownError
		if !errors.As(err, &e) || e.Like != right {
			t.Errorf("%s: got %v, want %s", wrong, err, right)
		}
	}
	_, err := Names([]string{"THUNDER_TIMOUT=1"})
	if want := "THUNDER_TIMOUT is no variable of thunder; did you mean THUNDER_TIMEOUT?"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestStrangers: what is nothing like ours may be another program's, and what Kubernetes
// sets for a service is not even mentioned.
func TestStrangers(t *testing.T) {
	environ := []string{"PATH=/bin", Prefix + "SKY_COLOUR=blue", Prefix + "FOO=1", Prefix + "TIMOUT=", Timeout + "=1s"}
	for _, service := range []string{"", "METRICS_", "COORDINATOR_", "0_", "LOG_"} {
		for _, link := range []string{
			"SERVICE_HOST=10.0.0.1", "SERVICE_PORT=7000", "SERVICE_PORT_HTTP=7000", "PORT=tcp://10.0.0.1:7000", "PORT_7000_TCP=tcp://10.0.0.1:7000",
			"PORT_7000_TCP_PROTO=tcp", "PORT_7000_TCP_PORT=7000", "PORT_7000_TCP_ADDR=10.0.0.1", "PORT_53_UDP_ADDR=10.0.0.1",
		} {
			environ = append(environ, Prefix+service+link)
		}
	}
	strangers, err := Names(environ)
	if err != nil || !slices.Equal(strangers, []string{Prefix + "FOO", Prefix + "SKY_COLOUR"}) {
		t.Errorf("got %v, %v", strangers, err)
	}
}

// TestNamesApart: no name of the table is taken for a misspelling of another.
func TestNamesApart(t *testing.T) {
	for _, v := range All() {
		if _, err := Names([]string{v.Name + "=1"}); err != nil {
			t.Error(err)
		}
		if serviceLink.MatchString(v.Name) {
			t.Errorf("%s looks like a service of Kubernetes", v.Name)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "axc", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1}} {
		if got, back := distance(tt.a, tt.b), distance(tt.b, tt.a); got != tt.want || back != tt.want {
			t.Errorf("%q, %q: %d, %d, want %d", tt.a, tt.b, got, back, tt.want)
		}
	}
	if d := distance(strings.Repeat("x", 1000), "x"); d != 999 {
		t.Errorf("got %d", d)
	}
}

// TestOldNames: a variable counts by its old name if it is not set by the new one.
func TestOldNames(t *testing.T) {
	vars := map[string]string{"THUNDER_SILENCE": "3s", "THUNDER_PRIVATE": "1", NoPeerReads: "0", "THUNDER_SMALL_PAGES": "perhaps"}
	getenv := func(name string) string { return vars[name] }
	r := &Reader{Getenv: getenv}
	if r.Duration(HeartbeatTimeout) != 3*time.Second || r.Bool(NoPeerReads) || r.Err() != nil {
		t.Errorf("not read as they are set: %v", r.Err())
	}
	if r.Bool(NoHugePages); r.Err() == nil || r.Err().Error() != `THUNDER_SMALL_PAGES is "perhaps": give 1 or 0` {
		t.Errorf("got %v, want the name that is set", r.Err())
	}
	want := [][2]string{{"THUNDER_SILENCE", HeartbeatTimeout}, {"THUNDER_SMALL_PAGES", NoHugePages}}
	if got := Renamed(getenv); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := Names([]string{"THUNDER_SILENCE=3s"}); err != nil {
		t.Error(err)
	}
	if _, err := Names([]string{Prefix + "SILENC=3s"}); err == nil || !strings.HasSuffix(err.Error(), "THUNDER_HEARTBEAT_TIMEOUT?") {
		t.Errorf("got %v, want the new name", err)
	}
	list, _ := Survey([]string{"THUNDER_SILENCE=3s"})
	if s := setting(t, list, HeartbeatTimeout); s.Value != "3s" || s.SetAs != "THUNDER_SILENCE" {
		t.Errorf("got %+v", s)
	}
}

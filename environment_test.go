package thunder

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"thundercollective/internal/env"
	"thundercollective/internal/rendezvous"
)

// TestEnvMisspelt: a variable that is nearly one of ours is refused, wherever options are
// taken.
func TestEnvMisspelt(t *testing.T) {
	t.Setenv("THUNDER_TIMOUT", "1s")
	_, initErr := Init(t.Context(), Options{})
	_, localErr := Local(1, Options{})
	for name, err := range map[string]error{"Init": initErr, "Local": localErr, "Validate": Options{}.Validate()} {
		var option *OptionError
		if !errors.As(err, &option) || err.Error() != "thunder: THUNDER_TIMOUT is no variable of thunder; did you mean THUNDER_TIMEOUT?" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestEnvStranger: a variable that is nothing like ours is mentioned once, and those of
// Kubernetes are not.
func TestEnvStranger(t *testing.T) {
	hinted.Clear()
	t.Setenv("THUNDER_"+"SKY_COLOUR", "blue")
	t.Setenv("THUNDER_"+"SERVICE_HOST", "10.0.0.1")
	t.Setenv("THUNDER_"+"PORT_7000_TCP_ADDR", "10.0.0.1")
	var out strings.Builder
	o := Options{Diagnostics: Diagnostics{Logger: slog.New(slog.NewTextHandler(&out, nil))}}
	for range 2 {
		comms, err := Local(1, o)
		if err != nil {
			t.Fatal(err)
		}
		comms[0].Close()
	}
	if got := out.String(); strings.Count(got, "THUNDER_") != 1 || !strings.Contains(got, "SKY_COLOUR is no variable of thunder") {
		t.Errorf("got %q, want one warning", got)
	}
}

// TestEnvOldName: an old name still works, and its new one is mentioned once.
func TestEnvOldName(t *testing.T) {
	hinted.Clear()
	t.Setenv("THUNDER_SILENCE", "1ms")
	if err := (Options{}).Validate(); err == nil || !strings.Contains(err.Error(), "at least 100ms") {
		t.Errorf("THUNDER_SILENCE has no effect: %v", err)
	}
	t.Setenv("THUNDER_SILENCE", "20s")
	var out strings.Builder
	o := Options{Diagnostics: Diagnostics{Logger: slog.New(slog.NewTextHandler(&out, nil))}}
	for range 2 {
		comms, err := Local(1, o)
		if err != nil {
			t.Fatal(err)
		}
		comms[0].Close()
	}
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "THUNDER_SILENCE is now called THUNDER_HEARTBEAT_TIMEOUT") {
		t.Errorf("got %q, want one hint", got)
	}
}

// TestEnvDefaults: the defaults in the table are those of the library.
func TestEnvDefaults(t *testing.T) {
	for name, want := range map[string]string{
		env.Timeout:          DefaultTimeout.String(),
		env.HeartbeatTimeout: DefaultHeartbeatTimeout.String() + "; " + LocalHeartbeatTimeout.String() + " on one machine",
		env.StartTimeout:     rendezvous.DefaultStartTimeout.String(),
	} {
		if got := env.Lookup(name).Default; got != want {
			t.Errorf("%s: %q in the table, %q here", name, got, want)
		}
	}
}

// TestEnvValues: a bad value is an *OptionError that names the variable, its value and
// what would be right, whatever part of the library reads it.
func TestEnvValues(t *testing.T) {
	for _, kv := range [][3]string{
		{"THUNDER_TIMEOUT", "soon", "1m30s"},
		{"THUNDER_RANK", "one", "0 to 4095"},
		{"THUNDER_COORDINATOR", "nowhere", "host:port"},
		{"THUNDER_FABRIC", "warp", "auto, tcp, rdma, shm or mem"},
		{"THUNDER_BOUND", "tight", "1 or 0"},
		{"THUNDER_SHM_PORTABLE", "no idea", "1 or 0"},
		{"THUNDER_KERNELS", "popcorn", "go, avx2, avx512 or neon"},
		{"THUNDER_RDMA_GID", "256", "1 to 255"},
	} {
		t.Run(kv[0], func(t *testing.T) {
			t.Setenv(kv[0], kv[1])
			_, err := Init(t.Context(), Options{})
			var option *OptionError
			if !errors.As(err, &option) || !strings.HasPrefix(err.Error(), "thunder: "+kv[0]+` is "`+kv[1]+`": `) || !strings.Contains(err.Error(), kv[2]) {
				t.Errorf("got %v", err)
			}
			if again := (Options{}).Validate(); again == nil || err == nil || again.Error() != err.Error() {
				t.Errorf("Init says %v, Validate %v", err, again)
			}
		})
	}
}

// TestCoordinatorUnknown: a coordinator whose name does not resolve is the reason in the
// line that says that this rank still waits, and that line comes at once.
func TestCoordinatorUnknown(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	lines := make(lineWriter, 10)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := Init(ctx, Options{
			Join:        Join{Rank: 1, Size: 2, Coordinator: "nowhere.invalid:7000"},
			Diagnostics: Diagnostics{Logger: slog.New(slog.NewTextHandler(lines, nil))},
		})
		if err == nil {
			t.Error("it starts")
		}
	}()
	select {
	case line := <-lines:
		if !strings.Contains(line, "still waiting") || !strings.Contains(line, "nowhere.invalid") || !strings.Contains(line, "lookup") {
			t.Errorf("got %s", line)
		}
	case <-time.After(8 * time.Second): // ten would be the usual time for that line
		t.Error("no word of it")
	}
	cancel()
	<-done
}

// A lineWriter passes on what is written.
type lineWriter chan string

func (w lineWriter) Write(b []byte) (int, error) {
	select {
	case w <- string(b):
	default:
	}
	return len(b), nil
}

// TestLauncherPort: the port at which ranks of another launcher meet is logged, and is one
// of THUNDER_PORTS.
func TestLauncherPort(t *testing.T) {
	vars := map[string]string{"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "29511", env.Ports: "7000-7003"}
	var out strings.Builder
	o := Options{Diagnostics: Diagnostics{Logger: slog.New(slog.NewTextHandler(&out, nil))}}
	cfg, err := whoAmI(o, func(name string) string { return vars[name] })
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(cfg.Coordinator, "10.0.0.1:700") || cfg.Ports != (env.PortRange{First: 7000, Last: 7003}) {
		t.Errorf("the ranks meet at %s, and listen in %v", cfg.Coordinator, cfg.Ports)
	}
	if !strings.Contains(out.String(), "coordinator="+cfg.Coordinator) || !strings.Contains(out.String(), env.Ports) {
		t.Errorf("logged %q", out.String())
	}
}

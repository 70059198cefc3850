package rendezvous

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func getenv(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

func TestFromEnv(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	token, blank := file("token", " s3cret \n"), file("blank", "\n")
	ring := file("ring.json", `[["h1:1"],["h2:1"]]`)
	big := file("big", strings.Repeat("x", maxToken+1))

	tests := []struct {
		name string
		env  map[string]string
		want Config
		err  string
	}{
		{name: "nothing", want: Config{Rank: NoRank}},
		{name: "coordinated", env: map[string]string{
			"THUNDER_RANK": "2", "THUNDER_WORLD_SIZE": "4", "THUNDER_COORDINATOR": "h:1", "THUNDER_COORDINATOR_SERVED": "1",
			"THUNDER_TOKEN": "k", "THUNDER_INSECURE": "true", "THUNDER_START_TIMEOUT": "90", "THUNDER_GENERATION": "7",
		}, want: Config{Rank: 2, Size: 4, Coordinator: "h:1", Served: true, Token: []byte("k"), Insecure: true,
			StartTimeout: 90 * time.Second, Generation: 7}},
		{name: "rails", env: map[string]string{"THUNDER_COORDINATOR": "h:1", "THUNDER_ADDR": "10.0.0.1:0,10.1.0.1:0"},
			want: Config{Rank: NoRank, Coordinator: "h:1", Addrs: []string{"10.0.0.1:0,10.1.0.1:0"}}},
		{name: "rails without a coordinator", env: map[string]string{"THUNDER_ADDR": "10.0.0.1:0"}, want: Config{Rank: NoRank}},
		{name: "hostfile", env: map[string]string{"THUNDER_RANK": "0", "THUNDER_HOSTFILE": "c.json", "THUNDER_START_TIMEOUT": "1m30s"},
			want: Config{Hostfile: "c.json", StartTimeout: 90 * time.Second}},
		{name: "a launcher's coordinator wins over the user's hostfile",
			env:  map[string]string{"THUNDER_COORDINATOR": "h:1", "THUNDER_HOSTFILE": "c.json"},
			want: Config{Rank: NoRank, Coordinator: "h:1"}},
		{name: "token file", env: map[string]string{"THUNDER_TOKEN_FILE": token}, want: Config{Rank: NoRank, Token: []byte("s3cret")}},
		{name: "mlx", env: map[string]string{"MLX_RANK": "1", "MLX_HOSTFILE": ring}, want: Config{Rank: 1, Hostfile: ring}},
		{name: "mlx inline", env: map[string]string{"MLX_RANK": "1", "MLX_HOSTFILE": `[["h1:1"],["h2:1"]]`},
			want: Config{Rank: 1, Hostfile: `[["h1:1"],["h2:1"]]`}},
		{name: "mlx with one host", env: map[string]string{"MLX_RANK": "0", "MLX_HOSTFILE": blank}, want: Config{Rank: NoRank}},
		{name: "mlx of another backend", env: map[string]string{"MLX_RANK": "1"}, want: Config{Rank: NoRank}},
		{name: "ours before mlx", env: map[string]string{"MLX_RANK": "1", "MLX_HOSTFILE": ring, "THUNDER_RANK": "0", "THUNDER_COORDINATOR": "h:1"},
			want: Config{Rank: 0, Coordinator: "h:1"}},

		{name: "rank", env: map[string]string{"THUNDER_RANK": "one"}, err: `THUNDER_RANK is "one": give a number from 0 to 4095`},
		{name: "negative rank", env: map[string]string{"THUNDER_RANK": "-1"}, err: `THUNDER_RANK is "-1": give a number from 0 to 4095`},
		{name: "size", env: map[string]string{"THUNDER_WORLD_SIZE": "0"}, err: `THUNDER_WORLD_SIZE is "0": give a number from 1 to 4096`},
		{name: "served", env: map[string]string{"THUNDER_COORDINATOR_SERVED": "maybe"}, err: `THUNDER_COORDINATOR_SERVED is "maybe": give 1 or 0`},
		{name: "timeout", env: map[string]string{"THUNDER_START_TIMEOUT": "soon"}, err: `THUNDER_START_TIMEOUT is "soon": give a positive duration such as 90s or 1m30s; a number alone is seconds`},
		{name: "zero timeout", env: map[string]string{"THUNDER_START_TIMEOUT": "0"}, err: `THUNDER_START_TIMEOUT is "0": give a positive duration`},
		{name: "generation", env: map[string]string{"THUNDER_GENERATION": "4294967296"}, err: `THUNDER_GENERATION is "4294967296": give a number`},
		{name: "mlx rank", env: map[string]string{"MLX_RANK": "x", "MLX_HOSTFILE": ring}, err: `MLX_RANK is "x": give a number`},
		{name: "two tokens", env: map[string]string{"THUNDER_TOKEN": "k", "THUNDER_TOKEN_FILE": token}, err: "THUNDER_TOKEN_FILE: set together with THUNDER_TOKEN"},
		{name: "blank token", env: map[string]string{"THUNDER_TOKEN": " "}, err: "THUNDER_TOKEN: is blank"},
		{name: "no token file", env: map[string]string{"THUNDER_TOKEN_FILE": token + "x"}, err: "THUNDER_TOKEN_FILE: open"},
		{name: "blank token file", env: map[string]string{"THUNDER_TOKEN_FILE": blank}, err: "is empty"},
		{name: "big token file", env: map[string]string{"THUNDER_TOKEN_FILE": big}, err: "larger than 4096 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := FromEnv(getenv(tt.env))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if len(got.Token) == 0 {
				got.Token = nil
			}
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, tt.want)
			}
		})
	}
}

func TestMerge(t *testing.T) {
	base := Config{Rank: 1, Size: 2, Coordinator: "h:1", Served: true, Token: []byte("env"), StartTimeout: time.Second, Generation: 3}
	none := Config{Rank: NoRank}
	if got := base.Merge(none); !reflect.DeepEqual(got, base) {
		t.Errorf("merging nothing gives %+v", got)
	}
	over := Config{Rank: 0, Size: 4, Addrs: []string{"a:1"}, Token: []byte("flag"), Insecure: true, StartTimeout: time.Minute, Generation: 4}
	if got := base.Merge(over); !reflect.DeepEqual(got, over) {
		t.Errorf("a complete Config gives %+v", got)
	}
	want := base
	want.Coordinator, want.Served, want.Hostfile = "", false, "c.json"
	if got := base.Merge(Config{Rank: NoRank, Hostfile: "c.json"}); !reflect.DeepEqual(got, want) {
		t.Errorf("another way in gives %+v", got)
	}
}

func TestValidate(t *testing.T) {
	two := []string{"10.0.0.1:1", "10.0.0.2:1"}
	tests := []struct {
		name string
		c    Config
		way  Way
		err  string
	}{
		{"zero", Config{}, Alone, ""},
		{"alone", Config{Rank: NoRank, Size: 1}, Alone, ""},
		{"explicit", Config{Rank: 1, Size: 2, Addrs: two}, Explicit, ""},
		{"explicit, size from the addresses", Config{Rank: 1, Addrs: two}, Explicit, ""},
		{"coordinated", Config{Rank: 1, Size: 2, Coordinator: "h:1"}, Coordinated, ""},
		{"coordinated with rails", Config{Rank: 1, Size: 2, Coordinator: "h:1", Addrs: []string{"10.0.0.1:0,:0"}}, Coordinated, ""},
		{"hostfile", Config{Rank: 1, Hostfile: "c.json"}, FromHostfile, ""},

		{"alone of many", Config{Rank: NoRank, Size: 2}, Alone, "--world-size (THUNDER_WORLD_SIZE): 2 ranks, but no way to find each other; set how to find the others: --coordinator (THUNDER_COORDINATOR), --addr once per rank, or --hostfile (THUNDER_HOSTFILE)"},
		{"alone as rank 1", Config{Rank: 1}, Alone, "--rank (THUNDER_RANK): rank 1 cannot be alone"},
		{"negative size", Config{Size: -1}, Alone, "--world-size (THUNDER_WORLD_SIZE): -1 is out of range; a job has 1..4096 ranks"},
		{"huge size", Config{Size: 5000}, Alone, "5000 is out of range"},
		{"negative rank", Config{Rank: -2}, Alone, "--rank (THUNDER_RANK): -2 is out of range; ranks count from 0"},
		{"timeout", Config{StartTimeout: -1}, Alone, "--start-timeout (THUNDER_START_TIMEOUT): -1ns is negative"},
		{"too few addresses", Config{Rank: 0, Size: 3, Addrs: two}, Explicit, "--addr: given 2 times for 3 ranks; give it once per rank"},
		{"too many addresses", Config{Rank: 0, Addrs: make([]string, MaxSize+1)}, Explicit, "--addr: given 4097 times"},
		{"no rank", Config{Rank: NoRank, Addrs: two}, Explicit, "--rank (THUNDER_RANK): is missing; each process of the job needs its own, from 0"},
		{"rank too large", Config{Rank: 2, Addrs: two}, Explicit, "--rank (THUNDER_RANK): 2 is out of range; --addr allows 0..1"},
		{"bad address", Config{Rank: 0, Addrs: []string{"10.0.0.1"}}, Explicit, `address of rank 0: "10.0.0.1" has no port`},
		{"no size", Config{Rank: 0, Coordinator: "h:1"}, Coordinated, "--world-size (THUNDER_WORLD_SIZE): is missing"},
		{"coordinator without port", Config{Rank: 0, Size: 2, Coordinator: "h"}, Coordinated, `--coordinator (THUNDER_COORDINATOR): "h" has no port; write host:port`},
		{"coordinator nowhere", Config{Rank: 0, Size: 2, Coordinator: ":1"}, Coordinated, `":1" is not an address that others can connect to`},
		{"coordinated rank", Config{Rank: 2, Size: 2, Coordinator: "h:1"}, Coordinated, "2 is out of range; --world-size (THUNDER_WORLD_SIZE) allows 0..1"},
		{"coordinated with all addresses", Config{Rank: 0, Size: 2, Coordinator: "h:1", Addrs: two}, Coordinated, "--addr: given 2 times together with --coordinator"},
		{"coordinated at its own address", Config{Rank: 0, Size: 2, Coordinator: "h:1", Addrs: []string{"h:1"}}, Coordinated, `address of rank 0: "h:1" is where this rank serves --coordinator`},
		{"coordinated at an address served elsewhere", Config{Rank: 0, Size: 2, Coordinator: "h:1", Served: true, Addrs: []string{"h:1"}}, Coordinated, ""},
		{"coordinated with a bad rail", Config{Rank: 1, Size: 2, Coordinator: "h:1", Addrs: []string{"h:1,10.0.0.1"}}, Coordinated, `address of rank 1: "10.0.0.1" has no port; write host:port, with port 0 for any`},
		{"hostfile and coordinator", Config{Rank: 0, Coordinator: "h:1", Hostfile: "c"}, FromHostfile, "--hostfile (THUNDER_HOSTFILE): given together with --coordinator"},
		{"hostfile and addresses", Config{Rank: 0, Addrs: two, Hostfile: "c"}, FromHostfile, "--hostfile (THUNDER_HOSTFILE): given together with --addr"},
		{"hostfile without rank", Config{Rank: NoRank, Hostfile: "c"}, FromHostfile, "--rank (THUNDER_RANK): is missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if way := tt.c.Way(); way != tt.way {
				t.Errorf("Way = %v, want %v", way, tt.way)
			}
			err := tt.c.Validate()
			if tt.err == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			_, isConfig := errors.AsType[*ConfigError](err)
			_, isAddr := errors.AsType[*AddrError](err)
			if !isConfig && !isAddr {
				t.Errorf("untyped error %T", err)
			}
		})
	}
}

// TestCheckComplete: a rank alone is half a configuration.
func TestCheckComplete(t *testing.T) {
	for _, tt := range []struct {
		cfg Config
		bad bool
	}{
		{Config{Rank: NoRank}, false},
		{Config{Rank: 0, Size: 1}, false},
		{Config{Rank: 0, Size: 2, Coordinator: "h:1"}, false},
		{Config{Rank: 0, Hostfile: "hosts.json"}, false},
		{Config{Rank: 0}, true},
		{Config{Rank: 1}, true},
	} {
		if err := tt.cfg.CheckComplete(); (err != nil) != tt.bad {
			t.Errorf("%+v: %v", tt.cfg, err)
		} else if tt.bad && (!strings.Contains(err.Error(), "THUNDER_WORLD_SIZE") || !strings.Contains(err.Error(), "THUNDER_COORDINATOR")) {
			t.Errorf("%v: does not say what is missing", err)
		}
	}
}

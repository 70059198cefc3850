package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"thundercollective/internal/leaks"
	"thundercollective/internal/patience"
)

// TestNothingLeft runs jobs that end in different ways, and then looks for what a job
// may leave behind: open files, goroutines, processes, and files of its agents.
func TestNothingLeft(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	interrupts := make(chan os.Signal, 1)
	for _, tt := range []struct {
		name string
		argv []string
		edit func(*Config)
	}{
		{"good end", []string{"true"}, nil},
		{"failure", []string{"sh", "-c", `[ $RANK = 0 ] && exit 3; exec sleep 100`}, nil},
		{"children stay", []string{"sh", "-c", `setsid sleep 100 & sleep 100 & [ $RANK = 0 ] && exit 3; exec sleep 100`}, nil},
		{"timeout", []string{"sleep", "100"}, func(c *Config) { c.Timeout = 100 * time.Millisecond }},
		{"interrupt", []string{"sleep", "100"}, func(c *Config) { c.Interrupts = interrupts; interrupts <- os.Interrupt }},
		{"no program", []string{"no-such-program"}, nil},
		{"no agent", []string{"true"}, func(c *Config) { c.Agents.Agent = []string{"sh", "-c", "sleep 100 & exit 1"} }},
		{"restart of one", []string{os.Args[0], "launch-rank", "reform twice"}, func(c *Config) { c.Restarts, c.ReformWait = 2, time.Minute }},
		{"restart of all", []string{os.Args[0], "launch-rank", "leave"}, func(c *Config) { c.Restarts, c.ReformWait = 1, time.Minute }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cfg, _, errs := job(3, "")
			cfg.Argv = tt.argv
			cfg.Output.LogDir = t.TempDir()
			if tt.edit != nil {
				tt.edit(&cfg)
			}
			before, goroutines := openFiles(t), goleak.IgnoreCurrent()
			err := Run(t.Context(), cfg)
			t.Logf("ended with %v", err)
			if err := leaks.Find(goroutines); err != nil {
				t.Error(err)
			}
			ctx, cancel := patience.Context(t.Context(), 10*time.Second)
			defer cancel()
			for {
				left := leftBehind(t, before)
				if left == "" {
					break
				}
				if ctx.Err() != nil {
					t.Fatalf("%s\n%s", left, errs)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
}

// leftBehind says what there is of a job that has ended.
func leftBehind(t *testing.T, before []string) string {
	t.Helper()
	var left strings.Builder
	if now := openFiles(t); len(now) > len(before) {
		left.WriteString("files:\n" + strings.Join(now, "\n") + "\nbefore:\n" + strings.Join(before, "\n") + "\n")
	}
	files, _ := filepath.Glob("/proc/self/task/*/children")
	for _, f := range files {
		if pids, err := os.ReadFile(f); err == nil && len(pids) > 0 {
			left.WriteString("processes " + string(pids) + "\n")
		}
	}
	// All processes of the job have inherited where temporary files go.
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range environs {
		if env, err := os.ReadFile(f); err == nil && strings.Contains(string(env), "TMPDIR="+os.TempDir()+"\x00") {
			left.WriteString("process of the job: " + f + "\n")
		}
	}
	if list, _ := filepath.Glob(filepath.Join(os.TempDir(), "thunder-*")); list != nil {
		left.WriteString("folders " + strings.Join(list, " ") + "\n")
	}
	return left.String()
}

// openFiles lists the descriptors of this process, without those of the runtime.
func openFiles(t *testing.T) (names []string) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && !strings.HasPrefix(to, "anon_inode:[event") {
			names = append(names, e.Name()+" "+to)
		}
	}
	return names
}

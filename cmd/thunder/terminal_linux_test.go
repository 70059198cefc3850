package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// onTerminal runs a command with a terminal for its output and returns what it
// wrote there.
func onTerminal(t *testing.T, env []string, args ...string) string {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("needs a pseudo-terminal: %v", err)
	}
	defer master.Close()
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(t, args...)
	cmd.Stdout, cmd.Stderr = screen, screen
	cmd.Env = append(cmd.Env, env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	screen.Close()
	var out bytes.Buffer
	// A terminal whose last user is gone gives EIO.
	if _, err := io.Copy(&out, master); err != nil && !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out.String())
	}
	return out.String()
}

func TestColoursOnATerminal(t *testing.T) {
	args := []string{"bench", "allreduce", "--fabric", "mem", "--max", "64", "--iters", "1"}
	const colour = "\x1b["
	if out := onTerminal(t, []string{"TERM=xterm", "NO_COLOR="}, args...); !strings.Contains(out, colour) || !strings.Contains(out, "0 OK") {
		t.Errorf("no colours on a terminal: %q", out)
	}
	for _, env := range [][]string{{"TERM=xterm", "NO_COLOR=1"}, {"TERM=dumb", "NO_COLOR="}} {
		if out := onTerminal(t, env, args...); strings.Contains(out, colour) {
			t.Errorf("colours in spite of %v: %q", env, out)
		}
	}
}

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"thundercollective/internal/patience"
)

// openTerminal makes a pseudo-terminal of 100 columns and 30 lines.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("needs pseudo-terminals: %v", err)
	}
	t.Cleanup(func() { ours.Close() })
	fd := int(ours.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Col: 100, Row: 30})
	}
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	return ours, theirs
}

// On a terminal there are colours, a line of progress, and the room that the
// prefix leaves; what is typed goes to rank 0, and Ctrl-C ends the job.
func TestTerminal(t *testing.T) {
	t.Parallel()
	ours, theirs := openTerminal(t)
	var screen buffer
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := ours.Read(b)
			screen.Write(b[:n])
			if err != nil {
				return
			}
		}
	}()
	cmd := exec.Command(ownBin(t), "launch", "-n", "2", "--", "sh", "-c",
		`trap 'echo "$RANK ends"; exit 0' TERM; echo "$COLUMNS by $LINES"; read line && echo "rank $RANK read $line"; while :; do sleep 0.1; done`)
	cmd.Env = append(os.Environ(), "TERM=xterm", "NO_COLOR=")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { cmd.Wait(); close(ended) }()
	t.Cleanup(func() { cmd.Process.Kill(); <-ended })
	see := func(what string) {
		t.Helper()
		defer func() {
			if t.Failed() {
				t.Logf("screen: %q", screen.String())
			}
		}()
		eventually(t, 20*time.Second, what, func() bool { return strings.Contains(screen.String(), what) })
	}
	// "0@localhost | " takes 14 of the 100 columns.
	see("\x1b[36m0@localhost\x1b[0m | 86 by 30")
	see("\x1b[33m1@localhost\x1b[0m | 86 by 30")
	see("2 ranks on 1 machine, 1s")
	ours.WriteString("hello\n")
	see("rank 0 read hello")
	ours.WriteString("\x03")
	see("1 ends")
	ctx, cancel := patience.Context(t.Context(), 20*time.Second)
	defer cancel()
	select {
	case <-ended:
	case <-ctx.Done():
		t.Fatal("Ctrl-C did not end it")
	}
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}

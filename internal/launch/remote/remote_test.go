package remote

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"

	"thundercollective/internal/launch/hosts"
)

func TestDiagnose(t *testing.T) {
	for _, tt := range []struct{ said, reason, advice string }{
		{"me@a: Permission denied (publickey,password).\n", "asks for a password", "ssh-copy-id me@a"},
		{"Host key verification failed.\r\n", "host key is not known", "ssh me@a"},
		{"ssh: connect to host a port 22: Connection refused\n", "no ssh server", ""},
		{"ssh: connect to host a port 22: Connection timed out\n", "does not answer", ""},
		{"ssh: Could not resolve hostname a: Name or service not known\n", "no such host", "check its name"},
		{"Timeout, server a not responding.\r\n", "connection was lost", ""},
		{notInstalled + "\n", "not installed there", "--thunder"},
		{"something new\n", noAgent, ""},
		{"", noAgent, ""},
	} {
		cause := errors.New("EOF")
		e := diagnose("me@a", tt.said, cause)
		if !strings.Contains(e.Reason, tt.reason) || !strings.Contains(e.Advice, tt.advice) || e.Detail == "" || !errors.Is(e, cause) {
			t.Errorf("%q: got %+v", tt.said, e)
		}
	}
}

func TestQuote(t *testing.T) {
	for _, s := range []string{"plain", "", "two words", "it's", `back\slash`, "$HOME", "a\nb", "~", "*", "é"} {
		out, err := exec.Command("sh", "-c", "printf %s "+Quote(s)).Output()
		if err != nil || string(out) != s {
			t.Errorf("%q is quoted as %s, which the shell reads as %q, %v", s, Quote(s), out, err)
		}
	}
}

// The command line survives two shells, and says what to do when it finds no
// thunder.
func TestCommand(t *testing.T) {
	c := &Config{Agent: []string{"/no such folder/it's thunder"}, SSH: []string{"ssh", "-F", "x"}}
	argv := c.Command("me@a")
	if got := strings.Join(argv[:3], " "); got != "ssh -F x" {
		t.Errorf("begins with %q", got)
	}
	if argv[len(argv)-3] != "--" || argv[len(argv)-2] != "me@a" {
		t.Errorf("got %q", argv)
	}
	cmd := exec.Command("sh", "-c", argv[len(argv)-1])
	cmd.Env = []string{"PATH=/nonexistent", "HOME=/nonexistent"}
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err == nil || !strings.Contains(said.String(), notInstalled) {
		t.Errorf("without thunder: %v, %q", err, said.String())
	}
}

// What an agent's command says before it ends is in the error.
func TestStartFailures(t *testing.T) {
	for _, tt := range []struct {
		name, sh, say string
	}{
		{"complains", `echo "cannot allocate memory" >&2; exit 1`, "cannot allocate memory"},
		{"greets and leaves", `printf '\000thunder launch-agent\n'`, "EOF"},
		{"speaks of something else", `echo Welcome; echo bye`, "bye"},
	} {
		c := &Config{Agent: []string{"sh", "-c", tt.sh}}
		_, err := c.Start(t.Context(), hosts.Machine{Name: "localhost", Local: true})
		var e *HostError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.say) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}

// Nothing is waited for that does not come.
func TestStartCancelled(t *testing.T) {
	c := &Config{Agent: []string{"sh", "-c", "sleep 100 & wait"}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := c.Start(ctx, hosts.Machine{Name: "localhost", Local: true}); !errors.Is(err, ctx.Err()) || err == nil {
		t.Errorf("got %v", err)
	}
}

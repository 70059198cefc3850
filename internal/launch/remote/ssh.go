package remote

import (
	"fmt"
	"strings"
	"time"
)

// connectTimeout bounds how long ssh may take to connect to a host.
const connectTimeout = 10 * time.Second

// options are what we need of ssh whatever the user's configuration says.
// It must not ask anything, not take over what is not its own (forwardings, a
// terminal, the role of a shared connection's master, which would outlive us),
// and notice within seconds that the other side is gone.
var options = []string{
	"-T", "-x",
	"-o", "BatchMode=yes",
	"-o", fmt.Sprintf("ConnectTimeout=%d", int(connectTimeout.Seconds())),
	"-o", "ServerAliveInterval=1",
	"-o", "ServerAliveCountMax=3",
	"-o", "ControlMaster=no",
	"-o", "ClearAllForwardings=yes",
	"-o", "RemoteCommand=none",
	"-o", "RequestTTY=no",
	"-o", "LogLevel=INFO", // what it says is shown only when it fails
}

// Command is the command line that starts an agent on host.
func (c *Config) Command(host string) []string {
	first := c.Thunder
	if first == "" {
		first = c.Agent[0]
	}
	return Line(c.SSH, host, Script(first, "", "launch-agent"))
}

// Line is the command line that runs a shell script on host. A nil ssh is the
// system's.
func Line(ssh []string, host, script string) []string {
	if len(ssh) == 0 {
		ssh = []string{"ssh"}
	}
	argv := append([]string{}, ssh...)
	argv = append(argv, options...)
	return append(argv, "--", host, "exec /bin/sh -c "+Quote(script))
}

// Script finds thunder on another machine and runs it: as first, which is where
// this machine has it or where the user says it is, or in the search path, to
// which it adds the places that shells add only when somebody logs in. Before is a
// command to run it by, such as sudo; it may be empty.
func Script(first, before string, args ...string) string {
	words := []string{`"$t"`}
	if before != "" {
		words = []string{before, `"$t"`}
	}
	for _, arg := range args {
		words = append(words, Quote(arg))
	}
	return `PATH="$PATH:$HOME/bin:$HOME/.local/bin:$HOME/go/bin:/usr/local/bin:/opt/homebrew/bin"; ` +
		`for t in ` + Quote(first) + ` thunder; do ` +
		`if command -v "$t" >/dev/null 2>&1; then exec ` + strings.Join(words, " ") + `; fi; done; ` +
		`echo "` + notInstalled + `" >&2; exit 127`
}

// notInstalled is what the script says when it finds no thunder.
const notInstalled = "thunder is not installed"

// Quote makes s one word for any Unix shell.
func Quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+=./,:@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

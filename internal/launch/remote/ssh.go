package remote

import (
	"fmt"
	"strings"
	"time"
)

// connectTimeout is how long ssh may take to connect to a host.
const connectTimeout = 10 * time.Second

// options override the user's configuration of ssh. It must not ask questions, not set up
// anything beyond the connection (forwardings, a terminal, the master of a shared
// connection, which would outlive us), and notice within seconds that the other side is
// gone.
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
	"-o", "LogLevel=INFO", // its messages are shown only when it fails
}

// Command returns the command line that starts an agent on host.
func (c *Config) Command(host string) []string {
	first := c.Thunder
	if first == "" {
		first = c.Agent[0]
	}
	return Line(c.SSH, host, Script(first, "", "launch-agent"))
}

// Line returns the command line that runs a shell script on host. A nil ssh means the
// system's.
func Line(ssh []string, host, script string) []string {
	if len(ssh) == 0 {
		ssh = []string{"ssh"}
	}
	argv := append([]string{}, ssh...)
	argv = append(argv, options...)
	return append(argv, "--", host, "exec /bin/sh -c "+Quote(script))
}

// Script returns a shell script that finds thunder on another machine and runs it. It tries
// first, the path on this machine or the one given by the user, then the search path,
// extended by the directories that shells add only for logins. before is a command to run
// it with, such as sudo; it may be empty.
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

// notInstalled is what the script prints if it finds no thunder.
const notInstalled = "thunder is not installed"

// Quote quotes s as one word for any Unix shell.
func Quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-+=./,:@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

package remote

import (
	"fmt"
	"strings"
)

// A HostError reports why a machine cannot take part, or that it was lost.
type HostError struct {
	Host   string
	Reason string // what happened
	Advice string // what to do about it; may be empty
	Detail string // message of ssh or the agent; may be empty
	Err    error  // may be nil
}

func (e *HostError) Error() string {
	s := e.Host + ": " + e.Reason
	if e.Detail != "" {
		s += " (" + e.Detail + ")"
	}
	if e.Advice != "" {
		s += "; " + e.Advice
	}
	return s
}

func (e *HostError) Unwrap() error { return e.Err }

// causes lists messages of ssh and what they mean. The first match counts.
var causes = []struct{ says, reason, advice string }{
	{notInstalled, "thunder is not installed there", "install the same version, or give its path with --thunder"},
	{"Host key verification failed", "its host key is not known", "run 'ssh %s' once and accept it"},
	{"REMOTE HOST IDENTIFICATION HAS CHANGED", "its host key has changed", "find out why, then run 'ssh-keygen -R %s'"},
	{"Permission denied", "it does not accept your key, or asks for a password", "run 'ssh-copy-id %s', or load your key with ssh-add"},
	{"Too many authentication failures", "it does not accept any of your keys", "name the right one in ~/.ssh/config"},
	{"Could not resolve hostname", "no such host", "check its name, or ~/.ssh/config"},
	{"Connection refused", "it runs no ssh server", "enable it (on macOS: Remote Login)"},
	{"timed out", "it does not answer", "check that it is on, and check the network"},
	{"No route to host", "it cannot be reached", "check that it is on, and check the network"},
	{"Network is unreachable", "it cannot be reached", "check the network"},
	{"not responding", "the connection was lost", ""},
	{"closed by", "it closed the connection", ""},
}

// noAgent is the reason if ssh gives none that is known.
const noAgent = "cannot start an agent"

// diagnose converts what ssh printed before it ended to an error.
func diagnose(host, said string, err error) *HostError {
	e := &HostError{Host: host, Reason: noAgent, Detail: lastLine(said), Err: err}
	for _, c := range causes {
		if strings.Contains(said, c.says) {
			e.Reason, e.Advice = c.reason, c.advice
			if strings.Contains(c.advice, "%s") {
				e.Advice = fmt.Sprintf(c.advice, host)
			}
			break
		}
	}
	if e.Detail == "" && err != nil {
		e.Detail = err.Error()
	}
	return e
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

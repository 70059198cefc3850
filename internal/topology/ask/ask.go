// Package ask runs thunder on other machines through the system's ssh, and here
// without it, and collects what they say of themselves.
package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"

	"thundercollective/internal/launch/hosts"
	"thundercollective/internal/launch/remote"
	"thundercollective/internal/topology/probe"
)

// An Asker runs thunder on machines by name.
type Asker struct {
	SSH   []string // ssh and its options; nil is the system's ssh
	Where string   // path of thunder on the other machines; "" is to look for it
	Self  string   // this program
	Sudo  bool     // run thunder as root, by sudo without a password
}

// Thunder runs thunder on a host with input on its standard input and returns what
// it printed. This machine needs no ssh. A failure says what ssh or thunder said.
func (a *Asker) Thunder(ctx context.Context, host string, input []byte, args ...string) ([]byte, error) {
	if (hosts.Host{Name: host}).Local() {
		argv := append([]string{a.Self}, args...)
		if a.Sudo {
			argv = append([]string{"sudo", "-n"}, argv...)
		}
		return run(ctx, host, input, argv)
	}
	first, before := a.Where, ""
	if first == "" {
		first = a.Self
	}
	if a.Sudo {
		before = "sudo -n"
	}
	return run(ctx, host, input, remote.Line(a.SSH, host, remote.Script(first, before, args...)))
}

// Command runs any other program on a host.
func (a *Asker) Command(ctx context.Context, host string, argv ...string) ([]byte, error) {
	if (hosts.Host{Name: host}).Local() {
		return run(ctx, host, nil, argv)
	}
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = remote.Quote(w)
	}
	return run(ctx, host, nil, remote.Line(a.SSH, host, "exec "+strings.Join(words, " ")))
}

func run(ctx context.Context, host string, input []byte, argv []string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin = bytes.NewReader(input)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	text := strings.TrimSpace(errOut.String())
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	if text != "" {
		return out.Bytes(), fmt.Errorf("%s: %w: %s", host, err, text)
	}
	return out.Bytes(), fmt.Errorf("%s: %w", host, err)
}

// Machines asks all hosts at the same time for their own report, in the order of
// names. Of a host that does not answer the report is empty, but for Lost.
func (a *Asker) Machines(ctx context.Context, names []string) []*probe.Machine {
	out := make([]*probe.Machine, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			m, err := a.machine(ctx, name)
			if err != nil {
				m = &probe.Machine{Schema: probe.SchemaVersion, Lost: err.Error()}
			}
			m.Host, m.SSH = name[strings.LastIndexByte(name, '@')+1:], name
			out[i] = m
		})
	}
	wg.Wait()
	return out
}

func (a *Asker) machine(ctx context.Context, name string) (*probe.Machine, error) {
	b, err := a.Thunder(ctx, name, nil, "topo", "--json")
	if err != nil {
		return nil, err
	}
	var doc struct {
		Machines []*probe.Machine `json:"machines"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("%s: report is not JSON: %w", name, err)
	}
	if len(doc.Machines) != 1 || doc.Machines[0] == nil {
		return nil, fmt.Errorf("%s: it sent %d reports, expected one", name, len(doc.Machines))
	}
	m := doc.Machines[0]
	if m.Schema != probe.SchemaVersion {
		return nil, fmt.Errorf("%s: its thunder writes reports of form %d, this one reads %d; install the same version on all machines", name, m.Schema, probe.SchemaVersion)
	}
	return m, nil
}

// Executable is this program's own path, or its name where that cannot be told.
func Executable() string {
	if p, err := os.Executable(); err == nil {
		return p
	}
	return os.Args[0]
}

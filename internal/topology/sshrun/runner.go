// Package sshrun runs thunder and other programs on the machines of a cluster: on
// others through the system's ssh, on this one without. An error contains what ssh or
// the program printed last to its standard error.
package sshrun

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

// A Runner runs programs on machines by host name.
type Runner struct {
	SSH        []string // ssh and its options; the system's ssh if nil
	RemotePath string   // path of thunder on the other machines; searched for if empty
	Self       string   // path of this program
	Sudo       bool     // run thunder as root, with sudo that needs no password
}

// Thunder runs thunder on a host, with input on its standard input, and returns its
// output.
func (r *Runner) Thunder(ctx context.Context, host string, input []byte, args ...string) ([]byte, error) {
	if (hosts.Host{Name: host}).Local() {
		argv := append([]string{r.Self}, args...)
		if r.Sudo {
			argv = append([]string{"sudo", "-n"}, argv...)
		}
		return run(ctx, host, input, argv)
	}
	first, before := r.RemotePath, ""
	if first == "" {
		first = r.Self
	}
	if r.Sudo {
		before = "sudo -n"
	}
	return run(ctx, host, input, remote.Line(r.SSH, host, remote.Script(first, before, args...)))
}

// Command runs another program on a host and returns its output.
func (r *Runner) Command(ctx context.Context, host string, argv ...string) ([]byte, error) {
	if (hosts.Host{Name: host}).Local() {
		return run(ctx, host, nil, argv)
	}
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = remote.Quote(w)
	}
	return run(ctx, host, nil, remote.Line(r.SSH, host, "exec "+strings.Join(words, " ")))
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

// Machines gets the reports of all hosts, in parallel, and returns them in the order of
// names. If a host does not answer, its report contains only the name and Lost.
func (r *Runner) Machines(ctx context.Context, names []string) []*probe.Machine {
	out := make([]*probe.Machine, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			m, err := r.machine(ctx, name)
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

func (r *Runner) machine(ctx context.Context, name string) (*probe.Machine, error) {
	b, err := r.Thunder(ctx, name, nil, "topo", "--json")
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
		return nil, fmt.Errorf("%s: its thunder writes reports in format %d, this one reads %d; install the same version on all machines", name, m.Schema, probe.SchemaVersion)
	}
	return m, nil
}

// Executable returns the path of this program, or its name if the path is unknown.
func Executable() string {
	if p, err := os.Executable(); err == nil {
		return p
	}
	return os.Args[0]
}

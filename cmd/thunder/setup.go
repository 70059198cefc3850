package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"thundercollective/internal/setup"
	"thundercollective/internal/topology"
	"thundercollective/internal/topology/sshrun"

	"github.com/spf13/cobra"
)

type setupFlags struct {
	cluster clusterFlags
	apply   bool
	undo    bool
	sudo    bool
	json    bool
	persist string
	plan    string
	topo    string
	state   string
}

func newSetupCmd() *cobra.Command {
	f := &setupFlags{}
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Give Thunderbolt ports addresses of their own, or undo it",
		Long: `setup gives every Thunderbolt port that is connected to another computer an address
of its own: it takes the interface out of the bridge, brings it up, and sets the
largest MTU that both ends support. The addresses are derived from the identities of
the two ends, so a cable always gets the same ones, and they do not collide with any
network of the machines.

It prints what it would do and changes nothing unless --apply is given. It records
every change beforehand, so that --undo can restore everything, even after a crash
half-way. It does not touch interfaces without such a cable.

The addresses persist across restarts: in a file for each port of systemd-networkd or
NetworkManager, whichever is running, or in a launchd job on macOS.

--apply and --undo need root, on every machine with --hosts; use --sudo if sudo does
not ask for a password.

Exit status: 0 on success, 1 on failure, 2 if the command line is invalid, 3 if there
is no Thunderbolt cable to set up.`,
		Example: `  # show what would be done here, and on all machines
  thunder setup
  thunder setup --hosts studio-a,studio-b

  # do it, and undo it
  thunder setup --hosts studio-a,studio-b --sudo --apply
  thunder setup --hosts studio-a,studio-b --sudo --undo`,
		Args: cobra.NoArgs,
		RunE: working(func(cmd *cobra.Command, _ []string) error { return f.run(cmd) }),
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.BoolVar(&f.apply, "apply", false, "carry out the changes")
	fs.BoolVar(&f.undo, "undo", false, "restore everything to what it was before setup")
	f.cluster.add(fs)
	fs.BoolVar(&f.sudo, "sudo", false, "become root with sudo on every machine")
	fs.StringVar(&f.persist, "persist", setup.PersistAuto, "`SERVICE` that makes the addresses persistent: auto, networkd, networkmanager, launchd, none")
	fs.StringVar(&f.topo, "topo", "", "read the cabling from `FILE`, written by 'thunder topo --json'")
	fs.StringVar(&f.plan, "plan", "", "read this machine's plan from `FILE` (- for standard input)")
	fs.StringVar(&f.state, "state", setup.DefaultStateDir(runtime.GOOS), "`DIRECTORY` for the record of changes")
	fs.BoolVar(&f.json, "json", false, "print the plans as a JSON array, one for each machine, and change nothing")
	completeFlag(cmd, "persist", []string{setup.PersistAuto, setup.PersistNetworkd, setup.PersistNetworkManager, setup.PersistLaunchd, setup.PersistNone})
	return cmd
}

// exitAbsent is the exit code if the machine has nothing to set up or check.
const exitAbsent = 3

func (f *setupFlags) run(cmd *cobra.Command) error {
	if err := f.cluster.check(cmd.Flags()); err != nil {
		return err
	}
	ctx, out := cmd.Context(), cmd.OutOrStdout()
	switch {
	case f.apply && f.undo:
		return usagef("--apply makes changes and --undo reverts them; use one or the other")
	case f.json && (f.apply || f.undo):
		return usagef("--json prints plans and changes nothing; do not use it with --apply or --undo")
	case f.apply && f.cluster.root != "":
		return usagef("--root reads captured machines; they cannot be changed")
	case f.undo && f.cluster.hosts != "":
		return f.everywhere(ctx, out, nil, "--undo")
	case f.undo:
		m, err := f.machine(out)
		if err != nil {
			return err
		}
		return m.Undo(ctx)
	case f.plan != "":
		p, err := readPlan(cmd.InOrStdin(), f.plan)
		if err != nil {
			return err
		}
		if f.json {
			return writePlans(out, []setup.Plan{*p})
		}
		return f.here(ctx, out, p)
	}
	plans, err := f.plans(cmd)
	if f.json && (err == nil || errors.Is(err, setup.ErrNothingToDo)) {
		return errors.Join(writePlans(out, plans), err)
	}
	if err != nil {
		return err
	}
	if f.cluster.hosts == "" && f.cluster.root == "" && f.topo == "" {
		return f.here(ctx, out, &plans[0])
	}
	for i := range plans {
		if err := setup.WritePlan(out, &plans[i], nil, nil); err != nil {
			return err
		}
	}
	if !f.apply {
		_, err := fmt.Fprintln(out, "Nothing was changed. Add --apply to carry it out.")
		return err
	}
	return f.everywhere(ctx, out, plans, "--apply")
}

// writePlans prints plans as a JSON array, empty if there are none.
func writePlans(out io.Writer, plans []setup.Plan) error {
	if plans == nil {
		plans = []setup.Plan{}
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(plans)
}

// plans returns the plans of all machines.
func (f *setupFlags) plans(cmd *cobra.Command) ([]setup.Plan, error) {
	var g *topology.Graph
	var err error
	if f.topo != "" {
		g, err = readTopo(f.topo)
	} else {
		g, err = f.cluster.graph(cmd.Context())
	}
	if err != nil {
		return nil, err
	}
	if err := lostError(g); err != nil {
		return nil, err
	}
	plans, skipped, err := setup.MakePlans(g)
	for _, s := range skipped {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: omitted: %s\n", cmd.CommandPath(), s)
	}
	if errors.Is(err, setup.ErrNothingToDo) {
		return nil, &failure{exitAbsent, err}
	}
	return plans, err
}

func readTopo(name string) (*topology.Graph, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, usagef("--topo: %w", err)
	}
	g := &topology.Graph{}
	if err := json.Unmarshal(b, g); err != nil {
		return nil, usagef("--topo: %s: %w", name, err)
	}
	// Derive the cables again: the file may be wrong about them.
	return topology.Build(g.Machines), nil
}

func readPlan(in io.Reader, name string) (*setup.Plan, error) {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, usagef("--plan: %w", err)
		}
		defer f.Close()
		in = f
	}
	p := &setup.Plan{}
	if err := json.NewDecoder(io.LimitReader(in, 1<<20)).Decode(p); err != nil {
		return nil, usagef("--plan: %w", err)
	}
	if err := p.Validate(); err != nil {
		return nil, usagef("--plan: %w", err)
	}
	if p.OS != runtime.GOOS {
		return nil, usagef("--plan: the plan is for %s, but this machine runs %s", p.OS, runtime.GOOS)
	}
	return p, nil
}

// machine returns this machine, ready to carry out plans.
func (f *setupFlags) machine(out io.Writer) (*setup.Machine, error) {
	x := &setup.Persistence{Root: "/", Thunder: sshrun.Executable(), StateDir: f.state}
	way := f.persist
	if way == setup.PersistAuto {
		way = x.Detect(runtime.GOOS)
	}
	files, err := x.Files(way)
	if err != nil {
		return nil, &usageError{err}
	}
	return &setup.Machine{Run: setup.Exec, StateDir: f.state, Files: files, Log: out}, nil
}

// here prints the plan of this machine and, with --apply, carries it out.
func (f *setupFlags) here(ctx context.Context, out io.Writer, p *setup.Plan) error {
	m, err := f.machine(out)
	if err != nil {
		return err
	}
	if f.apply {
		if err := setup.WritePlan(out, p, nil, nil); err != nil {
			return err
		}
		return m.Apply(ctx, p)
	}
	steps, err := m.Steps(ctx, p)
	if err != nil {
		return err
	}
	var files []setup.File
	if m.Files != nil {
		files, _ = m.Files(p)
	}
	if err := setup.WritePlan(out, p, steps, files); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "Nothing was changed. Add --apply to carry it out.")
	return err
}

// everywhere sends each machine its own plan. It tries all machines; if one fails, the
// error names it, and the others can be restored with --undo.
func (f *setupFlags) everywhere(ctx context.Context, out io.Writer, plans []setup.Plan, verb string) error {
	runner := f.cluster.runner()
	runner.Sudo = f.sudo
	if plans == nil {
		machines, err := f.cluster.names()
		if err != nil {
			return err
		}
		for _, name := range machines {
			plans = append(plans, setup.Plan{Host: name, SSH: name})
		}
	}
	var errs []error
	for i := range plans {
		p := &plans[i]
		args := []string{"setup", verb, "--persist", f.persist}
		if f.state != setup.DefaultStateDir(runtime.GOOS) {
			args = append(args, "--state", f.state)
		}
		var input bytes.Buffer
		if verb == "--apply" {
			if len(p.Ports) == 0 {
				continue
			}
			args = append(args, "--plan", "-")
			if err := json.NewEncoder(&input).Encode(p); err != nil {
				return err
			}
		}
		host := p.SSH
		if host == "" {
			host = p.Host
		}
		text, err := runner.Thunder(ctx, host, input.Bytes(), args...)
		fmt.Fprintf(out, "%s: %s\n%s", p.Host, outcome(err), text)
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func outcome(err error) string {
	if err != nil {
		return "failed"
	}
	return "done"
}

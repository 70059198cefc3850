package main

import (
	"context"
	"fmt"
	"strings"

	hostlist "thundercollective/launch/hosts"
	"thundercollective/topology"
	"thundercollective/topology/ask"
	"thundercollective/topology/probe"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// clusterFlags say which machines topo, doctor and setup look at: this one,
// others over ssh, or captured ones.
type clusterFlags struct {
	hosts   string
	root    string
	ssh     string
	thunder string
}

func (f *clusterFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.hosts, "hosts", "", "`HOSTS` to ask over ssh, with commas: a,b,user@c (default: this machine)")
	fs.StringVar(&f.root, "root", "", "read captured machines from `PATH`: a folder, a support bundle, a .txtar file")
	fs.StringVar(&f.ssh, "ssh", "", "ssh `COMMAND` with its options")
	fs.StringVar(&f.thunder, "thunder", "", "where thunder is on the other machines")
}

func (f *clusterFlags) asker() *ask.Asker {
	return &ask.Asker{SSH: strings.Fields(f.ssh), Where: f.thunder, Self: ask.Executable()}
}

// graph asks the machines. Hosts that do not answer are told to the user and left
// out; none answering is an error.
func (f *clusterFlags) graph(cmd *cobra.Command) (*topology.Graph, error) {
	machines, err := f.machines(cmd.Context(), func(fail ask.Failure) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: not asked: %v\n", cmd.CommandPath(), fail.Err)
	})
	if err != nil {
		return nil, err
	}
	return topology.Build(machines), nil
}

func (f *clusterFlags) machines(ctx context.Context, lost func(ask.Failure)) ([]*probe.Machine, error) {
	switch {
	case f.root != "" && f.hosts != "":
		return nil, usagef("--root reads captured machines and --hosts asks live ones; give one or the other")
	case f.root != "":
		return captured(ctx, f.root)
	case f.hosts != "":
		list, err := hostlist.ParseList(f.hosts)
		if err != nil {
			return nil, usagef("--hosts: %w", err)
		}
		names := make([]string, len(list))
		for i, h := range list {
			names[i] = h.Name
		}
		machines, failed := f.asker().Machines(ctx, names)
		for _, fail := range failed {
			lost(fail)
		}
		if len(machines) == 0 {
			return nil, fmt.Errorf("none of %d hosts could be asked", len(names))
		}
		return machines, nil
	}
	return []*probe.Machine{probe.Probe(ctx, probe.Live())}, nil
}

func captured(ctx context.Context, root string) ([]*probe.Machine, error) {
	captures, err := probe.Open(root)
	if err != nil {
		return nil, &usageError{err}
	}
	var out []*probe.Machine
	for _, c := range captures {
		m := probe.Probe(ctx, c.Source)
		if len(captures) > 1 || m.Host == "" {
			m.Host = c.Host
		}
		out = append(out, m)
	}
	return out, nil
}
